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
