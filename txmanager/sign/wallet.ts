import type { EntityManager } from 'typeorm';
import type { KeyPath, KeyRole } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { freezeWallet, noteForeignSequence } from '../../db/txmanager/frozen-wallets';
import type { IntentRow } from '../../db/txmanager/intents';
import { lockWallet } from '../../db/txmanager/sign-facts';

export async function keyOf(tx: EntityManager, network: string, address: string): Promise<KeyPath> {
  const [row] = await tx.query<Array<{ role: KeyRole; branch: number; key_index: number }>>(
    `SELECT role, branch, key_index FROM address WHERE network = $1 AND address = $2 AND tag = ''`,
    [network, address],
  );
  if (!row) throw new DomainError('INTENT_MISMATCH', `${address} is not an address of ours on ${network}`);
  return { role: row.role, branch: row.branch, index: row.key_index };
}

/** The next nonce of an account of ours, used up. */
export async function takeNonce(tx: EntityManager, network: string, address: string): Promise<number> {
  const wallet = await lockWallet(tx, { network, from_address: address });
  if (wallet.frozen_reason !== null)
    throw new DomainError('WALLET_FROZEN', `Wallet ${address}: ${wallet.frozen_reason}`);
  await useNonce(tx, network, address);
  return wallet.next_nonce;
}

/** The next nonce of a wallet that the caller has locked is used up. */
export const useNonce = (tx: EntityManager, network: string, address: string): Promise<unknown> =>
  tx.query('UPDATE wallet_sequence SET next_nonce = next_nonce + 1 WHERE network = $1 AND address = $2', [
    network,
    address,
  ]);

/** The account of a wallet that the caller has locked stands at a sequence that none of our transactions explains:
 *  somebody has used its key, or ours are not all known. Operators explain it, and the wallet goes on from there. */
export async function freezeForeign(
  tx: EntityManager,
  { id: intentId, network, from_address: address }: IntentRow,
  { reason, sequence }: Readonly<{ reason: string; sequence: number }>,
): Promise<void> {
  await freezeWallet(tx, { network, address }, { intentId, reason });
  await noteForeignSequence(tx, { network, address }, sequence);
}
