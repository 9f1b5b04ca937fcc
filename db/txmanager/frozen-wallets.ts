import { openIncidentAgain } from '../incidents';
import type { Queryable } from '../query';

/** Why a wallet signs nothing, locked; null where it is not frozen. */
export async function lockFrozen(tx: Queryable, network: string, address: string): Promise<string | null> {
  const [row] = await tx.query<Array<{ frozen_reason: string | null }>>(
    'SELECT frozen_reason FROM wallet_sequence WHERE network = $1 AND address = $2 FOR UPDATE',
    [network, address],
  );
  return row?.frozen_reason ?? null;
}

export const unfreezeWallet = (tx: Queryable, network: string, address: string): Promise<unknown> =>
  tx.query('UPDATE wallet_sequence SET frozen_reason = NULL, frozen_at = NULL WHERE network = $1 AND address = $2', [
    network,
    address,
  ]);

/** Nothing more is signed for a wallet, and operators are told. One that is frozen keeps its reason. */
export async function freezeWallet(
  tx: Queryable,
  { network, address }: Readonly<{ network: string; address: string }>,
  { intentId, reason }: Readonly<{ intentId: string; reason: string }>,
): Promise<void> {
  await tx.query(
    `INSERT INTO wallet_sequence (network, address, frozen_reason, frozen_at) VALUES ($1, $2, $3, now())
     ON CONFLICT (network, address) DO UPDATE SET frozen_reason = EXCLUDED.frozen_reason, frozen_at = now()
       WHERE wallet_sequence.frozen_reason IS NULL`,
    [network, address, reason],
  );
  await openIncidentAgain(tx, {
    kind: 'wallet-frozen',
    subject: { kind: 'wallet', id: `${network}/${address}` },
    distinction: intentId,
    details: { intentId, reason },
  });
}

/** Where the account of a frozen wallet stands, of which somebody else has used what came before. It counts from when
 *  operators unfreeze the wallet. The signer alone may say so. */
export const noteForeignSequence = (
  tx: Queryable,
  { network, address }: Readonly<{ network: string; address: string }>,
  sequence: number,
): Promise<unknown> =>
  tx.query('UPDATE wallet_sequence SET foreign_sequence = $3 WHERE network = $1 AND address = $2', [
    network,
    address,
    sequence,
  ]);
