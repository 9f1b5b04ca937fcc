import type { EntityManager } from 'typeorm';
import type { KeyPath, KeyRole } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import type { IntentRow } from '../../db/txmanager/intents';

export async function keyOf(tx: EntityManager, network: string, address: string): Promise<KeyPath> {
  const [row] = await tx.query<Array<{ role: KeyRole; key_index: number }>>(
    'SELECT role, key_index FROM address WHERE network = $1 AND address = $2',
    [network, address],
  );
  if (!row) throw new DomainError('INTENT_MISMATCH', `${address} is not an address of ours on ${network}`);
  return { role: row.role, index: row.key_index };
}

/** The wallet's sequence row, locked: its next nonce is ours until the commit. Throws WALLET_FROZEN. */
export async function lockWallet(
  tx: EntityManager,
  intent: Pick<IntentRow, 'network' | 'from_address'>,
): Promise<number> {
  await tx.query('INSERT INTO wallet_sequence (network, address) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
    intent.network,
    intent.from_address,
  ]);
  const [row] = await tx.query<Array<{ next_nonce: number; frozen_reason: string | null }>>(
    'SELECT next_nonce, frozen_reason FROM wallet_sequence WHERE network = $1 AND address = $2 FOR UPDATE',
    [intent.network, intent.from_address],
  );
  if (row!.frozen_reason) throw walletFrozen(intent.from_address, row!.frozen_reason);
  return row!.next_nonce;
}

/** The next nonce of an account of ours, used up. */
export async function takeNonce(tx: EntityManager, network: string, address: string): Promise<number> {
  const nonce = await lockWallet(tx, { network, from_address: address });
  await tx.query('UPDATE wallet_sequence SET next_nonce = next_nonce + 1 WHERE network = $1 AND address = $2', [
    network,
    address,
  ]);
  return nonce;
}

export const walletFrozen = (address: string, reason: string): DomainError =>
  new DomainError('WALLET_FROZEN', `Wallet ${address}: ${reason}`);
