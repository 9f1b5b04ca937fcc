import type { DataSource, EntityManager } from 'typeorm';
import { assetOf, networkOf, type NetworkId } from '../../domain/chains/assets';
import { feeGoneKey, feeJournal, gasJournal } from '../../domain/ledger/ledger';
import { fromUnits } from '../../domain/money';
import type { PaymentRow } from '../../domain/payments/payment';
import { roomOf, shareOut } from '../../domain/sweeps/sweep-batch';
import { depositsById, unsettledDeposits, type DepositRow } from '../../db/payments/deposits';
import { failPoint } from '../../db/fail-point';
import {
  accountsOf,
  attemptsOf,
  dropShares,
  intentsOf,
  intentsOwnedBy,
  lockIntent,
  sharesOf,
  type AttemptRow,
  type IntentRow,
  type ShareRow,
} from '../../db/txmanager/intents';
import { bookFeeChange, ensureMined, reverse, type Mined } from '../../db/ledger/ledger';
import { announce, lockPayment, movePayment } from '../../db/payments/payments';
import { batchWorkflow, disband, sweepWorkflow, tellPayment } from '../../db/sweeps/sweeps';
import { requestSignal, workflowTypeOf } from '../../db/temporal/temporal-requests';
import type { PaymentDeps } from '../payments/payments';
import { lockPurpose } from '../../txmanager/kinds/purposes';
import {
  isPlanned,
  lockGroup,
  planAlone,
  planNow,
  planRest,
  readyDeposits,
  termsOf,
  type Planned,
  type Ready,
} from '../../txmanager/plan-sweep';

/** An intent that its workflow carries next. */
export type OpenIntent = Readonly<{ id: string; network: NetworkId; kind: string; summary: string }>;
/** What comes next: an intent, a pause because nothing can be planned now, or nothing more. */
export type NextIntent = OpenIntent | Readonly<{ lookAgainInMs: number; reason: string }> | null;

/** Plans what moves payments' money to its settlement, and books what that cost. */
export const sweepActivities = ({ db, config }: Pick<PaymentDeps, 'db' | 'config'>) => ({
  /** CONFIRMED → SWEEP_QUEUED with its intents (row 15), in one transaction with every other payment that is ready for the same
   *  address, or nothing while it waits: for company, for a better price, or for a fresh fee estimate. The same deposits always find
   *  the same intents. Returns whether sweeps are under way. */
  queueSweep: (paymentId: string): Promise<{ queued: boolean; reason?: string; lookAgainInMs?: number }> =>
    db.transaction(async (tx) => {
      await lockGroup(tx, paymentId, termsOf(config));
      const payment = await lockPayment(tx, paymentId);
      if (payment.status !== 'CONFIRMED' || !payment.currency)
        return { queued: payment.status === 'SWEEP_QUEUED', reason: payment.status };
      const own = { payment, deposits: await unsettledDeposits(tx, paymentId) };
      const known = await intentsOf(tx, paymentId);
      const moved: Array<{ before: PaymentRow; after: PaymentRow }> = [];
      const queue = async (ready: Ready, workflowId: string): Promise<void> => {
        const { payment: before, deposits } = ready;
        const after = await movePayment(tx, before, {
          to: 'SWEEP_QUEUED',
          cause: 'sweep-planned',
          events: ['payment.sweep_queued'],
          patch: { sweep_state: 'queued' },
          details: { depositIds: deposits.map((deposit) => deposit.id), sweep: workflowId },
        });
        moved.push({ before, after });
        if (before.id !== paymentId) await tellPayment(tx, before.id);
      };

      if (isPlanned(known, own.deposits)) {
        const ids = own.deposits.map((deposit) => deposit.id);
        const live = known.filter((intent) => intent.status !== 'dead' && ids.includes(intent.deposit_ids[0] ?? ''));
        await queue(own, live[0]!.owner_workflow);
        // Whose end was booked before has nobody left who would tell of it.
        if (live.every((intent) => intent.booked)) await tellPayment(tx, paymentId);
        else await startSweep(tx, payment, live[0]!.owner_workflow);
      } else {
        const planned = await planNow(tx, own, termsOf(config));
        if ('wait' in planned) {
          await noteWait(tx, payment, planned);
          return { queued: false, reason: planned.wait, lookAgainInMs: planned.lookAgainInMs };
        }
        for (const ready of planned.members) await queue(ready, planned.workflowId);
        await startSweep(tx, payment, planned.workflowId);
      }
      for (const { before, after } of moved) await announce(tx, before, after, ['payment.sweep_queued']);
      return { queued: true };
    }),

  /** The first intent of a payment's own sweep whose end is not booked; null when all are. */
  nextIntent: (paymentId: string): Promise<OpenIntent | null> => firstOpen(db, sweepWorkflow(paymentId)),

  /** The intent of a batch, while its end is not booked. */
  nextBatchIntent: (batchId: string): Promise<OpenIntent | null> => firstOpen(db, batchWorkflow(batchId)),

  /** Books an intent at its end. */
  finishIntent: (intentId: string): Promise<{ status: IntentRow['status'] }> =>
    db.transaction((tx) => bookIntent(tx, intentId)),
});

/** Books an intent at its end: a top-up as J4, a reverted transaction's fee as cost, a sweep with its settlement, of which it
 *  tells the payment's workflow, what leaves with the end of its own row. Safe to repeat: journals have one key each. */
export async function bookIntent(tx: EntityManager, intentId: string): Promise<{ status: IntentRow['status'] }> {
  const purpose = await lockPurpose(tx, intentId);
  const intent = await lockIntent(tx, intentId);
  const mined = (await attemptsOf(tx, intentId)).find((attempt) => attempt.status === 'final');
  if (!mined) return { status: intent.status };
  const topped = intent.kind === 'gas' ? intent.outputs[0]!.address : intent.from_address;
  const home = (await isTreasury(tx, intent.network, topped)) ? 'A:treasury' : 'A:deposit';
  const native = networkOf(intent.currency).native;
  const chainFee = fromUnits(BigInt(mined.fee_units ?? '0'), assetOf(native).decimals);
  const paid = { txId: mined.tx_id, blockHash: mined.block_hash!, native, chainFee };
  if (!mined.success) {
    const from = intent.kind === 'gas' || isTokenBatch(intent) ? 'A:gas' : home;
    await ensureMined(tx, { ...paid, from }, (chainFee) => feeJournal({ txId: mined.tx_id, native, chainFee, from }));
    await disband(tx, intentId, 'its transaction was reverted');
    await tx.query(
      `INSERT INTO incident (kind, key, details) VALUES ('transaction-reverted', $1, $2) ON CONFLICT (key) DO NOTHING`,
      [`transaction-reverted/${mined.tx_id}`, { intentId, paymentId: intent.payment_id, txId: mined.tx_id }],
    );
  } else if (intent.kind === 'gas') {
    const value = fromUnits(BigInt(mined.moved_units), assetOf(native).decimals);
    await ensureMined(tx, { ...paid, from: 'A:gas' }, (chainFee) =>
      gasJournal({ intentId, native, value, chainFee, to: home }),
    );
  } else if (intent.kind === 'sweep') {
    await reverse(tx, feeGoneKey(`sweep/${intentId}`));
    await bookFeeChange(tx, `sweep/${intentId}`, { ...paid, from: 'A:deposit' });
    const paymentIds = intent.payment_id ? [intent.payment_id] : await shareFee(tx, intent, mined, paid);
    await tx.query(
      `UPDATE payment SET sweep_state = 'confirmed', sweep_tx_id = $2 WHERE id = ANY($1) AND status = 'SWEEP_QUEUED'`,
      [paymentIds, mined.tx_id],
    );
    for (const paymentId of paymentIds) await tellPayment(tx, paymentId);
  }
  await tx.query('UPDATE intent SET booked = true, updated_at = now() WHERE id = $1', [intentId]);
  await purpose?.ended(mined);
  await failPoint('finish.beforeCommit');
  return { status: intent.status };
}

/** Does the gas wallet pay for it? */
const isTokenBatch = (intent: IntentRow): boolean =>
  intent.kind === 'sweep' && intent.payment_id === null && networkOf(intent.currency).kind === 'account';

async function isTreasury(tx: EntityManager, network: string, address: string): Promise<boolean> {
  const rows = await tx.query<unknown[]>(
    `SELECT FROM address WHERE network = $1 AND address = $2 AND role = 'treasury'`,
    [network, address],
  );
  return rows.length > 0;
}

/** Each payment's part of what a batch's transaction cost, and out with those whose coins it did not spend. Returns whom it moved. */
async function shareFee(
  tx: EntityManager,
  intent: IntentRow,
  mined: AttemptRow,
  paid: Omit<Mined, 'from'>,
): Promise<string[]> {
  const shares = await sharesOf(tx, intent.id);
  const deposits = await depositsById(tx, intent.deposit_ids);
  const spent = new Set([
    ...deposits.filter((one) => mined.inputs.includes(`${one.tx_id}:${one.out_index}`)).map((one) => one.id),
    ...(await accountsOf(tx, mined.id)).flatMap((account) => account.deposit_ids),
  ]);
  const isIn = (share: ShareRow): boolean => share.deposit_ids.every((id) => spent.has(id));
  const members = shares.filter(isIn);
  const fee = BigInt(mined.fee_units ?? '0');
  const parts = shareOut(
    fee,
    members.map((share) => ({
      weight: BigInt(share.deposit_ids.length),
      // Tokens do not bear their gas in what they are: their settlement charges it.
      room: isTokenBatch(intent) ? fee : roomOfShare(share),
    })),
  );
  for (const [index, share] of members.entries())
    await tx.query('UPDATE sweep_share SET fee_units = $3 WHERE intent_id = $1 AND payment_id = $2', [
      intent.id,
      share.payment_id,
      parts[index]!.toString(),
    ]);
  const booked = await tx.query<Array<{ key: string }>>('SELECT key FROM journal WHERE key = ANY($1)', [
    members.map((share) => `sweep/${intent.id}/${share.payment_id}`),
  ]);
  for (const { key } of booked) await reverse(tx, feeGoneKey(key));
  const isBooked = (share: ShareRow): boolean => booked.some(({ key }) => key.endsWith(`/${share.payment_id}`));
  const again = parts.filter((_, index) => isBooked(members[index]!)).reduce((sum, part) => sum + part, 0n);
  await bookFeeChange(
    tx,
    booked.map(({ key }) => key),
    {
      ...paid,
      chainFee: fromUnits(again, assetOf(paid.native).decimals),
      from: isTokenBatch(intent) ? 'A:gas' : 'A:deposit',
    },
  );
  const left = shares.filter((share) => !isIn(share));
  await dropShares(tx, left, 'its deposits were not there when the batch was sent');
  for (const share of left) await tellPayment(tx, share.payment_id);
  return members.map((share) => share.payment_id);
}

const roomOfShare = (share: ShareRow): bigint =>
  roomOf({
    broughtUnits: BigInt(share.brought_units),
    netUnits: share.net_units === null ? null : BigInt(share.net_units),
  });

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
    await tx.query(
      `INSERT INTO incident (kind, key, details) VALUES ('sweep-overdue', $1, $2) ON CONFLICT (key) DO NOTHING`,
      [`sweep-overdue/${payment.id}`, { paymentId: payment.id, reason: planned.wait }],
    );
}

const startSweep = (tx: EntityManager, payment: PaymentRow, workflowId: string): Promise<unknown> =>
  requestSignal(tx, {
    workflow: workflowTypeOf(workflowId),
    workflowId,
    args: [workflowId.split('/')[1]!],
    signal: 'news',
    attributes: { MerchantId: payment.merchant_id, Currency: payment.currency!, Network: payment.network! },
  });

async function firstOpen(db: DataSource, owner: string): Promise<OpenIntent | null> {
  const all = (await intentsOwnedBy(db.manager, owner)).filter((intent) => !intent.booked && intent.status !== 'dead');
  // A sweep that was taken over may need another top-up, planned after it.
  const open = all.find((intent) => intent.kind === 'gas') ?? all[0];
  if (!open) return null;
  return { id: open.id, network: open.network as NetworkId, kind: open.kind, summary: await summaryOf(db, open) };
}

async function summaryOf(db: DataSource, intent: IntentRow): Promise<string> {
  const what = intent.kind === 'gas' ? 'Gas top-up' : 'Sweep';
  const to = intent.outputs.map((output) => output.address).join(', ');
  const [row] = (await db.query(
    `SELECT (SELECT slug FROM payment WHERE id = $1) AS slug,
            (SELECT count(*)::int FROM sweep_share WHERE intent_id = $2 AND dropped_at IS NULL) AS many`,
    [intent.payment_id, intent.id],
  )) as Array<{ slug: string | null; many: number }>;
  return `${what} of ${intent.currency} to ${to} for ${row?.slug ? `invoice ${row.slug}` : `${row?.many ?? 0} invoices`}`;
}

/** A queued payment that its batch has let go is swept by itself. */
export async function sweepAgain(tx: EntityManager, payment: PaymentRow): Promise<void> {
  const [dropped] = await tx.query<unknown[]>(
    'SELECT 1 FROM sweep_share WHERE payment_id = $1 AND dropped_at IS NOT NULL LIMIT 1',
    [payment.id],
  );
  if (!dropped) return;
  const own = { payment, deposits: await readyDeposits(tx, payment.id) };
  if (!own.deposits.length || isPlanned(await intentsOf(tx, payment.id), own.deposits)) return;
  if (await planAlone(tx, own)) await startSweep(tx, payment, sweepWorkflow(payment.id));
}

/** Sweeps what a transaction for other deposits has left of a payment's own; true where there is something. */
export async function sweepRest(
  tx: EntityManager,
  payment: PaymentRow,
  deposits: readonly DepositRow[],
  done: Parameters<typeof planRest>[3],
): Promise<boolean> {
  if (!(await planRest(tx, payment, deposits, done))) return false;
  await startSweep(tx, payment, sweepWorkflow(payment.id));
  return true;
}
