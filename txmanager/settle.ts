import type { EntityManager } from 'typeorm';
import { sweeperOf } from '../chains/evm/sweeper';
import { assetOf, isToken, networkOf } from '../domain/chains/assets';
import { externalSweepJournal, sweepJournal, type Journal } from '../domain/ledger/ledger';
import { onAccountJournal } from '../domain/ledger/on-account';
import { add, compare, fit, fromUnits } from '../domain/money';
import { valueOf } from '../domain/payments/payable';
import type { PaymentRow } from '../domain/payments/payment';
import { feeIn } from '../domain/sweeps/sweep';
import { settledFiat, settledJournal, settledPatch } from '../commands/payments/settled';
import { ratedOf, setAllocation, unsettledDeposits, type DepositRow } from '../db/payments/deposits';
import { failPoint } from '../db/fail-point';
import { attemptsOf, intentsOf, type AttemptRow, type PaymentIntent, type ShareRow } from '../db/txmanager/intents';
import { ensure } from '../db/ledger/ledger';
import { isFirstBatch } from '../db/sweeps/sweeps';
import { emitPaymentEvents, databaseNow, movePayment } from '../db/payments/payments';
import type { Ended } from './plan-sweep-alone';
import { bornByNet, failedSweeps, goesToMerchant, netOf, sweepRest } from './sweep-again';

/** `feeUnits`: the payment's part of what the transaction cost. */
type Swept = Readonly<{ intent: PaymentIntent; attempt: AttemptRow; feeUnits: bigint }>;

/** SWEEP_QUEUED → SETTLED when every sweep of its deposits is final: fee re-run on what moving them cost, J2 and J3 (or
 *  J3x), stamped figures and the event, all in the caller's transaction. null while something is still under way.
 *  Row 17; Contract: 2.2, fee rules 3–5. */
export async function settleIfSwept(tx: EntityManager, payment: PaymentRow): Promise<PaymentRow | null> {
  const currency = payment.currency!;
  const deposits = await unsettledDeposits(tx, payment.id);
  const ids = deposits.map((deposit) => deposit.id);
  const known = await intentsOf(tx, payment.id);
  const failed = await failedSweeps(tx, known, ids);
  const done = await finalSweeps(tx, known, ids);
  if (!done) return null;
  const net = netOf(payment, deposits, failed);
  if (!isMadeGood(payment, done, failed)) return null;
  if (networkOf(currency).kind === 'account' && (await sweepRest(tx, payment, { deposits, done, failed }))) return null;

  const chainFees = done.reduce((sum, { feeUnits }) => sum + feeUnits, 0n);
  return settleAs(tx, payment, deposits, {
    cause: 'swept',
    txIds: done.map(({ attempt }) => attempt.tx_id),
    chainFees,
    networkFee: add(
      await networkFee(tx, payment, done, chainFees),
      payment.custody === 'external'
        ? bornByNet(payment, net, { sent: sentToMerchant(payment, done), chainFees })
        : '0',
    ),
    journals: (_paid, fiat) =>
      done.filter(({ intent }) => intent.kind === 'sweep').map((swept) => journalOf(payment, swept, fiat)),
  });
}

/** The same of what came to the account that payments share: it has arrived where it is spent from, and nothing was
 *  paid for that. `deposits`: all of the payment's, confirmed. */
export const settleOnAccount = (
  tx: EntityManager,
  payment: PaymentRow,
  deposits: readonly DepositRow[],
): Promise<PaymentRow> =>
  settleAs(tx, payment, deposits, {
    cause: 'on-account',
    txIds: deposits.map((deposit) => deposit.tx_id),
    chainFees: 0n,
    networkFee: '0',
    journals: (paid) => [onAccountJournal({ id: payment.id, currency: payment.currency!, amount: paid })],
  });

type Fiat = ReturnType<typeof settledFiat>;
/** How a payment's money has come to its settlement address. `networkFee`: in its currency. `journals`: J3. */
type Settlement = Readonly<{
  cause: string;
  txIds: readonly string[];
  chainFees: bigint;
  networkFee: string;
  journals: (paid: string, fiat: Fiat) => readonly Journal[];
}>;

async function settleAs(
  tx: EntityManager,
  payment: PaymentRow,
  deposits: readonly DepositRow[],
  { cause, txIds, chainFees, networkFee: fee, journals }: Settlement,
): Promise<PaymentRow> {
  const { decimals } = assetOf(payment.currency!);
  const paid = fit(add('0', ...deposits.map((deposit) => deposit.amount)), decimals, 'down');
  const settled = { paid, value: valueOf(deposits.map(ratedOf)), networkFee: fee };
  const moved = await movePayment(tx, payment, {
    to: 'SETTLED',
    cause,
    events: ['payment.settled'],
    patch: settledPatch(payment, settled, await databaseNow(tx)),
    details: { txIds, chainFees: chainFees.toString() },
  });
  await ensure(tx, settledJournal(payment, settled));
  for (const one of journals(paid, settledFiat(payment, settled))) await ensure(tx, one);
  await setAllocation(
    tx,
    deposits.map((deposit) => deposit.id),
    'settled',
  );
  await emitPaymentEvents(tx, payment, moved, ['payment.settled']);
  await failPoint('settle.beforeCommit');
  return moved;
}

/** What moved these deposits; null while one of them is not swept, or anything of theirs is not over. What has failed
 *  is not among it. */
async function finalSweeps(
  tx: EntityManager,
  known: readonly PaymentIntent[],
  ids: readonly string[],
): Promise<Swept[] | null> {
  const intents = known.filter(
    (intent) => intent.deposit_ids.every((id) => ids.includes(id)) && !['dead', 'failed'].includes(intent.status),
  );
  const sweeps = intents.filter((intent) => intent.kind === 'sweep');
  const isCovered = ids.length > 0 && ids.every((id) => sweeps.some((intent) => intent.deposit_ids.includes(id)));
  if (!isCovered || intents.some((intent) => intent.status !== 'final')) return null;

  const done: Swept[] = [];
  for (const intent of intents) {
    const attempt = (await attemptsOf(tx, intent.id)).find((candidate) => candidate.status === 'final');
    const fee = intent.share ? intent.share.fee_units : attempt?.fee_units;
    if (!attempt?.success || fee === null || fee === undefined) return null;
    done.push({ intent, attempt, feeUnits: BigInt(fee) });
  }
  return done;
}

/** Has what failed been planned again, and sent? With custody external our own part is ours wherever it lies. */
function isMadeGood(payment: PaymentRow, done: readonly Swept[], failed: readonly Ended[]): boolean {
  const isLater = (one: PaymentIntent, than: PaymentIntent): boolean =>
    one.kind === 'sweep' && one.from_address === than.from_address && one.created_at > than.created_at;
  return failed
    .filter(({ intent }) => payment.custody === 'platform' || goesToMerchant(payment, intent))
    .every(({ intent }) => done.some((one) => isLater(one.intent, intent)));
}

/** What has come to the settlement address of a payment. */
function sentToMerchant(payment: PaymentRow, done: readonly Swept[]): string {
  const units = done
    .filter(({ intent }) => intent.kind === 'sweep')
    .reduce(
      (sum, { intent, attempt, feeUnits }) =>
        sum +
        (intent.share ? sentOfShare(intent.share, feeUnits) : sentBy(attempt, payment.settlement_address!)).toMerchant,
      0n,
    );
  return fromUnits(units, assetOf(payment.currency!).decimals);
}

/** The network fee in the payment's currency: what the chain took; with custody external the provision, because the net
 *  was fixed when the sweep was planned; and of a merchant's first batch of tokens the provision at the most. */
async function networkFee(
  tx: EntityManager,
  payment: PaymentRow,
  done: readonly Swept[],
  chainFees: bigint,
): Promise<string> {
  const provision = payment.network_fee_amount!;
  if (payment.custody === 'external') return provision;
  const taken = feeIn(payment.currency!, chainFees, payment.native_rate!);
  return compare(taken, provision) > 0 && (await makesDelegate(tx, payment, done)) ? provision : taken;
}

/** How a sweep of the payment is booked. */
function journalOf(payment: PaymentRow, { intent, attempt, feeUnits }: Swept, fiat: Fiat): Journal {
  const currency = payment.currency!;
  const { decimals } = assetOf(currency);
  const { native } = networkOf(currency);
  const isTokenBatch = intent.share !== null && currency !== native;
  const sent = intent.share
    ? sentOfShare(intent.share, isTokenBatch ? 0n : feeUnits)
    : sentBy(attempt, payment.settlement_address!);
  const common = {
    ...(isTokenBatch ? { feeFrom: 'A:gas' as const } : {}),
    ref: intent.share ? `${intent.id}/${payment.id}` : intent.id,
    currency,
    native,
    chainFee: fromUnits(feeUnits, assetOf(native).decimals),
  };
  // Operators have said that it did not reach the merchant: he keeps what he is credited.
  if (attempt.decision === 'failed') return sweepJournal({ ...common, moved: '0' });
  if (payment.custody === 'external')
    return externalSweepJournal({
      ...common,
      merchantId: payment.merchant_id,
      paymentId: payment.id,
      net: fromUnits(sent.toMerchant, decimals),
      feePart: fromUnits(sent.rest, decimals),
      details: { txId: attempt.tx_id, ...fiat },
    });
  return sweepJournal({
    ...common,
    moved: fromUnits(sent.toMerchant + sent.rest, decimals),
  });
}

/** The first batch of tokens to an address also makes a contract that all later ones use: what that costs is the
 *  platform's, and its payments bear no more than was quoted. */
async function makesDelegate(tx: EntityManager, payment: PaymentRow, done: readonly Swept[]): Promise<boolean> {
  for (const { intent } of done)
    if (intent.share && isToken(payment.currency!)) {
      const sweeper = sweeperOf(intent.from_address).address;
      if (await isFirstBatch(tx, intent, { destination: payment.settlement_address!, sweeper })) return true;
    }
  return false;
}

type Sent = Readonly<{ toMerchant: bigint; rest: bigint }>;

/** What a payment's own transaction brought to the settlement address, and beside it. */
function sentBy(attempt: AttemptRow, settlementAddress: string): Sent {
  const sum = (outputs: AttemptRow['outputs']): bigint =>
    outputs.reduce((total, output) => total + BigInt(output.units), 0n);
  return {
    toMerchant: sum(attempt.outputs.filter((output) => output.address === settlementAddress)),
    rest: sum(attempt.outputs.filter((output) => output.address !== settlementAddress)),
  };
}

/** The same of its part in a batch: of what it brought, all but its part of the fee where its coins paid that. */
function sentOfShare(share: ShareRow, feeUnits: bigint): Sent {
  const net = share.net_units === null ? null : BigInt(share.net_units);
  const brought = BigInt(share.brought_units);
  return net === null
    ? { toMerchant: brought - feeUnits, rest: 0n }
    : { toMerchant: net, rest: brought - net - feeUnits };
}
