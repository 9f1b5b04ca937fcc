import type { EntityManager } from 'typeorm';
import { kinds, type HoldingKind } from '../../domain/txmanager/kinds';
import { changedCount } from '../query';

/** Lowers what a row gives its receiver to `net`, and raises the network fee that he bears by as much: once, and while
 *  nothing is signed. False where it does not apply. The caller has locked what comes before the row. */
export async function lowerNet(tx: EntityManager, kind: HoldingKind, id: string, net: string): Promise<boolean> {
  const { table, where } = kinds[kind].borne;
  const count = await changedCount(
    tx,
    `UPDATE ${table} SET added_fee = net_amount - $2, network_fee = network_fee + net_amount - $2, net_amount = $2,
            state_version = state_version + 1, updated_at = clock_timestamp()
      WHERE id = $1 AND status = 'pending' AND added_fee IS NULL AND net_amount > $2 AND ${where}`,
    [id, net],
  );
  return count > 0;
}
