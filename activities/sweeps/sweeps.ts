import type { EntityManager } from 'typeorm';
import type { PaymentRow } from '../../domain/payments/payment';
import { unsettledDeposits } from '../../db/payments/deposits';
import { intentsOf, ownerOf, type IntentRow } from '../../db/txmanager/intents';
import { announce, lockPayment, movePayment } from '../../db/payments/payments';
import { tellPayment } from '../../db/chains/notify';
import type { PaymentDeps } from '../payments/deps';
import { planNow, type Planned } from '../../txmanager/plan-sweep';
import { lockGroup } from '../../txmanager/plan-sweep-batch';
import { isPlanned, termsOf, type Ready } from '../../txmanager/sweep-terms';
import { nextOf, settlementGas, settlementRefused, type GasDeps } from '../../txmanager/estimate-gas';
import { lookAgainInMs } from '../../txmanager/plan-outgoing';
import { takeOverSweeps } from '../../txmanager/take-over';
import type { NextIntent } from '../../txmanager/next-intent';
import { startSweep } from '../../txmanager/kinds/sweep';
import { bookIntent } from '../../txmanager/book';
import { openIncident } from '../../db/incidents';
import { ownerWorkflow, type IntentOwner } from '../../domain/workflow-ids';

/** Plans what moves payments' money to its settlement, and books what that cost. */
export const sweepActivities = ({ db, config, nodes }: Pick<PaymentDeps, 'db' | 'config'> & GasDeps) => ({
  /** CONFIRMED → SWEEP_QUEUED with its intents (row 15), in one transaction with every other payment that is ready for the same
   *  address, or nothing while it waits: for others, for a better price, or for a fresh fee estimate. The same deposits always find
   *  the same intents. Returns whether sweeps are under way. */
  async queueSweep(paymentId: string): Promise<{ queued: boolean; reason?: string; lookAgainInMs?: number }> {
    const settlement = await settlementGas({ db, nodes }, paymentId);
    return db.transaction(async (tx) => {
      await lockGroup(tx, paymentId, termsOf(config));
      const payment = await lockPayment(tx, paymentId);
      if (payment.status !== 'CONFIRMED' || !payment.currency)
        return { queued: payment.status === 'SWEEP_QUEUED', reason: payment.status };
      const lost = await takeOverSweeps(tx, paymentId);
      if (lost !== null) return { queued: false, reason: lost, lookAgainInMs };
      const own = { payment, deposits: await unsettledDeposits(tx, paymentId) };
      const known = await intentsOf(tx, paymentId);
      const moved: Array<{ before: PaymentRow; after: PaymentRow }> = [];
      const queue = async (ready: Ready, owner: IntentOwner): Promise<void> => {
        const { payment: before, deposits } = ready;
        const after = await movePayment(tx, before, {
          to: 'SWEEP_QUEUED',
          cause: 'sweep-planned',
          events: ['payment.sweep_queued'],
          patch: { sweep_state: 'queued' },
          details: { depositIds: deposits.map((deposit) => deposit.id), sweep: ownerWorkflow(owner).workflowId },
        });
        moved.push({ before, after });
        if (before.id !== paymentId) await tellPayment(tx, before.id);
      };

      if (isPlanned(known, own.deposits)) {
        const ids = own.deposits.map((deposit) => deposit.id);
        const live = known.filter((intent) => intent.status !== 'dead' && ids.includes(intent.deposit_ids[0] ?? ''));
        await queue(own, ownerOf(live[0]!));
        // Whose end was booked before has nobody left who would tell of it.
        if (live.every((intent) => intent.booked)) await tellPayment(tx, paymentId);
        else await startSweep(tx, payment, ownerOf(live[0]!));
      } else {
        const planned =
          settlement?.state === 'reverts'
            ? { wait: settlementRefused, lookAgainInMs: refusedLookMs, isOverdue: true }
            : await planNow(tx, own, termsOf(config), settlement?.state === 'done' ? settlement.gas : undefined);
        if ('wait' in planned) {
          await noteWait(tx, payment, planned);
          return { queued: false, reason: planned.wait, lookAgainInMs: planned.lookAgainInMs };
        }
        for (const ready of planned.members) await queue(ready, planned.owner);
        await startSweep(tx, payment, planned.owner);
      }
      for (const { before, after } of moved) await announce(tx, before, after, ['payment.sweep_queued']);
      return { queued: true };
    });
  },

  /** The first intent of a payment's own sweep whose end is not booked; null when all are. */
  nextIntent: (paymentId: string): Promise<NextIntent> => nextOf({ db, nodes }, { kind: 'sweep', id: paymentId }),

  /** The intent of a batch, while its end is not booked. */
  nextBatchIntent: (batchId: string): Promise<NextIntent> =>
    nextOf({ db, nodes }, { kind: 'sweep-batch', id: batchId }),

  /** Books an intent at its end. */
  finishIntent: (intentId: string): Promise<{ status: IntentRow['status'] }> =>
    db.transaction((tx) => bookIntent(tx, intentId)),
});

/** How often a settlement address that refuses is tried again. */
const refusedLookMs = 900_000;

/** Why a payment waits, once per reason on its timeline; and an alert where the promised time has passed. */
async function noteWait(
  tx: EntityManager,
  payment: PaymentRow,
  planned: Extract<Planned, { wait: string }>,
): Promise<void> {
  const [known] = await tx.query<unknown[]>(
    `SELECT 1 FROM payment_event WHERE payment_id = $1 AND cause = 'sweep-waits' AND details->>'reason' = $2
        AND at >= coalesce($3, at) LIMIT 1`,
    [payment.id, planned.wait, payment.confirmed_at],
  );
  if (!known) {
    const noted = await movePayment(tx, payment, {
      to: payment.status,
      cause: 'sweep-waits',
      events: [],
      details: { reason: planned.wait },
    });
    await announce(tx, payment, noted, []);
  }
  if (planned.isOverdue)
    await openIncident(tx, {
      kind: 'sweep-overdue',
      subject: { kind: 'payment', id: payment.id },
      details: { paymentId: payment.id, reason: planned.wait },
    });
}
