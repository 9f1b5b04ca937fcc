import type { EntityManager } from 'typeorm';
import { assetOf, networkOf } from '../domain/assets';
import { externalSweepJournal, settleJournal, sweepJournal } from '../domain/ledger';
import { add, fit, fromUnits } from '../domain/money';
import type { PaymentRow } from '../domain/payment';
import { splitPaid } from '../domain/quote';
import { feeIn } from '../domain/sweep';
import { setHome, unsettledDeposits } from '../db/deposits';
import { failPoint } from '../db/fail-point';
import { attemptsOf, intentsOf, type AttemptRow, type IntentRow } from '../db/intents';
import { ensure } from '../db/ledger';
import { announce, databaseNow, movePayment } from '../db/payments';

type Swept = Readonly<{ intent: IntentRow; attempt: AttemptRow }>;

/** SWEEP_QUEUED → SETTLED when every sweep of its deposits is final: fee re-run on what moving them cost, J2 and J3 (or J3x),
 *  stamped figures and the event, all in the caller's transaction. null while something is still under way. The network fee is
 *  what the chain took; with custody external the provision, because the net was fixed when the sweep was planned. Row 17; Spec: 2.2, fee rules 3–5. */
export async function settleIfSwept(tx: EntityManager, payment: PaymentRow): Promise<PaymentRow | null> {
  const currency = payment.currency!;
  const { decimals } = assetOf(currency);
  const native = networkOf(currency).native;
  const nativeDecimals = assetOf(native).decimals;
  const deposits = await unsettledDeposits(tx, payment.id);
  const ids = deposits.map((deposit) => deposit.id);
  const intents = (await intentsOf(tx, payment.id)).filter(
    (intent) => intent.deposit_ids.every((id) => ids.includes(id)) && intent.status !== 'dead',
  );
  const sweeps = intents.filter((intent) => intent.kind === 'sweep');
  const isCovered = ids.length > 0 && ids.every((id) => sweeps.some((intent) => intent.deposit_ids.includes(id)));
  if (!isCovered || intents.some((intent) => intent.status !== 'final')) return null;

  const done: Swept[] = [];
  for (const intent of intents) {
    const attempt = (await attemptsOf(tx, intent.id)).find((candidate) => candidate.status === 'final');
    if (!attempt?.success || attempt.fee_units === null) return null;
    done.push({ intent, attempt });
  }
  const paid = fit(add('0', ...deposits.map((deposit) => deposit.amount)), decimals, 'down');
  const chainFees = done.reduce((sum, { attempt }) => sum + BigInt(attempt.fee_units!), 0n);
  const provision = payment.network_fee_amount!;
  const isExternal = payment.custody === 'external';
  const network = isExternal ? provision : feeIn(currency, chainFees, payment.native_rate!);
  const split = splitPaid(paid, currency, payment.fee_bps, network);

  const fiat = { fiatCurrency: payment.fiat_currency, fiatRate: payment.exchange_rate };

  const moved = await movePayment(tx, payment, {
    to: 'SETTLED',
    cause: 'swept',
    events: ['payment.settled'],
    patch: {
      settled_fee_amount: split.fee,
      settled_net_amount: split.net,
      settled_stamp_incomplete: false,
      amount_paid: paid,
      sweep_state: 'confirmed',
      settled_at: await databaseNow(tx),
    },
    details: { txIds: done.map(({ attempt }) => attempt.tx_id), chainFees: chainFees.toString() },
  });
  await ensure(
    tx,
    settleJournal({
      paymentId: payment.id,
      merchantId: payment.merchant_id,
      currency,
      net: split.net,
      commission: split.commission,
      network: split.network,
      txId: payment.tx_ids[0] ?? null,
      ...fiat,
    }),
  );
  for (const { intent, attempt } of done) {
    if (intent.kind !== 'sweep') continue;
    const chainFee = fromUnits(BigInt(attempt.fee_units!), nativeDecimals);
    const part = (match: (address: string) => boolean): string =>
      fromUnits(
        attempt.outputs
          .filter((output) => match(output.address))
          .reduce((sum, output) => sum + BigInt(output.units), 0n),
        decimals,
      );
    const common = { intentId: intent.id, currency, native, chainFee };
    await ensure(
      tx,
      isExternal
        ? externalSweepJournal({
            ...common,
            merchantId: payment.merchant_id,
            net: part((address) => address === payment.settlement_address),
            feePart: part((address) => address !== payment.settlement_address),
            entry: { sourceType: 'payment', sourceId: payment.id, txId: attempt.tx_id, ...fiat },
          })
        : sweepJournal({ ...common, moved: part(() => true) }),
    );
  }
  await setHome(tx, ids, 'settled');
  await announce(tx, payment, moved, ['payment.settled']);
  await failPoint('settle.beforeCommit');
  return moved;
}
