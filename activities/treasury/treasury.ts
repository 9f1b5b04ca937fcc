import type { DataSource, EntityManager } from 'typeorm';
import { assetOf, networkOf, type Network, type NetworkId } from '../../domain/chains/assets';
import { newId } from '../../domain/ids';
import { feeJournal } from '../../domain/ledger/ledger';
import { fromUnits, toUnits } from '../../domain/money';
import { feeLimits, limitsFor, type FeeLimits } from '../../domain/txmanager/fee-limits';
import { gasFor, transferGas } from '../../domain/sweeps/sweep';
import { assignSources, chooseCoins, gather, priceReserve, sizeOf, type Output, type Source } from '../../domain/treasury/treasury';
import { intentsOwnedBy, lockCoinsFor, planIntent, planIntents, type IntentRow, type NewIntent } from '../../db/txmanager/intents';
import { ensureMined, minedOf } from '../../db/ledger/ledger';
import { requestSignal } from '../../db/temporal/temporal-requests';
import { comingIn, freeCoins, lockTreasury, noteWant, ownAddress, treasurySources, unitPriceNow } from '../../db/treasury/treasury';
import type { Purpose, ServedIntent } from '../../txmanager/kinds/purposes';
import type { NextIntent } from '../sweeps/sweeps';

/** How long what nothing can pay now waits before it looks again. */
export const lookAgainInMs = 20_000;

/** What shall leave the treasury. Its rows are locked by the caller. */
export type Egress = Readonly<{
  kind: 'refund' | 'withdrawal' | 'leg' | 'fund';
  /** Of the one intent that pays all outputs, where the network can (UTXO). On account chains each output has an intent by its own ref. */
  ref: string;
  currency: string;
  outputs: readonly Output[];
  merchantId: string | null;
  /** `<workflow>/<id>`: carries the intents, and hears of their blocks. */
  ownerWorkflow: string;
}>;
/** `planned`: refs of the outputs that have an intent now. `reason`: why the others have none; look again later. */
export type EgressPlan = Readonly<{ planned: readonly string[]; reason: string | null }>;

/** Plans what pays these outputs, from whatever the treasury holds: confirmed coins of any of its addresses, the hot wallet, or
 *  another address that holds enough. What none of them holds alone is gathered at the hot wallet first. Never half an output;
 *  the longest run of outputs (UTXO), or each that can be paid (account chains). Once per ref: what has an intent is not planned
 *  again. Throws UPSTREAM_UNAVAILABLE (retried). */
export async function planEgress(tx: EntityManager, egress: Egress): Promise<EgressPlan> {
  const network = networkOf(egress.currency);
  const hot = await lockTreasury(tx, network.id);
  const price = await unitPriceNow(tx, network.id);
  return network.kind === 'utxo'
    ? planCoins(tx, egress, network, hot, BigInt(price))
    : planTransfers(tx, egress, network, hot, price);
}

const isPlanned = async (tx: EntityManager, kind: string, refs: readonly string[]): Promise<Set<string>> =>
  new Set(
    (
      await tx.query<Array<{ ref: string }>>('SELECT ref FROM intent WHERE kind = $1 AND ref = ANY($2)', [kind, refs])
    ).map((row) => row.ref),
  );

const intentOf = (egress: Egress, from: string, limits: FeeLimits, over: Partial<NewIntent>): NewIntent => ({
  kind: egress.kind,
  ref: egress.ref,
  network: networkOf(egress.currency).id,
  currency: egress.currency,
  from_address: from,
  outputs: [],
  deposit_ids: [],
  max_unit_price: limits.maxUnitPrice,
  fee_budget: limits.feeBudget,
  payment_id: null,
  merchant_id: egress.merchantId,
  owner_workflow: egress.ownerWorkflow,
  ...over,
});

/** One transaction for all outputs that free coins can pay, in order; the change goes to the hot wallet. */
async function planCoins(
  tx: EntityManager,
  egress: Egress,
  network: Network,
  hot: string,
  price: bigint,
): Promise<EgressPlan> {
  if ((await isPlanned(tx, egress.kind, [egress.ref])).size)
    return { planned: egress.outputs.map((output) => output.ref), reason: null };
  const coins = await freeCoins(tx, network.id);
  for (let count = egress.outputs.length; count > 0; count -= 1) {
    const outputs = egress.outputs.slice(0, count);
    const units = sum(outputs);
    const chosen = chooseCoins(coins, units, price, count + 1);
    if (!chosen) continue;
    const limits = feeLimits(network.id, price.toString(), sizeOf(chosen.length, count + 1));
    const id = await planIntent(
      tx,
      intentOf(egress, hot, limits, {
        outputs: [
          ...outputs.map((output) => ({ address: output.address, units: output.units.toString() })),
          { address: hot, units: null },
        ],
        deposit_ids: chosen.map((coin) => coin.id),
      }),
    );
    if (id) await lockCoinsFor(tx, { id, deposit_ids: chosen.map((coin) => coin.id) });
    const reason = count === egress.outputs.length ? null : 'free coins do not pay for the rest now';
    return { planned: outputs.map((output) => output.ref), reason };
  }
  const needed = egress.outputs[0]?.units ?? 0n;
  return { planned: [], reason: await short(tx, egress, needed, sum(coins)) };
}

/** One transfer for each output, and one gas top-up for the tokens that leave an address. */
async function planTransfers(
  tx: EntityManager,
  egress: Egress,
  network: Network,
  hot: string,
  price: string,
): Promise<EgressPlan> {
  const known = await isPlanned(
    tx,
    egress.kind,
    egress.outputs.map((output) => output.ref),
  );
  const wanted = egress.outputs.filter((output) => !known.has(output.ref));
  const isToken = assetOf(egress.currency).contract !== null;
  const fee = isToken ? 0n : BigInt(price) * transferGas.native * priceReserve;
  const sources = await treasurySources(tx, egress.currency);
  const { paid, short: unpaid, left } = assignSources(sources, wanted, fee);
  const intents: NewIntent[] = [];
  for (const from of new Set(paid.map((output) => output.from))) {
    const outputs = paid.filter((output) => output.from === from);
    const native = feeLimits(network.id, price, transferGas.native);
    let limits = native;
    if (isToken) {
      const gas = gasFor(price, outputs.length);
      limits = limitsFor(gas.maxUnitPrice, transferGas.token);
      intents.push(
        intentOf(egress, await ownAddress(tx, network.id, 'gas'), native, {
          kind: 'gas',
          ref: `${egress.kind}/${outputs[0]!.ref}`,
          currency: network.native,
          outputs: [{ address: from, units: gas.units }],
        }),
      );
    }
    intents.push(
      ...outputs.map((output) =>
        intentOf(egress, from, limits, {
          ref: output.ref,
          outputs: [{ address: output.address, units: output.units.toString() }],
        }),
      ),
    );
  }
  await planIntents(tx, intents);
  const planned = [...known, ...paid.map((output) => output.ref)];
  const [next] = unpaid;
  if (!next) return { planned, reason: null };
  const gathering = await gatherFor(tx, egress.currency, hot, left, unpaid, fee, price);
  return {
    planned,
    reason: gathering
      ? 'what it takes is being gathered at the hot wallet'
      : await short(tx, egress, next.units + fee, sumFree(left)),
  };
}

/** Moves what other addresses hold to the hot wallet, where that will pay for the first of these outputs at least. */
async function gatherFor(
  tx: EntityManager,
  currency: string,
  hot: string,
  left: readonly Source[],
  unpaid: readonly Output[],
  fee: bigint,
  price: string,
): Promise<boolean> {
  const [first] = unpaid;
  const inHot =
    (left.find((source) => source.address === hot)?.free ?? 0n) +
    (await comingIn(tx, networkOf(currency).id, currency));
  if (inHot >= first!.units + fee) return true;
  const others = left.filter((source) => source.address !== hot);
  const least = leastWorthMoving(currency, price);
  const all = sum(unpaid) + fee * BigInt(unpaid.length);
  const chosen = gather(others, inHot, all, least) ?? gather(others, inHot, first!.units + fee, least);
  for (const source of chosen ?? []) await planConsolidation(tx, currency, hot, source, price);
  return chosen !== null;
}

/** A move brings more than it costs. */
function leastWorthMoving(currency: string, price: string): bigint {
  const asset = assetOf(currency);
  return asset.contract === null
    ? BigInt(price) * transferGas.native * priceReserve * 4n
    : toUnits('1', asset.decimals);
}

/** Empties an address of ours into the hot wallet. */
export async function planConsolidation(
  tx: EntityManager,
  currency: string,
  hot: string,
  source: Source,
  price: string,
): Promise<string> {
  const { id: network, native } = networkOf(currency);
  const ref = newId();
  const isToken = assetOf(currency).contract !== null;
  const gas = gasFor(price, 1);
  const common = {
    ref,
    network,
    deposit_ids: [],
    payment_id: null,
    merchant_id: null,
    owner_workflow: `consolidate/${ref}`,
  };
  const limits = limitsFor(gas.maxUnitPrice, isToken ? transferGas.token : transferGas.native);
  const topUp = feeLimits(network, price, transferGas.native);
  if (isToken)
    await planIntent(tx, {
      ...common,
      kind: 'gas',
      ref: `consolidate/${ref}`,
      currency: native,
      from_address: await ownAddress(tx, network, 'gas'),
      outputs: [{ address: source.address, units: gas.units }],
      max_unit_price: topUp.maxUnitPrice,
      fee_budget: topUp.feeBudget,
    });
  const keep = isToken ? 0n : BigInt(gas.maxUnitPrice) * transferGas.native;
  await planIntent(tx, {
    ...common,
    kind: 'consolidate',
    currency,
    from_address: source.address,
    outputs: [{ address: hot, units: (source.free - keep).toString() }],
    max_unit_price: limits.maxUnitPrice,
    fee_budget: limits.feeBudget,
  });
  await requestConsolidation(tx, ref, currency);
  return ref;
}

export const requestConsolidation = (tx: EntityManager, ref: string, currency: string): Promise<unknown> =>
  requestSignal(tx, {
    workflow: 'consolidate',
    workflowId: `consolidate/${ref}`,
    args: [ref],
    signal: 'news',
    attributes: { Currency: currency, Network: networkOf(currency).id, summary: `${currency} to the hot wallet` },
  });

/** Says what is missing; tells operators once for each thing that waits, unless what is on its way to us will do. */
async function short(tx: EntityManager, egress: Egress, needed: bigint, free: bigint): Promise<string> {
  const { decimals, network } = assetOf(egress.currency);
  const amount = (units: bigint): string => fromUnits(units < 0n ? 0n : units, decimals);
  const coming = await comingIn(tx, network, egress.currency);
  if (free + coming < needed)
    await noteWant(tx, 'treasury-low', `treasury-low/${egress.currency}/${egress.kind}/${egress.ref}`, {
      currency: egress.currency,
      needed: amount(needed),
      free: amount(free),
      comingIn: amount(coming),
    });
  return `the treasury has ${amount(free)} ${egress.currency} free of the ${amount(needed)} that it takes`;
}

const sum = (some: ReadonlyArray<{ units: bigint }>): bigint => some.reduce((total, one) => total + one.units, 0n);
const sumFree = (some: readonly Source[]): bigint =>
  some.reduce((total, one) => total + (one.free > 0n ? one.free : 0n), 0n);

/** The first intent that a workflow has not brought to its end; null where all are booked or dropped. */
export async function firstOpen(tx: EntityManager, owner: string, what: string): Promise<NextIntent> {
  const open = (await intentsOwnedBy(tx, owner)).find((intent) => isOpen(intent));
  if (!open) return null;
  const to = open.outputs.map((output) => output.address).join(', ');
  return {
    id: open.id,
    network: open.network as NetworkId,
    kind: open.kind,
    summary: `${open.kind === 'gas' ? 'Gas top-up' : what} of ${open.currency} to ${to}`,
  };
}
export const isOpen = (intent: Pick<IntentRow, 'booked' | 'status'>): boolean =>
  !intent.booked && intent.status !== 'dead';

/** A move between our own addresses: nothing leaves. */
export async function consolidationPurpose(tx: EntityManager, intent: ServedIntent): Promise<Purpose | null> {
  if (intent.owner_workflow !== `consolidate/${intent.ref}`) return null;
  const [row] = await tx.query<Array<{ currency: string; status: IntentRow['status'] }>>(
    'SELECT currency, status FROM intent WHERE id = $1',
    [intent.id],
  );
  const { currency, status } = row!;
  const native = networkOf(currency).native;
  return {
    currency,
    outputs: [],
    held: null,
    mayBeSigned: () => Promise.resolve({ state: 'go' }),
    isUnderWay: status === 'stored' || status === 'sent',
    stored: () => Promise.resolve(),
    sent: () => Promise.resolve(),
    async ended(mined) {
      // A reverted one's fee is booked like that of any other.
      if (!mined.success) return;
      const paid = minedOf(native, 'A:treasury', mined);
      await ensureMined(tx, paid, (chainFee) => feeJournal({ ...paid, chainFee }));
    },
  };
}

/** Moves between our own addresses. */
export const treasuryActivities = ({ db }: Readonly<{ db: DataSource }>) => ({
  nextConsolidation: (ref: string): Promise<NextIntent> => firstOpen(db.manager, `consolidate/${ref}`, 'Move'),
});
