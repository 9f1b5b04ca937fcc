import type { EntityManager } from 'typeorm';
import { newId } from '../../domain/ids';
import { changedRows, type Queryable } from '../query';
import type { WalletRow } from './wallets';
import type { RowOf } from '../entity';
import type { settlementChangeEntity } from './entities';

/** Changes of settlement addresses. A wallet is locked before its change. Contract: G6. */

export type SettlementChangeRow = Readonly<RowOf<typeof settlementChangeEntity>>;

const open = `status IN ('awaiting_approval', 'cooling_off')`;

/** Writes a change of a locked wallet that has no other open one. It counts after the merchant's cooling-off, which a
 *  delay that was shortened since does not end. */
export async function insertChange(
  tx: EntityManager,
  wallet: WalletRow,
  change: Readonly<{ address: string; by: Readonly<{ id: string; email: string }>; needsSecondPerson: boolean }>,
): Promise<SettlementChangeRow> {
  const [row] = await tx.query<SettlementChangeRow[]>(
    `INSERT INTO settlement_change (id, merchant_id, wallet_id, status, address, before_address, before_custody,
       requested_by, requested_by_name, needs_second_person, active_at)
     SELECT $1, m.id, $3, CASE WHEN $9 THEN 'awaiting_approval' ELSE 'cooling_off' END, $4, $5, $6, $7, $8, $9,
            greatest(now() + make_interval(hours => m.whitelist_delay_hours), m.whitelist_not_before)
       FROM merchant m WHERE m.id = $2 RETURNING *`,
    [
      newId(),
      wallet.merchant_id,
      wallet.id,
      change.address,
      wallet.settlement_address,
      wallet.custody,
      change.by.id,
      change.by.email,
      change.needsSecondPerson,
    ],
  );
  return row!;
}

/** The open change of a wallet, which is locked; null where there is none. */
export async function openChangeOf(db: Queryable, walletId: string): Promise<SettlementChangeRow | null> {
  const [row] = await db.query<SettlementChangeRow[]>(
    `SELECT * FROM settlement_change WHERE wallet_id = $1 AND ${open}`,
    [walletId],
  );
  return row ?? null;
}

/** The open changes of a merchant's wallets. */
export const openChanges = (db: Queryable, merchantId: string): Promise<SettlementChangeRow[]> =>
  db.query<SettlementChangeRow[]>(`SELECT * FROM settlement_change WHERE merchant_id = $1 AND ${open}`, [merchantId]);

export async function findChange(db: Queryable, id: string): Promise<SettlementChangeRow | null> {
  const [row] = await db.query<SettlementChangeRow[]>('SELECT * FROM settlement_change WHERE id = $1', [id]);
  return row ?? null;
}

/** Whether a change has reached the moment from which it counts, or was applied less than so many days ago. */
export async function isDue(db: Queryable, id: string): Promise<boolean> {
  const rows = await db.query<unknown[]>('SELECT FROM settlement_change WHERE id = $1 AND active_at <= now()', [id]);
  return rows.length > 0;
}
export async function wasAppliedWithin(db: Queryable, id: string, days: number): Promise<boolean> {
  const rows = await db.query<unknown[]>(
    `SELECT FROM settlement_change WHERE id = $1 AND status = 'applied'
        AND applied_at > now() - make_interval(days => $2)`,
    [id, days],
  );
  return rows.length > 0;
}

/** Changes whose cooling-off is over: what applies them locks each wallet and looks again. */
export const dueChanges = (db: Queryable): Promise<SettlementChangeRow[]> =>
  db.query<SettlementChangeRow[]>(
    `SELECT * FROM settlement_change WHERE status = 'cooling_off' AND active_at <= now() ORDER BY active_at LIMIT 100`,
  );

const move = async (tx: Queryable, sql: string, values: readonly unknown[]): Promise<SettlementChangeRow | null> =>
  (await changedRows<SettlementChangeRow>(tx, sql, values))[0] ?? null;

export const approveChange = (
  tx: Queryable,
  id: string,
  by: Readonly<{ id: string; email: string }>,
): Promise<SettlementChangeRow | null> =>
  move(
    tx,
    `UPDATE settlement_change SET status = 'cooling_off', approved_by = $2, approved_by_name = $3
      WHERE id = $1 AND status = 'awaiting_approval' RETURNING *`,
    [id, by.id, by.email],
  );

export const markApplied = (tx: Queryable, id: string): Promise<SettlementChangeRow | null> =>
  move(
    tx,
    `UPDATE settlement_change SET status = 'applied', applied_at = now()
      WHERE id = $1 AND status = 'cooling_off' RETURNING *`,
    [id],
  );

/** Null where it has ended already. */
export const endChange = (tx: Queryable, id: string, to: 'stopped' | 'replaced'): Promise<SettlementChangeRow | null> =>
  move(
    tx,
    `UPDATE settlement_change SET status = $2, ended_at = now()
      WHERE id = $1 AND (${open} OR status = 'applied' AND $2 = 'stopped') RETURNING *`,
    [id, to],
  );
