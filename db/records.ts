import { createHash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { DomainError, type ErrorCode } from '../domain/errors';
import type { RecordTable } from '../domain/txmanager/kinds';
import { isLive } from './instance';
import { emitEvent, type NewEvent } from './webhooks/events';
import { type Queryable, changedRows } from './query';

/** What refunds, withdrawals, payouts and conversions have in common: a status that moves by guarded updates, money
 *  that is held for them, a body that comes with a key, pages of them. */

type Recorded = Readonly<{ id: string; merchant_id: string; status: string; state_version: number }>;

/** In a patch: the moment at which it is made, by the database's clock. */
export const byClock = Symbol('clock_timestamp()');
/** What changes in some columns of a row. */
export type Patch<Row, Column extends keyof Row = keyof Row> = Readonly<{ [C in Column]?: Row[C] | typeof byClock }>;

/** Thrown where a record is no longer as it was read. */
export class StaleRecord extends Error {}

/** The one way a record changes: a guarded update, one version further. Its journals and events are the caller's.
 *  Column names in `patch` are the code's own, never a caller's. Throws StaleRecord. */
export async function moveRecord<Row extends Recorded>(
  tx: EntityManager,
  table: RecordTable,
  row: Row,
  to: NoInfer<Row['status']>,
  patch: NoInfer<Patch<Row>>,
): Promise<Row> {
  const columns = Object.keys(patch) as Array<keyof Row & string>;
  const values: unknown[] = [row.id, to, row.status, row.state_version];
  const assigned = columns.map((column) => {
    const value = patch[column];
    return `, ${column} = ${value === byClock ? 'clock_timestamp()' : `$${values.push(value)}`}`;
  });
  const rows = await changedRows<Row>(
    tx,
    `UPDATE ${table} SET status = $2, state_version = state_version + 1, updated_at = clock_timestamp()
            ${assigned.join('')}
      WHERE id = $1 AND status = $3 AND state_version = $4 RETURNING *`,
    values,
  );
  if (!rows[0])
    throw new StaleRecord(`The ${table} ${row.id} is no longer ${row.status} at version ${row.state_version}`);
  return rows[0];
}

/** Enqueues an event of a record, without IPN; `view` makes the resource as GET returns it. Call last in the
 *  transaction. */
export const emitRecordEvent = async (
  tx: EntityManager,
  row: Recorded,
  type: NewEvent['type'],
  view: (livemode: boolean) => object,
  before?: string,
): Promise<string> =>
  emitEvent(tx, {
    merchantId: row.merchant_id,
    type,
    entityId: row.id,
    stateVersion: row.state_version,
    data: JSON.stringify(view(await isLive(tx))),
    previous: before === undefined || before === row.status ? {} : { status: before },
    ipnUrl: null,
    openDelta: 0,
  });

/** The result of a posting; where the balance does not cover it, the error that its caller knows instead of
 *  INSUFFICIENT_FUNDS. */
export const asBalanceError = <Result>(
  posting: Promise<Result>,
  code: ErrorCode = 'INSUFFICIENT_BALANCE',
  message?: string,
): Promise<Result> =>
  posting.catch((error: unknown) => {
    throw error instanceof DomainError && error.code === 'INSUFFICIENT_FUNDS' ? new DomainError(code, message) : error;
  });

/** A hash of what was asked for: the same request under one key is a repeat, another one is refused. */
export const contentHash = (content: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(content)).digest('hex');

/** The page asked for, and its length. */
export type Page = Readonly<{ page: number; limit: number }>;

/** One page, newest first unless said otherwise, of the rows of `from` that `where` lets through, and how many there
 *  are in all. `values` fill $1 and on. */
export async function pageOfRecords<Row>(
  db: Queryable,
  {
    select = '*',
    from,
    where,
    order = 'DESC',
  }: Readonly<{ select?: string; from: string; where: string; order?: 'ASC' | 'DESC' }>,
  values: readonly unknown[],
  { page, limit }: Page,
): Promise<{ items: Row[]; total: number }> {
  const [items, counted] = await Promise.all([
    db.query<Row[]>(
      `SELECT ${select} FROM ${from} WHERE ${where} ORDER BY created_at ${order},
         id ${order} LIMIT $${values.length + 1} OFFSET $${values.length + 2}`,
      [...values, limit, (page - 1) * limit],
    ),
    db.query<Array<{ total: string }>>(`SELECT count(*)::text AS total FROM ${from} WHERE ${where}`, [...values]),
  ]);
  return { items, total: parseInt(counted[0]!.total, 10) };
}
