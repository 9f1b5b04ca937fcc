import type { DataSource, EntityManager } from 'typeorm';
import { assetOf, networkOf, type NetworkId } from '../domain/assets';
import { feeJournal, gasJournal } from '../domain/ledger';
import { add, fromUnits } from '../domain/money';
import { planSweep, type SweepSource } from '../domain/sweep';
import { DomainError } from '../domain/errors';
import { depositsById, unsettledDeposits } from '../db/deposits';
import { failPoint } from '../db/fail-point';
import { attemptsOf, intentsOf, lockIntent, planIntent, type IntentRow } from '../db/intents';
import { ensure } from '../db/ledger';
import { announce, lockPayment, movePayment } from '../db/payments';
import { requestSignal } from '../db/temporal-requests';
import type { PaymentDeps } from './payments';
import { lockPurpose } from './purposes';

/** An intent that its workflow carries next. */
export type OpenIntent = Readonly<{ id: string; network: NetworkId; kind: string; summary: string }>;
/** What comes next: an intent, a pause because nothing can be planned now, or nothing more. */
export type NextIntent = OpenIntent | Readonly<{ lookAgainInMs: number; reason: string }> | null;

/** Plans what moves a payment's money to its settlement, and books what that cost. */
export const sweepActivities = ({ db }: Pick<PaymentDeps, 'db'>) => ({
  /** CONFIRMED → SWEEP_QUEUED with its intents (row 15), or nothing while moving costs more than it brings or the fee estimate is
   *  old. The same deposits always find the same intents. Returns whether sweeps are under way. */
  queueSweep: (paymentId: string): Promise<{ queued: boolean; reason?: string }> =>
    db.transaction(async (tx) => {
      const payment = await lockPayment(tx, paymentId);
      if (payment.status !== 'CONFIRMED' || !payment.currency)
        return { queued: payment.status === 'SWEEP_QUEUED', reason: payment.status };
      const deposits = await unsettledDeposits(tx, paymentId);
      const known = await intentsOf(tx, paymentId);
      const depositIds = deposits.map((deposit) => deposit.id);
      const isPlanned =
        depositIds.length > 0 &&
        depositIds.every((id) =>
          known.some(
            (intent) => intent.kind === 'sweep' && isOf(intent, depositIds) && intent.deposit_ids.includes(id),
          ),
        );
      if (!isPlanned) {
        const planned = await plan(tx, paymentId);
        if (!planned) return { queued: false, reason: 'moving it would cost more than it is worth now' };
        const owner = `sweep/${paymentId}`;
        for (const [index, intent] of planned.entries()) {
          await planIntent(tx, {
            kind: intent.kind,
            ref: `${paymentId}/${known.length + index + 1}`,
            network: networkOf(intent.currency).id,
            currency: intent.currency,
            from_address: intent.from,
            outputs: [...intent.outputs],
            deposit_ids: [...intent.depositIds],
            max_unit_price: intent.maxUnitPrice,
            payment_id: paymentId,
            merchant_id: payment.merchant_id,
            owner_workflow: owner,
          });
        }
      }
      const moved = await movePayment(tx, payment, {
        to: 'SWEEP_QUEUED',
        cause: 'sweep-planned',
        events: ['payment.sweep_queued'],
        patch: { sweep_state: 'queued' },
        details: { depositIds },
      });
      await requestSignal(tx, {
        workflow: 'sweep',
        workflowId: `sweep/${paymentId}`,
        args: [paymentId],
        signal: 'news',
        attributes: { MerchantId: payment.merchant_id, Currency: payment.currency, Network: payment.network! },
      });
      await announce(tx, payment, moved, ['payment.sweep_queued']);
      return { queued: true };
    }),

  /** The first intent of a payment whose end is not booked; null when all are. */
  async nextIntent(paymentId: string): Promise<OpenIntent | null> {
    const open = (await intentsOf(db.manager, paymentId)).find((intent) => !intent.booked && intent.status !== 'dead');
    if (!open) return null;
    return { id: open.id, network: open.network as NetworkId, kind: open.kind, summary: await summaryOf(db, open) };
  },

  /** Books an intent at its end: a top-up as J4, a reverted transaction's fee as cost, a sweep with its settlement, of which it
   *  tells the payment's workflow, what leaves with the end of its own row. Safe to repeat: journals have one key each. */
  finishIntent: (intentId: string): Promise<{ status: IntentRow['status'] }> =>
    db.transaction(async (tx) => {
      const purpose = await lockPurpose(tx, intentId);
      const intent = await lockIntent(tx, intentId);
      const mined = (await attemptsOf(tx, intentId)).find((attempt) => attempt.status === 'final');
      if (!mined) return { status: intent.status };
      const topped = intent.kind === 'gas' ? intent.outputs[0]!.address : intent.from_address;
      const home = (await isTreasury(tx, intent.network, topped)) ? 'A:treasury' : 'A:deposit';
      const native = networkOf(intent.currency).native;
      const chainFee = fromUnits(BigInt(mined.fee_units ?? '0'), assetOf(native).decimals);
      if (!mined.success) {
        await ensure(
          tx,
          feeJournal({
            txId: mined.tx_id,
            native,
            chainFee,
            from: intent.kind === 'gas' ? 'A:gas' : home,
          }),
        );
        await tx.query(
          `INSERT INTO incident (kind, key, details) VALUES ('transaction-reverted', $1, $2) ON CONFLICT (key) DO NOTHING`,
          [`transaction-reverted/${mined.tx_id}`, { intentId, paymentId: intent.payment_id, txId: mined.tx_id }],
        );
      } else if (intent.kind === 'gas') {
        const value = fromUnits(BigInt(mined.moved_units), assetOf(native).decimals);
        await ensure(tx, gasJournal({ intentId, native, value, chainFee, to: home }));
      } else if (intent.kind === 'sweep') {
        await tx.query(
          `UPDATE payment SET sweep_state = 'confirmed', sweep_tx_id = $2 WHERE id = $1 AND status = 'SWEEP_QUEUED'`,
          [intent.payment_id, mined.tx_id],
        );
        await requestSignal(tx, {
          workflow: 'payment',
          workflowId: `payment/${intent.payment_id}`,
          args: [intent.payment_id!],
          signal: 'news',
          attributes: {},
        });
      }
      await tx.query('UPDATE intent SET booked = true, updated_at = now() WHERE id = $1', [intentId]);
      await purpose?.ended(mined);
      await failPoint('finish.beforeCommit');
      return { status: intent.status };
    }),
});

async function isTreasury(tx: EntityManager, network: string, address: string): Promise<boolean> {
  const rows = await tx.query<unknown[]>(
    `SELECT FROM address WHERE network = $1 AND address = $2 AND role = 'treasury'`,
    [network, address],
  );
  return rows.length > 0;
}

const isOf = (intent: IntentRow, depositIds: readonly string[]): boolean =>
  !['failed', 'dead'].includes(intent.status) && intent.deposit_ids.every((id) => depositIds.includes(id));

async function summaryOf(db: DataSource, intent: IntentRow): Promise<string> {
  const what = intent.kind === 'gas' ? 'Gas top-up' : 'Sweep';
  const to = intent.outputs.map((output) => output.address).join(', ');
  const [payment] = (await db.query('SELECT slug FROM payment WHERE id = $1', [intent.payment_id])) as Array<{
    slug: string;
  }>;
  return `${what} of ${intent.currency} to ${to} for invoice ${payment?.slug ?? '?'}`;
}

/** Reads what planning needs: deposits by address, fee estimate, our treasury and gas addresses. */
async function plan(tx: EntityManager, paymentId: string) {
  const payment = await lockPayment(tx, paymentId);
  const currency = payment.currency!;
  const network = networkOf(currency);
  const [fee] = await tx.query<Array<{ unit_price: string }>>(
    `SELECT unit_price::text FROM network_fee WHERE network = $1 AND taken_at > now() - interval '10 minutes'`,
    [network.id],
  );
  if (!fee) throw new DomainError('UPSTREAM_UNAVAILABLE', `No fresh fee estimate for ${network.id}`);
  const own = await tx.query<Array<{ role: string; address: string }>>(
    `SELECT role, address FROM address WHERE network = $1 AND role IN ('treasury', 'gas') AND key_index = 0`,
    [network.id],
  );
  const ownAddress = (role: string): string => {
    const found = own.find((row) => row.role === role);
    if (!found)
      throw new DomainError(
        'UPSTREAM_UNAVAILABLE',
        `No ${role} address on ${network.id}: the signer has not registered its keys`,
      );
    return found.address;
  };
  const sources = new Map<string, SweepSource>();
  for (const deposit of await depositsById(
    tx,
    (await unsettledDeposits(tx, paymentId)).map((row) => row.id),
  )) {
    const source = sources.get(deposit.address);
    sources.set(deposit.address, {
      address: deposit.address,
      depositIds: [...(source?.depositIds ?? []), deposit.id],
      amount: add(source?.amount ?? '0', deposit.amount),
    });
  }
  return planSweep({
    currency,
    sources: [...sources.values()],
    custody: payment.custody!,
    settlementAddress: payment.settlement_address!,
    feeAddress: ownAddress('treasury'),
    gasAddress: ownAddress('gas'),
    feeBps: payment.fee_bps,
    networkFee: payment.network_fee_amount!,
    unitPrice: fee.unit_price,
    nativeRate: payment.native_rate!,
  });
}
