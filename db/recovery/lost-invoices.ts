import type { EntityManager } from 'typeorm';
import { kinds } from '../../domain/txmanager/kinds';
import { openIncident } from '../incidents';
import { holdSubject } from '../ledger/ledger';
import { newestCalledAt, paymentsWithRows, planPayment, type PaidFor } from '../lightning/payments';
import { claimAgain, mayBeClaimedAgain } from '../refunds/lost-claims';
import { overlapMs, type OutsideRecord } from './lost';

/** Invoices that our Lightning node was told to pay in the time that a recovery has lost. An invoice that a Lightning
 *  address gave after the backup is in no row: with a second one its receiver would be paid twice. */

/** What the signer records before it has the node pay for the first time, outside the database. */
export type CalledRecord = PaidFor &
  Readonly<{
    hash: string;
    invoice: string;
    amountMsat: string;
    feeLimitMsat: string;
    /** ISO 8601. */
    expiresAt: string;
  }>;
export type CallRecord = OutsideRecord<CalledRecord>;

/** Gives each row the invoice back that was to be paid for it: the signer then asks the node about
 *  that hash, and books it or has it paid. Where the row is gone, or can no longer be paid so, an incident says what
 *  was to be paid. Answers how many have theirs back. */
export async function restoreCalled(tx: EntityManager, record: CallRecord): Promise<number> {
  const newest = await newestCalledAt(tx);
  let count = 0;
  for (const one of record.since(new Date((newest?.getTime() ?? 0) - overlapMs))) {
    const { hash, kind, ref, invoice, amountMsat, feeLimitMsat, expiresAt } = one;
    if (await isFollowed(tx, hash)) continue;
    if (await isOpenWith(tx, one)) {
      const terms = { amountMsat: BigInt(amountMsat), feeLimitMsat: BigInt(feeLimitMsat) };
      await claimAgain(tx, one);
      const isNew = await planPayment(tx, { kind, ref }, { hash, invoice, ...terms, expiresAt: new Date(expiresAt) });
      count += isNew ? 1 : 0;
    } else await noteForgotten(tx, one);
  }
  return count;
}

/** Whether the signer goes on with an invoice, or it has ended. One that was cancelled before it was called for, in a
 *  database that had forgotten the call, is looked at by nobody. */
const isFollowed = async (tx: EntityManager, hash: string): Promise<boolean> =>
  (
    await tx.query<unknown[]>(
      `SELECT FROM ${paymentsWithRows}
        WHERE l.hash = $1 AND (l.outcome IS NOT NULL OR l.calls > 0 OR o.status <> 'cancelled')`,
      [hash],
    )
  ).length > 0;

const openStatuses = ['awaiting_address', 'awaiting_approval', 'pending'];

/** Locks what it is for: whether that waits to be paid just that, and has no other invoice. */
async function isOpenWith(tx: EntityManager, one: CalledRecord): Promise<boolean> {
  const { kind, ref, amountMsat, feeLimitMsat } = one;
  if (!(await mayBeClaimedAgain(tx, one))) return false;
  const { table, status } = kinds[kind].invoiced;
  const rows = await tx.query<unknown[]>(
    `SELECT FROM ${table} o WHERE id = $1 AND currency = 'BTC_LN' AND ${status} = ANY($4)
        AND net_amount * 100000000000 = $2 AND network_fee * 100000000000 = $3
        AND NOT EXISTS (SELECT FROM lightning_payment l WHERE l.${kind}_id = o.id) FOR UPDATE`,
    [ref, amountMsat, feeLimitMsat, openStatuses],
  );
  return rows.length > 0;
}

const noteForgotten = (tx: EntityManager, { kind, ref: id, hash, amountMsat }: CalledRecord): Promise<unknown> =>
  openIncident(tx, {
    kind: 'hold-gone',
    subject: holdSubject({ kind, id }),
    details: { id, kind, paymentHash: hash, amountMsat },
  });
