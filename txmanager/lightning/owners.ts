import type { EntityManager } from 'typeorm';
import { releaseLimitUse } from '../../commands/limits/outbound-check';
import { refreshBatch } from '../../commands/payouts/refresh';
import { failWithdrawal } from '../../commands/withdrawals/fail';
import { captureOrRelease, noteHoldGone } from '../../db/ledger/ledger';
import type { PayableRow } from '../../db/lightning/payments';
import { emitLineEvents, holdOfLine, moveLines } from '../../db/payouts/payouts';
import { holdOf as refundHold, lockRefundWithPayment } from '../../db/refunds/refunds';
import { holdOf as withdrawalHold, lockWithdrawal } from '../../db/withdrawals/withdrawals';
import type { Hold } from '../../domain/ledger/ledger';
import { lightningCaptureJournal } from '../../domain/ledger/lightning';
import { fit } from '../../domain/money';
import type { InvoicedKind } from '../../domain/txmanager/kinds';
import type { OwnerKind } from '../../domain/workflow-ids';
import { invoicedLineObligation, lockInvoicedLine, type InvoicedLine } from '../kinds/payout-line';
import { failLines } from '../kinds/payout-line-end';
import { completeRefund, failRefund, refund } from '../kinds/refund';
import { noteCompleted, noteSent, withdrawal } from '../kinds/withdrawal';
import type { Obligation, ReadObligations } from '../obligation';

/** What an invoice may be paid for: how the row of it is read, and how it ends. */

type Sides<Row> = Readonly<{
  obligation(tx: EntityManager, id: string): Promise<Obligation | null>;
  lock(tx: EntityManager, id: string): Promise<Row | null>;
  /** Whether it may leave, as far as its own row says. */
  isDue(row: Row): boolean;
  hold(row: Row): Hold;
  fail(tx: EntityManager, row: Row, message: string): Promise<void>;
  complete(tx: EntityManager, row: Row, hash: string): Promise<void>;
}>;
type Paid = Readonly<{ hash: string; feeMsat: bigint }>;
type Owner = Readonly<{
  /** As the signer sees it, locked; null: there is none. */
  obligation(tx: EntityManager, id: string): Promise<Obligation | null>;
  /** The row, locked, where it waits to be paid. */
  due(tx: EntityManager, id: string): Promise<PayableRow | null>;
  /** Gives its money back; one that was cancelled before stays so. */
  fail(tx: EntityManager, id: string, message: string): Promise<void>;
  /** J6, and its end. Where its money went back meanwhile an incident says so. */
  book(tx: EntityManager, id: string, paid: Paid): Promise<void>;
}>;

const ownerOf = <Row extends PayableRow & { status: string }>(sides: Sides<Row>): Owner => ({
  obligation: sides.obligation,
  async due(tx, id) {
    const row = await sides.lock(tx, id);
    return row?.status === 'pending' && sides.isDue(row) ? row : null;
  },
  async fail(tx, id, message) {
    const row = await sides.lock(tx, id);
    if (row?.status === 'pending' || row?.status === 'processing') await sides.fail(tx, row, message);
  },
  async book(tx, id, { hash, feeMsat }) {
    const row = (await sides.lock(tx, id))!;
    if (row.status !== 'processing') return void (await noteHoldGone(tx, sides.hold(row)));
    const net = fit(row.net_amount, 18, 'down');
    await captureOrRelease(tx, lightningCaptureJournal({ ...sides.hold(row), net, feeMsat, hash }));
    await sides.complete(tx, row, hash);
  },
});

/** Of a kind whose row is the owner of what is sent for it. */
const ownObligation =
  (kind: InvoicedKind & OwnerKind, read: ReadObligations): Owner['obligation'] =>
  async (tx, ref) =>
    (await read(tx, [{ id: ref, kind, ref, owner_kind: kind, owner_id: ref }])).get(ref) ?? null;

/** Sent is arrived: both are told, as on chains. */
async function completeLine(tx: EntityManager, line: InvoicedLine, hash: string): Promise<void> {
  const sent = await moveLines(tx, [line], 'broadcast', { tx_id: hash });
  const batch = await refreshBatch(tx, line.batch);
  await emitLineEvents(tx, await moveLines(tx, sent, 'completed'), 'mass_payout.leg_completed');
  await refreshBatch(tx, batch);
}

export const owners: Readonly<Record<InvoicedKind, Owner>> = {
  withdrawal: ownerOf({
    obligation: ownObligation('withdrawal', withdrawal.obligation!),
    lock: lockWithdrawal,
    isDue: () => true,
    hold: withdrawalHold,
    fail: failWithdrawal,
    complete: async (tx, row, hash) => noteCompleted(tx, await noteSent(tx, row, hash), hash),
  }),
  refund: ownerOf({
    obligation: ownObligation('refund', refund.obligation!),
    lock: lockRefundWithPayment,
    isDue: () => true,
    hold: refundHold,
    async fail(tx, row, message) {
      await failRefund(tx, row, message);
      await releaseLimitUse(tx, 'refund', row.id);
    },
    complete: completeRefund,
  }),
  leg: ownerOf<InvoicedLine>({
    async obligation(tx, id) {
      const line = await lockInvoicedLine(tx, id);
      return line && invoicedLineObligation(tx, line);
    },
    lock: lockInvoicedLine,
    isDue: ({ batch }) => batch.approved_at !== null,
    hold: holdOfLine,
    async fail(tx, line, message) {
      await failLines(tx, [line], message);
      await refreshBatch(tx, line.batch);
    },
    complete: completeLine,
  }),
};
