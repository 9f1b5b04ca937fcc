import type { EntityManager } from 'typeorm';
import { networkOf } from '../domain/chains/assets';
import { add, isPositive, smaller, subtract } from '../domain/money';
import type { PaymentRow } from '../domain/payments/payment';
import { splitPaid } from '../domain/pricing/quote';
import { feeIn } from '../domain/sweeps/sweep';
import { startSweep } from '../db/chains/notify';
import { openIncidentAgain } from '../db/incidents';
import type { DepositRow } from '../db/payments/deposits';
import { triesSince } from '../db/sweeps/tries';
import { attemptsOf, intentsOf, type PaymentIntent } from '../db/txmanager/intents';
import { isOpen } from './next-intent';
import { planAlone, planRest, type Ended } from './plan-sweep-alone';
import { isPlanned, readyDeposits } from './sweep-terms';

/** How many transactions of a payment's own sweep may fail before operators look at it. */
const mostTries = 3;

/** The transactions of a payment's own sweeps that have failed in a final block. `ids`: its deposits. */
export async function failedSweeps(
  tx: EntityManager,
  known: readonly PaymentIntent[],
  ids: readonly string[],
): Promise<Ended[]> {
  const failed: Ended[] = [];
  for (const intent of known) {
    const isOfThese = intent.share === null && intent.deposit_ids.every((id) => ids.includes(id));
    if (intent.kind !== 'sweep' || intent.status !== 'failed' || !isOfThese) continue;
    const attempt = (await attemptsOf(tx, intent.id)).find(({ status }) => status === 'final');
    if (attempt) failed.push({ intent, attempt });
  }
  return failed;
}

/** Custody external: what the merchant's address gets by the quote, and what is left of that by the fees of the
 *  transactions to it that have failed (`failedUnits`). Who has chosen an address bears what reaching it takes. */
export function netOf(
  payment: PaymentRow,
  deposits: ReadonlyArray<Pick<DepositRow, 'amount'>>,
  failed: readonly Ended[],
): Readonly<{ quoted: string; left: string; failedUnits: bigint }> {
  const currency = payment.currency!;
  const paid = add('0', ...deposits.map(({ amount }) => amount));
  const provision = payment.network_fee_amount!;
  const failedUnits = failed
    .filter(({ intent }) => goesToMerchant(payment, intent))
    .reduce((sum, { attempt }) => sum + BigInt(attempt.fee_units ?? '0'), 0n);
  const fees = feeIn(currency, failedUnits, payment.native_rate!);
  const netAt = (networkFee: string): string => splitPaid(paid, currency, payment.fee_bps, networkFee).net;
  return { quoted: netAt(provision), left: netAt(add(provision, fees)), failedUnits };
}

/** Custody external: the network fee above the provision, as far as the merchant got less for it (`sent`): what the
 *  chain took, also for transactions to him that have failed. What he got less than that stays his. */
export function bornByNet(
  payment: PaymentRow,
  { quoted, failedUnits }: ReturnType<typeof netOf>,
  { sent, chainFees }: Readonly<{ sent: string; chainFees: bigint }>,
): string {
  const taken = feeIn(payment.currency!, chainFees + failedUnits, payment.native_rate!);
  const [less, above] = [subtract(quoted, sent), subtract(taken, payment.network_fee_amount!)];
  const born = smaller(less, above);
  return isPositive(born) ? born : '0';
}

/** Does it pay the merchant, and not us? */
export const goesToMerchant = (payment: PaymentRow, { outputs }: Pick<PaymentIntent, 'outputs'>): boolean =>
  payment.custody === 'external' && outputs[0]?.address === payment.settlement_address;

/** A queued payment whose own sweep has failed, or that its batch has dropped, is swept by itself. */
export async function sweepAgain(tx: EntityManager, payment: PaymentRow): Promise<void> {
  const deposits = await readyDeposits(tx, payment.id);
  if (!deposits.length) return;
  const known = await intentsOf(tx, payment.id);
  const ids = deposits.map(({ id }) => id);
  const failed = await failedSweeps(tx, known, ids);
  if (failed.length) {
    if (known.some(isOpen) || networkOf(payment.currency!).kind !== 'account') return;
    const done = await endedWell(tx, known, ids);
    await planAgain(tx, payment, { deposits, done, failed });
    return;
  }
  const [dropped] = await tx.query<unknown[]>(
    'SELECT 1 FROM sweep_share WHERE payment_id = $1 AND dropped_at IS NOT NULL LIMIT 1',
    [payment.id],
  );
  if (!dropped || isPlanned(known, deposits)) return;
  if (await planAlone(tx, { payment, deposits })) await startSweep(tx, payment, { kind: 'sweep', id: payment.id });
}

type Sent = Readonly<{ deposits: readonly DepositRow[]; done: readonly Ended[]; failed: readonly Ended[] }>;

/** Sweeps what is left of a payment's own where a transaction was signed for other deposits, or has failed beside
 *  others; true where there is something. */
export async function sweepRest(tx: EntityManager, payment: PaymentRow, sent: Sent): Promise<boolean> {
  const { done, failed } = sent;
  const isOfOthers = done.some(({ intent, attempt }) => intent.kind === 'sweep' && attempt.n <= intent.void_through);
  return isOfOthers || failed.length ? planAgain(tx, payment, sent) : false;
}

/** Plans what is left, unless too many have failed: operators say then that it is tried again. */
async function planAgain(tx: EntityManager, payment: PaymentRow, { deposits, done, failed }: Sent): Promise<boolean> {
  const { left } = netOf(payment, deposits, failed);
  const tries = await triesSince(
    tx,
    payment.id,
    failed.map(({ intent }) => intent.id),
  );
  const plan = (): Promise<boolean> => planRest(tx, payment, { deposits, ended: [...done, ...failed], net: left });
  if (tries < mostTries) {
    if (!(await plan())) return false;
    await startSweep(tx, payment, { kind: 'sweep', id: payment.id });
    return true;
  }
  await openIncidentAgain(tx, {
    kind: 'sweep-failed',
    subject: { kind: 'payment', id: payment.id },
    details: {
      paymentId: payment.id,
      currency: payment.currency,
      txIds: failed.map(({ attempt }) => attempt.tx_id),
    },
  });
  return false;
}

async function endedWell(tx: EntityManager, known: readonly PaymentIntent[], ids: readonly string[]): Promise<Ended[]> {
  const done: Ended[] = [];
  for (const intent of known) {
    if (intent.status !== 'final' || !intent.deposit_ids.every((id) => ids.includes(id))) continue;
    const attempt = (await attemptsOf(tx, intent.id)).find(({ status }) => status === 'final');
    if (attempt?.success) done.push({ intent, attempt });
  }
  return done;
}
