import type { EntityManager } from 'typeorm';
import { assetOf, baseUnits, isToken, networkOf } from '../domain/chains/assets';
import { batchLimitWork } from '../domain/chains/costs';
import { DomainError } from '../domain/errors';
import { newId } from '../domain/ids';
import { add, compare, divide, fromUnits, isPositive, larger, subtract, times } from '../domain/money';
import type { PaymentRow } from '../domain/payments/payment';
import { splitPaid } from '../domain/pricing/quote';
import { bumpedPrice, feeLimits } from '../domain/txmanager/fee-limits';
import {
  goOnWith,
  planSweep,
  sweepCost,
  tokenFee,
  type PlannedIntent,
  type PlannedOutput,
  type SweepSource,
} from '../domain/sweeps/sweep';
import type { Config } from '../domain/config';
import { batchLimit, chooseBatch, coinFee, isDear, sweepDeadlines, type Candidate } from '../domain/sweeps/sweep-batch';
import { depositsById, unsettledDeposits, type DepositRow } from '../db/payments/deposits';
import { intentsOf, planIntent, type AttemptRow, type PaymentIntent } from '../db/txmanager/intents';
import { repointIntent, setAside, strandedIntents, type StrandedIntent } from '../db/sweeps/stranded';
import { databaseNow, paymentColumns } from '../db/payments/payments';
import { countLanes } from '../db/treasury/lanes';
import { comingIn, ownAddress, treasurySources } from '../db/treasury/treasury';
import { laneToFill } from '../domain/treasury/lanes';
import { comingTo } from './float';
import { type IntentOwner } from '../domain/workflow-ids';

/** When a sweep may cost too much, and how long it waits for company or a better price. */
export type SweepTerms = Readonly<{
  batchSeconds: number;
  maxCostPct: number;
  maxWaitHours: number;
  /** Networks where a contract of ours sweeps the tokens of many. */
  sweepers: readonly string[];
}>;
export const termsOf = (config: Config): SweepTerms => ({
  batchSeconds: config.SWEEP_BATCH_SECONDS,
  maxCostPct: config.SWEEP_MAX_COST_PCT,
  maxWaitHours: config.SWEEP_MAX_WAIT_HOURS,
  sweepers: Object.keys(config.chain.sweepers),
});

/** A payment that can be swept now, and what of it is to be swept. */
export type Ready = Readonly<{ payment: PaymentRow; deposits: readonly DepositRow[] }>;

/** Native base units per unit of work. Throws where the last estimate is old. */
async function unitPriceOf(tx: EntityManager, network: string): Promise<string> {
  const [fee] = await tx.query<Array<{ unit_price: string }>>(
    `SELECT unit_price::text FROM network_fee WHERE network = $1 AND taken_at > now() - interval '10 minutes'`,
    [network],
  );
  if (!fee) throw new DomainError('UPSTREAM_UNAVAILABLE', `No fresh fee estimate for ${network}`);
  return fee.unit_price;
}

/** Is every one of these deposits moved by a sweep that can still succeed? */
export function isPlanned(known: readonly PaymentIntent[], deposits: readonly DepositRow[]): boolean {
  const ids = deposits.map((deposit) => deposit.id);
  const isOf = (intent: PaymentIntent): boolean =>
    !['failed', 'dead'].includes(intent.status) && intent.deposit_ids.every((id) => ids.includes(id));
  return (
    ids.length > 0 &&
    ids.every((id) =>
      known.some((intent) => intent.kind === 'sweep' && isOf(intent) && intent.deposit_ids.includes(id)),
    )
  );
}

/** Sweeps for deposits that are gone, which hold a nonce or a coin that this payment needs. */
const strandedFor = (tx: EntityManager, { payment, deposits }: Ready): Promise<StrandedIntent[]> =>
  strandedIntents(tx, {
    paymentId: payment.id,
    firstId: payment.parent_payment_id ?? payment.id,
    addresses: networkOf(payment.currency!).kind === 'utxo' ? [] : deposits.map((deposit) => deposit.address),
    depositIds: deposits.map((deposit) => deposit.id),
  });

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

/** Plans a payment's sweep by itself. What is signed for deposits that are gone goes on with these. Returns false while moving it would
 *  cost more than it brings. Throws where an estimate is old. */
export async function planAlone(tx: EntityManager, ready: Ready, settlementGas?: bigint): Promise<boolean> {
  const { payment, deposits } = ready;
  const planned = await planFrom(tx, payment, sourcesOf(deposits), { settlementGas });
  const plan = planned && goOnWith(planned, await strandedFor(tx, ready), networkOf(payment.currency!).kind);
  if (!plan) return false;
  for (const old of plan.aside) await setAside(tx, old.id);
  const fresh = [...plan.fresh];
  for (const { intent, old } of plan.taken) {
    const gas = plan.taken.find((one) => one.intent.kind === 'gas' && one.intent.outputs[0]!.address === intent.from);
    const more = await takeOver(tx, payment, { intent, old }, gas?.old.signed ? gas.intent : null);
    if (more) fresh.push(more);
  }
  await record(tx, payment, fresh);
  return true;
}

/** Has what is signed go on for another payment's deposits, or for other deposits of its own. `gas`: what would buy its gas, where the
 *  old top-up does that already. Returns it where the old one would not pay for another attempt. */
async function takeOver(
  tx: EntityManager,
  payment: PaymentRow,
  { intent, old }: { intent: PlannedIntent; old: StrandedIntent },
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
  // What is signed of it can be mined, and what is void must be replaced, at a higher price.
  const least = old.unit_price === null ? '0' : isSame ? old.unit_price : bumpedPrice(old.unit_price, '0');
  const isAtCap = gas !== null && !isGas && !isSame && compare(least, cap) > 0;
  // What a token may pay was bought for it.
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

/** What must be sent for these sources, at today's price; null while that would cost more than it brings. */
const planFrom = async (
  tx: EntityManager,
  payment: PaymentRow,
  sources: readonly SweepSource[],
  known: Readonly<{ netLeft?: string; settlementGas?: bigint | undefined }> = {},
): Promise<PlannedIntent[] | null> => {
  const network = networkOf(payment.currency!);
  return planSweep({
    currency: payment.currency!,
    sources,
    custody: payment.custody!,
    settlementAddress: payment.settlement_address!,
    ...(known.netLeft === undefined ? {} : { netLeft: known.netLeft }),
    ...(known.settlementGas === undefined ? {} : { settlementGas: known.settlementGas }),
    feeAddress: await feeAddressOf(tx, payment),
    gasAddress: await ownAddress(tx, network.id, 'gas'),
    feeBps: payment.fee_bps,
    networkFee: payment.network_fee_amount!,
    unitPrice: await unitPriceOf(tx, network.id),
    nativeRate: payment.native_rate!,
  });
};

async function record(tx: EntityManager, payment: PaymentRow, planned: readonly PlannedIntent[]): Promise<void> {
  const [count] = await tx.query<Array<{ n: number }>>('SELECT count(*)::int AS n FROM intent WHERE payment_id = $1', [
    payment.id,
  ]);
  let n = count!.n;
  for (const intent of planned) {
    // A number may be in use by what another payment has taken over.
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

/** An attempt that was signed for other deposits was mined all the same: plans what it has left where they were. Returns false where
 *  that is nothing, or not worth moving. */
export async function planRest(
  tx: EntityManager,
  payment: PaymentRow,
  deposits: readonly DepositRow[],
  done: ReadonlyArray<Readonly<{ intent: PaymentIntent; attempt: AttemptRow }>>,
): Promise<boolean> {
  const currency = payment.currency!;
  const sweeps = done.filter(({ intent }) => intent.kind === 'sweep');
  if (!sweeps.some(({ intent, attempt }) => attempt.n <= intent.void_through)) return false;
  const { decimals, contract } = assetOf(currency);
  const takenUnits = (address: string): bigint =>
    sweeps
      .filter(({ attempt }) => attempt.from_address === address)
      .reduce(
        (sum, { attempt }) => sum + BigInt(attempt.moved_units) + (contract === null ? BigInt(attempt.fee_units!) : 0n),
        0n,
      );
  const rests = sourcesOf(deposits)
    .map((source) => ({ ...source, amount: subtract(source.amount, fromUnits(takenUnits(source.address), decimals)) }))
    .filter((source) => isPositive(source.amount));
  if (!rests.length) return false;
  const paid = add('0', ...deposits.map((deposit) => deposit.amount));
  const { net } = splitPaid(paid, currency, payment.fee_bps, payment.network_fee_amount!);
  const settled = sweeps
    .flatMap(({ attempt }) => attempt.outputs)
    .filter((output) => output.address === payment.settlement_address)
    .reduce((sum, output) => sum + BigInt(output.units), 0n);
  const netLeft = subtract(net, fromUnits(settled, decimals));
  const planned = await planFrom(tx, payment, rests, { netLeft: isPositive(netLeft) ? netLeft : '0' });
  if (!planned?.some((intent) => intent.kind === 'sweep')) return false;
  await record(tx, payment, planned);
  return true;
}

/** Holds the row of a payment's group, where its sweep may be part of a batch, until the transaction ends: to be called before any
 *  payment is locked. */
export async function lockGroup(tx: EntityManager, paymentId: string, terms: SweepTerms): Promise<void> {
  const [group] = await tx.query<
    Array<Pick<PaymentRow, 'merchant_id' | 'currency' | 'settlement_address' | 'custody'>>
  >(`SELECT merchant_id, currency, settlement_address, custody FROM payment WHERE id = $1 AND status = 'CONFIRMED'`, [
    paymentId,
  ]);
  if (!group || !canBatch(group, terms)) return;
  const key = [group.merchant_id, group.currency, group.settlement_address];
  await tx.query('INSERT INTO sweep_group VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', key);
  await tx.query(
    'SELECT FROM sweep_group WHERE merchant_id = $1 AND currency = $2 AND settlement_address = $3 FOR UPDATE',
    key,
  );
}

/** Coins always; tokens where the sweeper is there, and all of it goes to one address. Native coins of accounts go one by one. */
function canBatch({ currency, custody }: Pick<PaymentRow, 'currency' | 'custody'>, terms: SweepTerms): boolean {
  const { id, kind } = networkOf(currency!);
  return kind === 'utxo' || (isToken(currency!) && terms.sweepers.includes(id) && custody === 'platform');
}

/** Other payments that are ready for the same settlement address, locked: one that somebody else holds is left for its own turn. */
async function batchCandidatesOf(tx: EntityManager, payment: PaymentRow): Promise<Ready[]> {
  const rows = await tx.query<PaymentRow[]>(
    `SELECT ${paymentColumns} FROM payment p
      WHERE status = 'CONFIRMED' AND merchant_id = $1 AND currency = $2 AND settlement_address = $3 AND custody = $4 AND id <> $5
      ORDER BY id LIMIT ${batchLimit - 1} FOR UPDATE SKIP LOCKED`,
    [payment.merchant_id, payment.currency, payment.settlement_address, payment.custody, payment.id],
  );
  const ready: Ready[] = [];
  for (const row of rows) {
    const deposits = await readyDeposits(tx, row.id);
    const one = { payment: row, deposits };
    if (!deposits.length || isPlanned(await intentsOf(tx, row.id), deposits)) continue;
    if (!(await strandedFor(tx, one)).length) ready.push(one);
  }
  return ready;
}

function candidateOf({ payment, deposits }: Ready, isDue: boolean): Candidate {
  const currency = payment.currency!;
  const paid = add('0', ...deposits.map((deposit) => deposit.amount));
  const net =
    payment.custody === 'external' ? splitPaid(paid, currency, payment.fee_bps, payment.network_fee_amount!).net : null;
  return {
    paymentId: payment.id,
    inputs: deposits.length,
    nativeRate: payment.native_rate!,
    broughtUnits: baseUnits(currency, paid),
    netUnits: net === null ? null : baseUnits(currency, net),
    isDue,
  };
}

/** Plans one sweep of this payment and all that are ready to go with it. Returns those, itself first; null where it
 *  cannot pay for its own part, or is of coins and has no company. A token goes this way alone too: a top-up would leave
 *  most of itself on an address that is used once. */
async function planTogether(
  tx: EntityManager,
  own: Ready,
  terms: SweepTerms,
  now: Date,
): Promise<{ id: string; members: Ready[] } | null> {
  const currency = own.payment.currency!;
  if (!canBatch(own.payment, terms)) return null;
  const all = [own, ...(await batchCandidatesOf(tx, own.payment))];
  const network = networkOf(currency);
  const least = network.kind === 'account' ? 1 : 2;
  if (all.length < least) return null;
  const candidates = all.map((ready) => candidateOf(ready, now >= deadlinesOf(ready.payment, terms).price));
  const isTokens = network.kind === 'account';
  const price = await unitPriceOf(tx, network.id);
  const chosen = chooseBatch(
    candidates,
    isTokens ? tokenFee(currency, price) : coinFee(currency, price),
    terms.maxCostPct,
  );
  if (chosen.length < least || chosen[0]?.paymentId !== own.payment.id) return null;
  const members = chosen.map((one) => all.find((ready) => ready.payment.id === one.paymentId)!);
  const id = newId();
  const isExternal = own.payment.custody === 'external';
  const net = chosen.reduce((sum, one) => sum + (one.netUnits ?? 0n), 0n);
  const count = chosen.reduce((sum, one) => sum + one.inputs, 0);
  const work = batchLimitWork({ currency, inputs: count, outputs: isExternal ? 2 : 1 });
  const limits = feeLimits(network.id, price, work);
  const intentId = await planIntent(tx, {
    kind: 'sweep',
    ref: `batch/${id}`,
    network: network.id,
    currency,
    from_address: isTokens ? await ownAddress(tx, network.id, 'gas') : members[0]!.deposits[0]!.address,
    outputs: isExternal
      ? [
          { address: own.payment.settlement_address!, units: net.toString() },
          { address: await ownAddress(tx, network.id, 'treasury'), units: null },
        ]
      : [{ address: own.payment.settlement_address!, units: null }],
    deposit_ids: members.flatMap((member) => member.deposits.map((deposit) => deposit.id)),
    max_unit_price: limits.maxUnitPrice,
    fee_budget: limits.feeBudget,
    payment_id: null,
    merchant_id: own.payment.merchant_id,
    owner_kind: 'sweep-batch',
    owner_id: id,
  });
  for (const [position, one] of chosen.entries())
    await tx.query(
      `INSERT INTO sweep_share (intent_id, payment_id, position, deposit_ids, brought_units, net_units) VALUES ($1, $2, $3, $4, $5, $6)`,
      [
        intentId,
        one.paymentId,
        position,
        members[position]!.deposits.map((deposit) => deposit.id),
        one.broughtUnits.toString(),
        one.netUnits?.toString() ?? null,
      ],
    );
  return { id, members };
}

const deadlinesOf = (payment: PaymentRow, terms: SweepTerms): ReturnType<typeof sweepDeadlines> =>
  sweepDeadlines(payment.confirmed_at ?? payment.updated_at, terms);

/** Whom a sweep moves, and whose the sweep is; or why it waits, and until when at the most. */
export type Planned =
  | Readonly<{ owner: IntentOwner; members: readonly Ready[] }>
  | Readonly<{ wait: string; lookAgainInMs: number; isOverdue: boolean }>;

/** How often a better price is looked for. */
const priceLookMs = 900_000;

/** Plans the sweep of a payment: with company where there is some, by itself where that is cheap or the time is up, or later. */
export async function planNow(
  tx: EntityManager,
  own: Ready,
  terms: SweepTerms,
  settlementGas?: bigint,
): Promise<Planned> {
  const { payment } = own;
  const now = await databaseNow(tx);
  const { batch: company, price } = deadlinesOf(payment, terms);
  // It goes on alone where something is signed already.
  const hasStranded = (await strandedFor(tx, own)).length > 0;
  if (!hasStranded && canBatch(payment, terms) && now < company)
    return wait(`it is swept with others at ${company.toISOString()}`, company.getTime() - now.getTime() + 50);
  const batch = hasStranded ? null : await planTogether(tx, own, terms, now);
  if (batch) return { owner: { kind: 'sweep-batch', id: batch.id }, members: batch.members };
  const isDue = now >= price;
  if (!isDue && (await isAboveMaxCost(tx, own, terms))) {
    const reason = `its sweep alone would cost more than ${terms.maxCostPct} % of it; it waits for company or a better price until ${price.toISOString()}`;
    return wait(reason, Math.min(priceLookMs, price.getTime() - now.getTime() + 50));
  }
  if (await planAlone(tx, own, settlementGas)) return { owner: { kind: 'sweep', id: payment.id }, members: [own] };
  return { ...wait('moving it would cost more than it is worth now', priceLookMs), isOverdue: isDue };
}

const wait = (reason: string, lookAgainInMs: number): Extract<Planned, { wait: string }> => ({
  wait: reason,
  lookAgainInMs,
  isOverdue: false,
});

async function isAboveMaxCost(tx: EntityManager, { payment, deposits }: Ready, terms: SweepTerms): Promise<boolean> {
  const currency = payment.currency!;
  const network = networkOf(currency);
  const count = network.kind === 'utxo' ? deposits.length : new Set(deposits.map((one) => one.address)).size;
  const cost = sweepCost(currency, count, await unitPriceOf(tx, network.id), payment.native_rate!);
  return isDear(cost, add('0', ...deposits.map((deposit) => deposit.amount)), terms.maxCostPct);
}

/** Deposits of a payment that are credited and not settled, where all of them are confirmed; empty where one is not. */
export async function readyDeposits(tx: EntityManager, paymentId: string): Promise<DepositRow[]> {
  const deposits = await unsettledDeposits(tx, paymentId);
  return deposits.every((deposit) => deposit.status === 'confirmed') ? deposits : [];
}
