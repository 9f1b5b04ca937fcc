import type { EntityManager } from 'typeorm';
import { assetOf, isToken, networkOf } from '../domain/chains/assets';
import { accountOf, gasFor } from '../domain/chains/costs';
import { add, compare, divide, fromUnits, isPositive, larger, subtract, times } from '../domain/money';
import type { PaymentRow } from '../domain/payments/payment';
import { unitsTaken } from '../domain/txmanager/differing';
import { bumpedPrice } from '../domain/txmanager/fee-limits';
import { goOnWith, planSweep, type PlannedIntent, type PlannedOutput, type SweepSource } from '../domain/sweeps/sweep';
import { freshUnitPrice } from '../db/chains/fees';
import { depositsById, type DepositRow } from '../db/payments/deposits';
import { planIntent, type AttemptRow, type PaymentIntent } from '../db/txmanager/intents';
import { repointIntent, supersede, type OrphanedIntent } from '../db/sweeps/orphaned';
import { countLanes } from '../db/treasury/lanes';
import { comingIn, ownAddress, treasurySources } from '../db/treasury/treasury';
import { laneToFill } from '../domain/treasury/lanes';
import { comingTo } from './float';
import { gasWalletFor } from './gas-wallet';
import { type Ready, orphanedFor } from './sweep-terms';

/** Sweeps of one payment. */

/** An intent, and the transaction of it that is in a final block. */
export type Ended = Readonly<{ intent: PaymentIntent; attempt: AttemptRow }>;

/** What deposits brought to each address. */
function sourcesOf(deposits: readonly DepositRow[]): SweepSource[] {
  const sources = new Map<string, SweepSource>();
  for (const deposit of deposits) {
    const source = sources.get(deposit.address);
    sources.set(deposit.address, {
      address: deposit.address,
      depositIds: [...(source?.depositIds ?? []), deposit.id],
      amount: add(source?.amount ?? '0', deposit.amount),
    });
  }
  return [...sources.values()];
}

/** Plans a payment's sweep by itself. What is signed for deposits that are gone goes on with these. Returns false while
 *  moving it would cost more than it brings. Throws where an estimate is old. */
export async function planAlone(tx: EntityManager, ready: Ready, settlementGas?: bigint): Promise<boolean> {
  const { payment, deposits } = ready;
  const planned = await planFrom(tx, payment, sourcesOf(deposits), { settlementGas });
  const plan = planned && goOnWith(planned, await orphanedFor(tx, ready), networkOf(payment.currency!).kind);
  if (!plan) return false;
  for (const old of plan.superseded) await supersede(tx, old.id);
  const fresh = [...plan.fresh];
  for (const { intent, old } of plan.reassigned) {
    const gas = plan.reassigned.find(
      (one) => one.intent.kind === 'gas' && one.intent.outputs[0]!.address === intent.from,
    );
    const more = await reassign(tx, payment, { intent, old }, gas?.old.signed ? gas.intent : null);
    if (more) fresh.push(more);
  }
  await record(tx, payment, fresh);
  return true;
}

/** Has what is signed go on for another payment's deposits, or for other deposits of its own. `gas`: what would buy its
 *  gas, where the old top-up does that already. Returns it where the old one would not pay for another attempt. */
async function reassign(
  tx: EntityManager,
  payment: PaymentRow,
  { intent, old }: { intent: PlannedIntent; old: OrphanedIntent },
  gas: PlannedIntent | null,
): Promise<PlannedIntent | null> {
  const isGas = intent.kind === 'gas';
  const totalOf = async (ids: readonly string[]): Promise<string> =>
    add('0', ...(await depositsById(tx, ids)).map((deposit) => deposit.amount));
  const isSame =
    isGas ||
    (sameOutputs(old.outputs, intent.outputs) &&
      (networkOf(intent.currency).kind === 'utxo'
        ? sameIds(old.deposit_ids, intent.depositIds)
        : compare(await totalOf(old.deposit_ids), await totalOf(intent.depositIds)) === 0));
  const cap = gas ? old.max_unit_price : intent.maxUnitPrice;
  // Its signed transactions can be mined; those that are void must be replaced, at a higher price.
  const least = old.unit_price === null ? '0' : isSame ? old.unit_price : bumpedPrice(old.unit_price, '0');
  const isAtCap = gas !== null && !isGas && !isSame && compare(least, cap) > 0;
  // The gas of a token was bought for it, and there is no more.
  const isBought = isToken(intent.currency) && !isSame;
  const allowed = isAtCap ? add(cap, intent.maxUnitPrice) : isBought ? cap : larger(cap, least);
  await repointIntent(
    tx,
    old,
    {
      outputs: isGas && old.signed ? old.outputs : [...intent.outputs],
      deposit_ids: [...intent.depositIds],
      max_unit_price: allowed,
      fee_budget: times(intent.feeBudget, divide(allowed, intent.maxUnitPrice, 18, 'up'), 0, 'up'),
      payment_id: payment.id,
      merchant_id: payment.merchant_id,
      owner_kind: 'sweep',
      owner_id: payment.id,
    },
    isSame,
  );
  return isAtCap ? gas : null;
}

const sameIds = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((id) => b.includes(id));

const sameOutputs = (a: readonly PlannedOutput[], b: readonly PlannedOutput[]): boolean =>
  a.length === b.length && a.every((one, n) => one.address === b[n]!.address && one.units === b[n]!.units);

/** Where our part of a sweep goes: to the lane that is furthest below its share. */
async function feeAddressOf(tx: EntityManager, { currency, custody }: PaymentRow): Promise<string> {
  const { id, kind } = networkOf(currency!);
  const first = await ownAddress(tx, id, 'treasury');
  if (kind === 'utxo' || custody === 'platform' || (await countLanes(tx, id)).used < 2) return first;
  const coming = comingTo(await comingIn(tx, id, currency!));
  return laneToFill(await treasurySources(tx, currency!), coming)?.address ?? first;
}

/** Who buys the gas of tokens at these addresses; null where they need none. */
async function gasAddressOf(
  tx: EntityManager,
  currency: string,
  sources: readonly SweepSource[],
  unitPrice: string,
): Promise<string | null> {
  if (!isToken(currency)) return null;
  const network = accountOf(currency);
  // To the merchant and to us.
  return gasWalletFor(tx, network.id, null, BigInt(gasFor(network, unitPrice, 2 * sources.length).units));
}

/** What must be sent for these sources, at today's price; null while that would cost more than it brings. */
const planFrom = async (
  tx: EntityManager,
  payment: PaymentRow,
  sources: readonly SweepSource[],
  known: Readonly<{ netLeft?: string; settlementGas?: bigint | undefined }> = {},
): Promise<PlannedIntent[] | null> => {
  const unitPrice = await freshUnitPrice(tx, networkOf(payment.currency!).id);
  return planSweep({
    currency: payment.currency!,
    sources,
    custody: payment.custody!,
    settlementAddress: payment.settlement_address!,
    ...(known.netLeft === undefined ? {} : { netLeft: known.netLeft }),
    ...(known.settlementGas === undefined ? {} : { settlementGas: known.settlementGas }),
    feeAddress: await feeAddressOf(tx, payment),
    gasAddress: await gasAddressOf(tx, payment.currency!, sources, unitPrice),
    feeBps: payment.fee_bps,
    networkFee: payment.network_fee_amount!,
    unitPrice,
    nativeRate: payment.native_rate!,
  });
};

async function record(tx: EntityManager, payment: PaymentRow, planned: readonly PlannedIntent[]): Promise<void> {
  const [count] = await tx.query<Array<{ n: number }>>('SELECT count(*)::int AS n FROM intent WHERE payment_id = $1', [
    payment.id,
  ]);
  let n = count!.n;
  for (const intent of planned) {
    // A number may be in use by what was reassigned to another payment.
    let id: string | null = null;
    while (id === null)
      id = await planIntent(tx, {
        kind: intent.kind,
        ref: `${payment.id}/${++n}`,
        network: networkOf(payment.currency!).id,
        currency: intent.currency,
        from_address: intent.from,
        outputs: [...intent.outputs],
        deposit_ids: [...intent.depositIds],
        max_unit_price: intent.maxUnitPrice,
        fee_budget: intent.feeBudget,
        payment_id: payment.id,
        merchant_id: payment.merchant_id,
        owner_kind: 'sweep',
        owner_id: payment.id,
      });
  }
}

/** Plans what transactions have left of a payment's deposits: one that was signed for others of them, or has failed.
 *  `net`: with custody external what the merchant's address gets in all. Returns false where that is nothing, or not
 *  worth moving. */
export async function planRest(
  tx: EntityManager,
  payment: PaymentRow,
  { deposits, ended, net }: Readonly<{ deposits: readonly DepositRow[]; ended: readonly Ended[]; net: string }>,
): Promise<boolean> {
  const sweeps = ended.filter(({ intent }) => intent.kind === 'sweep');
  const { decimals, contract } = assetOf(payment.currency!);
  const takenUnits = (address: string): bigint =>
    sweeps
      .filter(({ attempt }) => attempt.from_address === address)
      .reduce((sum, { attempt }) => {
        return sum + unitsTaken(attempt, address) + (contract === null ? BigInt(attempt.fee_units!) : 0n);
      }, 0n);
  const rests = sourcesOf(deposits)
    .map((source) => ({ ...source, amount: subtract(source.amount, fromUnits(takenUnits(source.address), decimals)) }))
    .filter((source) => isPositive(source.amount));
  if (!rests.length) return false;
  const settled = sweeps
    .flatMap(({ attempt }) => (attempt.success ? attempt.outputs : []))
    .filter((output) => output.address === payment.settlement_address)
    .reduce((sum, output) => sum + BigInt(output.units), 0n);
  const netLeft = subtract(net, fromUnits(settled, decimals));
  const planned = await planFrom(tx, payment, rests, { netLeft: isPositive(netLeft) ? netLeft : '0' });
  if (!planned?.some((intent) => intent.kind === 'sweep')) return false;
  await record(tx, payment, planned);
  return true;
}
