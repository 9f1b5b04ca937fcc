import type { EntityManager } from 'typeorm';
import { newestPaymentAt, planPayment } from '../lightning/payments';
import { openIncident } from '../incidents';
import { overlapMs, type OutsideRecord } from './lost';

/** Invoices that our Lightning node was told to pay in the time that a recovery has lost. An invoice that a Lightning
 *  address gave after the backup is in no row: with a second one the withdrawal would be paid twice. */

/** What the signer records before it has the node pay for the first time, outside the database. */
export type CalledRecord = Readonly<{
  hash: string;
  /** What it is for, and the id of its row. */
  kind: 'withdrawal';
  ref: string;
  invoice: string;
  amountMsat: string;
  feeLimitMsat: string;
  /** ISO 8601. */
  expiresAt: string;
}>;
export type CallRecord = OutsideRecord<CalledRecord>;

/** Gives each withdrawal the invoice back that was to be paid for it: the signer then asks the node about that hash,
 *  and books it or has it paid. What was to be paid for a withdrawal that is gone opens an incident. Answers how many
 *  there were. */
export async function restoreCalled(tx: EntityManager, record: CallRecord): Promise<number> {
  const newest = await newestPaymentAt(tx);
  let count = 0;
  for (const one of record.since(new Date((newest?.getTime() ?? 0) - overlapMs))) {
    const { hash, invoice, ref, amountMsat, feeLimitMsat, expiresAt } = one;
    if (await isOpenWith(tx, one)) {
      const terms = { amountMsat: BigInt(amountMsat), feeLimitMsat: BigInt(feeLimitMsat) };
      const isNew = await planPayment(tx, {
        hash,
        withdrawalId: ref,
        invoice,
        ...terms,
        expiresAt: new Date(expiresAt),
      });
      count += isNew ? 1 : 0;
    } else if (!(await isKnown(tx, ref))) await noteForgotten(tx, one);
  }
  return count;
}

/** Locks the withdrawal: whether it waits to be paid just that. */
async function isOpenWith(tx: EntityManager, one: CalledRecord): Promise<boolean> {
  const rows = await tx.query<unknown[]>(
    `SELECT FROM withdrawal WHERE id = $1 AND currency = 'BTC_LN' AND status IN ('awaiting_approval', 'pending')
        AND net_amount * 100000000000 = $2 AND network_fee * 100000000000 = $3 FOR UPDATE`,
    [one.ref, one.amountMsat, one.feeLimitMsat],
  );
  return rows.length > 0;
}

const isKnown = async (tx: EntityManager, id: string): Promise<boolean> =>
  (await tx.query<unknown[]>('SELECT FROM withdrawal WHERE id = $1', [id])).length > 0;

const noteForgotten = (tx: EntityManager, { kind, ref: id, hash, amountMsat }: CalledRecord): Promise<unknown> =>
  openIncident(tx, {
    kind: 'hold-gone',
    subject: { kind, id },
    details: { id, kind, paymentHash: hash, amountMsat },
  });
