import type { EntityManager } from 'typeorm';
import { releaseLimitUse } from '../../commands/limits/outbound-check';
import { failWithdrawal } from '../../commands/withdrawals/fail';
import { captureOrRelease, noteHoldGone } from '../../db/ledger/ledger';
import type { PaidFor } from '../../db/lightning/payments';
import { holdOf as refundHold, lockRefundWithPayment } from '../../db/refunds/refunds';
import { holdOf as withdrawalHold, lockWithdrawal } from '../../db/withdrawals/withdrawals';
import type { Hold } from '../../domain/ledger/ledger';
import { lightningCaptureJournal } from '../../domain/ledger/lightning';
import { completeRefund, failRefund, refund } from '../kinds/refund';
import { noteCompleted, noteSent, withdrawal } from '../kinds/withdrawal';
import type { ReadObligations } from '../obligation';

/** What an invoice may be paid for: how the row of it is read, and how it ends. */

type Sides<Row> = Readonly<{
  obligation: ReadObligations;
  lock(tx: EntityManager, id: string): Promise<Row | null>;
  hold(row: Row): Hold;
  fail(tx: EntityManager, row: Row, message: string): Promise<void>;
  complete(tx: EntityManager, row: Row, hash: string): Promise<void>;
}>;
type Paid = Readonly<{ hash: string; feeMsat: bigint }>;
type Owner = Readonly<{
  obligation: ReadObligations;
  /** Gives its money back; one that was cancelled before stays so. */
  fail(tx: EntityManager, id: string, message: string): Promise<void>;
  /** J6, and its end. Where its money went back meanwhile an incident says so. */
  book(tx: EntityManager, id: string, paid: Paid): Promise<void>;
}>;

const ownerOf = <Row extends { status: string; net_amount: string }>(sides: Sides<Row>): Owner => ({
  obligation: sides.obligation,
  async fail(tx, id, message) {
    const row = await sides.lock(tx, id);
    if (row?.status === 'pending' || row?.status === 'processing') await sides.fail(tx, row, message);
  },
  async book(tx, id, { hash, feeMsat }) {
    const row = (await sides.lock(tx, id))!;
    if (row.status !== 'processing') return void (await noteHoldGone(tx, sides.hold(row)));
    await captureOrRelease(tx, lightningCaptureJournal({ ...sides.hold(row), net: row.net_amount, feeMsat, hash }));
    await sides.complete(tx, row, hash);
  },
});

export const owners: Readonly<Record<PaidFor['kind'], Owner>> = {
  withdrawal: ownerOf({
    obligation: withdrawal.obligation!,
    lock: lockWithdrawal,
    hold: withdrawalHold,
    fail: failWithdrawal,
    complete: async (tx, row, hash) => noteCompleted(tx, await noteSent(tx, row, hash), hash),
  }),
  refund: ownerOf({
    obligation: refund.obligation!,
    lock: lockRefundWithPayment,
    hold: refundHold,
    async fail(tx, row, message) {
      await failRefund(tx, row, message);
      await releaseLimitUse(tx, 'refund', row.id);
    },
    complete: completeRefund,
  }),
};
