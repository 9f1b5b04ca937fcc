import type { EntityManager } from 'typeorm';
import { stoppedBecause } from '../db/access/merchant-stop';
import { comingTo, leastWorthMoving } from './float';
import { gasWalletFor } from './gas-wallet';
import { planConsolidation } from './kinds/consolidation';
import { wholeUnitPrice } from '../db/chains/fees';
import { lockTreasury, freeCoins, treasurySources, comingIn, type Coming } from '../db/treasury/treasury';
import { type NewIntent, planIntent, lockCoinsFor, planIntents, ownedBy } from '../db/txmanager/intents';
import { networkOf, assetOf, type AccountNetwork, type UtxoNetwork } from '../domain/chains/assets';
import { gasFor, utxoWork } from '../domain/chains/costs';
import { tagIn } from '../domain/chains/tags';
import { fromUnits } from '../domain/money';
import {
  type Output,
  chooseCoins,
  priceReserve,
  assignSources,
  type Source,
  gather,
} from '../domain/treasury/treasury';
import { laneToGatherAt, payersOf, type Wallet } from '../domain/treasury/lanes';
import type { LeavingKind } from '../domain/txmanager/kinds';
import { type FeeLimits, feeLimits, limitsFor } from '../domain/txmanager/fee-limits';
import { openIncidentAgain, type ShortfallSubject } from '../db/incidents';
import { type IntentOwner } from '../domain/workflow-ids';

/** How long an intent that nothing can pay now waits before the treasury is looked at again. */
export const lookAgainInMs = 20000;

/** What shall leave the treasury. Its rows are locked by the caller. */
export type Outgoing = Readonly<{
  kind: LeavingKind;
  /** Of the one intent that pays all outputs, where the network can (UTXO). On account chains each output has an intent
   *  by its own ref. */
  ref: string;
  currency: string;
  outputs: readonly Output[];
  merchantId: string | null;
  /** Whose workflow processes the intents, and hears of their blocks. */
  owner: IntentOwner & { kind: ShortfallSubject };
}>;
/** `planned`: refs of the outputs that have an intent now. `reason`: why the others have none; look again later. */
export type OutgoingPlan = Readonly<{ planned: readonly string[]; reason: string | null }>;

/** Plans what pays these outputs, from whatever the treasury holds: confirmed coins of any of its addresses, a lane, or
 *  another address that holds enough. What none of them holds alone is gathered at a lane first. Never half an output;
 *  the longest run of outputs (UTXO), or each that can be paid (account chains). Once per ref: what has an intent is
 *  not planned again. Throws UPSTREAM_UNAVAILABLE (retried). */
export async function planOutgoing(tx: EntityManager, outgoing: Outgoing): Promise<OutgoingPlan> {
  const stopped = outgoing.merchantId === null ? null : await stoppedBecause(tx, outgoing.merchantId);
  if (stopped !== null) return { planned: [], reason: `outgoing money of the merchant is held: ${stopped}` };
  const network = networkOf(outgoing.currency);
  const hot = await lockTreasury(tx, network.id);
  const price = await wholeUnitPrice(tx, network.id);
  return network.kind === 'utxo'
    ? planCoins(tx, outgoing, network, hot, BigInt(price))
    : planTransfers(tx, outgoing, network, price);
}
/** Those of `refs` that are planned. Throws where one of them is planned in another currency: it would be taken for
 *  this one, and what it was planned for would never go out. */
async function plannedOf(
  tx: EntityManager,
  { kind, currency }: Outgoing,
  refs: readonly string[],
): Promise<Set<string>> {
  const rows = await tx.query<Array<{ ref: string; currency: string }>>(
    'SELECT ref, currency FROM intent WHERE kind = $1 AND ref = ANY($2)',
    [kind, refs],
  );
  const other = rows.find((row) => row.currency !== currency);
  if (other) throw new Error(`${kind} ${other.ref} is planned in ${other.currency}, and not in ${currency}`);
  return new Set(rows.map((row) => row.ref));
}

const intentOf = (outgoing: Outgoing, from: string, limits: FeeLimits, over: Partial<NewIntent>): NewIntent => ({
  kind: outgoing.kind,
  ref: outgoing.ref,
  network: networkOf(outgoing.currency).id,
  currency: outgoing.currency,
  from_address: from,
  outputs: [],
  deposit_ids: [],
  max_unit_price: limits.maxUnitPrice,
  fee_budget: limits.feeBudget,
  payment_id: null,
  merchant_id: outgoing.merchantId,
  ...ownedBy(outgoing.owner),
  ...over,
});
const plannedOutput = (output: Output) => ({
  address: output.address,
  ...tagIn(output),
  units: output.units.toString(),
});

/** One transaction for all outputs that free coins can pay, in order; the change goes to the hot wallet. */
async function planCoins(
  tx: EntityManager,
  outgoing: Outgoing,
  network: UtxoNetwork,
  hot: string,
  price: bigint,
): Promise<OutgoingPlan> {
  if ((await plannedOf(tx, outgoing, [outgoing.ref])).size)
    return { planned: outgoing.outputs.map((output) => output.ref), reason: null };
  const coins = await freeCoins(tx, network.id);
  for (let count = outgoing.outputs.length; count > 0; count -= 1) {
    const outputs = outgoing.outputs.slice(0, count);
    const units = sum(outputs);
    const chosen = chooseCoins(coins, units, price, network, count + 1);
    if (!chosen) continue;
    const limits = feeLimits(
      network.id,
      price.toString(),
      utxoWork(network, { inputs: chosen.length, outputs: count + 1 }),
    );
    const id = await planIntent(
      tx,
      intentOf(outgoing, hot, limits, {
        outputs: [...outputs.map((output) => plannedOutput(output)), { address: hot, units: null }],
        deposit_ids: chosen.map((coin) => coin.id),
      }),
    );
    if (id) await lockCoinsFor(tx, { id, deposit_ids: chosen.map((coin) => coin.id) });
    const reason = count === outgoing.outputs.length ? null : 'free coins do not pay for the rest now';
    return { planned: outputs.map((output) => output.ref), reason };
  }
  const needed = outgoing.outputs[0]?.units ?? 0n;
  const coming = await comingIn(tx, network.id, outgoing.currency);
  return { planned: [], reason: await short(tx, outgoing, needed, sum(coins), coming, []) };
}

/** One transfer for each output, and one gas top-up for the tokens that leave an address. */
async function planTransfers(
  tx: EntityManager,
  outgoing: Outgoing,
  network: AccountNetwork,
  price: string,
): Promise<OutgoingPlan> {
  const known = await plannedOf(
    tx,
    outgoing,
    outgoing.outputs.map((output) => output.ref),
  );
  const wanted = outgoing.outputs.filter((output) => !known.has(output.ref));
  const isToken = assetOf(outgoing.currency).contract !== null;
  const fee = isToken ? 0n : BigInt(price) * network.work.native * priceReserve;
  const wallets = await treasurySources(tx, outgoing.currency);
  const { paid, short: unpaid, left } = assignSources(payersOf(wallets), wanted, fee);
  const intents: NewIntent[] = [];
  for (const from of new Set(paid.map((output) => output.from))) {
    const outputs = paid.filter((output) => output.from === from);
    const native = feeLimits(network.id, price, network.work.native);
    let limits = native;
    if (isToken) {
      const gas = gasFor(network, price, outputs.length);
      limits = limitsFor(gas.maxUnitPrice, network.work.token);
      intents.push(
        intentOf(outgoing, await gasWalletFor(tx, network.id, from, BigInt(gas.units)), native, {
          kind: 'gas',
          ref: `${outgoing.kind}/${outputs[0]!.ref}`,
          currency: network.native,
          outputs: [{ address: from, units: gas.units }],
        }),
      );
    }
    intents.push(
      ...outputs.map((output) =>
        intentOf(outgoing, from, limits, {
          ref: output.ref,
          outputs: [plannedOutput(output)],
        }),
      ),
    );
  }
  await planIntents(tx, intents);
  const planned = [...known, ...paid.map((output) => output.ref)];
  const [next] = unpaid;
  if (!next) return { planned, reason: null };
  const heldUp = wallets.filter((wallet) => wallet.heldUp !== null).map((wallet) => wallet.address);
  // Money that is to leave a wallet that is held up does not come soon.
  const coming = (await comingIn(tx, network.id, outgoing.currency)).filter(
    (one) => one.from === null || !heldUp.includes(one.from),
  );
  const free = wallets.map((wallet) => ({ ...wallet, free: freeAt(left, wallet.address) }));
  const to = laneToGatherAt(free, comingTo(coming));
  const gathering =
    to !== undefined && (await gatherFor(tx, outgoing.currency, { to, left, unpaid, fee, price, coming }));
  if (gathering) return { planned, reason: 'what it takes is being gathered at a lane' };
  const reason = await short(tx, outgoing, next.units + fee, sumFree(left), coming, heldUp);
  return { planned, reason };
}

const freeAt = (left: readonly Source[], address: string): bigint =>
  left.find((source) => source.address === address)?.free ?? 0n;

/** Moves what other addresses hold to a lane, where that will pay for the first of these outputs at least. Other lanes
 *  give theirs where the rest does not suffice. */
async function gatherFor(
  tx: EntityManager,
  currency: string,
  {
    to,
    left,
    unpaid,
    fee,
    price,
    coming,
  }: Readonly<{
    to: Wallet;
    left: readonly Source[];
    unpaid: readonly Output[];
    fee: bigint;
    price: string;
    coming: readonly Coming[];
  }>,
): Promise<boolean> {
  const needed = unpaid[0]!.units + fee;
  const there = to.free + comingTo(coming)(to.address);
  if (there >= needed) return true;
  const lanes = left.filter((source) => source.isLane && source.address !== to.address);
  const others = left.filter((source) => !source.isLane);
  const least = leastWorthMoving(currency, price);
  const all = sum(unpaid) + fee * BigInt(unpaid.length);
  const chosen =
    gather(others, there, all, least) ??
    gather(others, there, needed, least) ??
    gather([...others, ...lanes], there, needed, least);
  for (const source of chosen ?? []) await planConsolidation(tx, currency, to.address, source, price);
  return chosen !== null;
}

/** Says what is missing; notifies operators once for each thing that waits, unless what is on its way to us will do. */
async function short(
  tx: EntityManager,
  outgoing: Outgoing,
  needed: bigint,
  free: bigint,
  onItsWay: readonly Coming[],
  heldUp: readonly string[],
): Promise<string> {
  const { decimals } = assetOf(outgoing.currency);
  const amount = (units: bigint): string => fromUnits(units < 0n ? 0n : units, decimals);
  const coming = sum(onItsWay);
  if (free + coming < needed)
    await openIncidentAgain(tx, {
      kind: 'treasury-low',
      subject: outgoing.owner,
      distinction: outgoing.currency,
      details: {
        currency: outgoing.currency,
        needed: amount(needed),
        free: amount(free),
        comingIn: amount(coming),
        heldUp,
      },
    });
  const without = heldUp.length ? `, without ${heldUp.join(', ')}, which is blocked or frozen` : '';
  return `the treasury has ${amount(free)} ${outgoing.currency} free of the ${amount(needed)} that it takes${without}`;
}

const sum = (some: ReadonlyArray<{ units: bigint }>): bigint => some.reduce((total, one) => total + one.units, 0n);
const sumFree = (some: readonly Source[]): bigint =>
  some.reduce((total, one) => total + (one.free > 0n ? one.free : 0n), 0n);
