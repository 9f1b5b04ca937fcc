import { assetOf, networkOf } from '../chains/assets';
import { batchWork, costUnits, gasFor, gasOfTransfer, nativeCost, sweepWork, workOf } from '../chains/costs';
import { feeLimits, limitsFor } from '../txmanager/fee-limits';
import { compare, fit, fromUnits, isPositive, subtract, times, toUnits } from '../money';
import { splitPaid } from '../pricing/quote';
import type { FeeOf } from './sweep-batch';

/** Deposits of one payment on one address (account chains), or all of them (UTXO). Amounts are decimal strings. */
export type SweepSource = Readonly<{ address: string; depositIds: readonly string[]; amount: string }>;

export type PlannedOutput = Readonly<{ address: string; units: string | null }>;
/** An intent before it has a reference. `maxUnitPrice`, `feeBudget`: most that a transaction of it may pay, see
 *  fee-limits.ts. */
export type PlannedIntent = Readonly<{
  kind: 'gas' | 'sweep';
  currency: string;
  from: string;
  outputs: readonly PlannedOutput[];
  depositIds: readonly string[];
  maxUnitPrice: string;
  feeBudget: string;
}>;

export type SweepInput = Readonly<{
  currency: string;
  sources: readonly SweepSource[];
  custody: 'platform' | 'external';
  settlementAddress: string;
  /** Custody external: what the merchant's address still gets; by default the net of all sources. */
  netLeft?: string;
  /** Account chains: the gas that a transfer to `settlementAddress` is signed with, where a node was asked. */
  settlementGas?: bigint;
  /** Treasury address that receives our fee when the merchant's own address receives the net. */
  feeAddress: string;
  /** Who buys gas; null where the currency is no token. */
  gasAddress: string | null;
  feeBps: number;
  /** Quoted provision, in `currency`. */
  networkFee: string;
  /** Native base units per unit of work. */
  unitPrice: string;
  /** Units of `currency` per whole native unit. */
  nativeRate: string;
}>;

/** What moving `deposits` coins, or the holdings of as many addresses, costs at a price, in the currency's own units; a
 *  token's gas top-up included. The estimate by which a sweep waits. */
export function sweepCost(currency: string, deposits: number, unitPrice: string, nativeRate: string): string {
  return feeIn(currency, costUnits(unitPrice, sweepWork(currency, deposits)), nativeRate);
}

/** What must be sent so that the deposits reach their settlement, in order; null while moving them would cost more than
 *  they are worth. External custody sends the net, fixed now, to the merchant's address and the rest to us. Invariants:
 *  3 row 15. */
export function planSweep(input: SweepInput): PlannedIntent[] | null {
  const network = networkOf(input.currency);
  const asset = assetOf(input.currency);
  const native = assetOf(network.native);
  const total = input.sources.reduce((sum, source) => subtract(sum, `-${source.amount}`), '0');
  const unitsOf = (amount: string): string => toUnits(fit(amount, asset.decimals, 'down'), asset.decimals).toString();
  const price = fit(input.unitPrice, 0, 'up');
  const costIn = (work: bigint): string =>
    times(
      fromUnits(BigInt(price) * work, native.decimals),
      asset.contract === null ? '1' : input.nativeRate,
      asset.decimals,
      'up',
    );
  const external =
    input.custody === 'external' ? splitPaid(total, input.currency, input.feeBps, input.networkFee) : null;

  if (network.kind === 'utxo') {
    const outputs: PlannedOutput[] = external
      ? [
          { address: input.settlementAddress, units: unitsOf(external.net) },
          { address: input.feeAddress, units: null },
        ]
      : [{ address: input.settlementAddress, units: null }];
    const count = input.sources.reduce((sum, source) => sum + source.depositIds.length, 0);
    const work = workOf({ currency: input.currency, inputs: count, outputs: outputs.length });
    const cost = nativeCost(input.currency, input.unitPrice, work);
    const room = external ? external.fee : total;
    if (compare(room, cost) <= 0) return null;
    const from = input.sources[0];
    if (!from) return null;
    return [
      {
        kind: 'sweep',
        currency: input.currency,
        from: from.address,
        outputs,
        depositIds: input.sources.flatMap((source) => source.depositIds),
        ...feeLimits(network.id, input.unitPrice, work),
      },
    ];
  }

  const isNative = asset.contract === null;
  const { currency } = input;
  const one = workOf({ currency, inputs: 1, outputs: 1 });
  const toSettlement = external && input.settlementGas !== undefined ? input.settlementGas : one;
  const intents: PlannedIntent[] = [];
  let netLeft = external ? (input.netLeft ?? external.net) : '0';
  for (const source of input.sources) {
    const outputsOf: PlannedOutput[] = [];
    if (!external)
      outputsOf.push({ address: input.settlementAddress, units: isNative ? null : unitsOf(source.amount) });
    else {
      // Each address pays what it can towards the net first; what is left of it is our fee.
      const keep = isNative ? costIn(toSettlement + one) : '0';
      const spendable = subtract(source.amount, keep);
      const toMerchant = compare(spendable, netLeft) < 0 ? spendable : netLeft;
      netLeft = subtract(netLeft, toMerchant);
      if (isPositive(toMerchant)) outputsOf.push({ address: input.settlementAddress, units: unitsOf(toMerchant) });
      const rest = subtract(source.amount, toMerchant);
      if (isNative ? compare(rest, costIn(toSettlement + one)) > 0 : isPositive(rest)) {
        outputsOf.push({ address: input.feeAddress, units: isNative ? null : unitsOf(rest) });
      }
    }
    const cost = costIn(isNative ? one : workOf({ currency, inputs: 1, outputs: outputsOf.length }));
    if (compare(source.amount, cost) <= 0) return null;
    let limits = feeLimits(network.id, price, gasOfTransfer(currency));
    if (!isNative) {
      const gas = gasFor(network, price, outputsOf.length);
      limits = limitsFor(gas.maxUnitPrice, gasOfTransfer(currency));
      intents.push({
        kind: 'gas',
        currency: native.currency,
        from: input.gasAddress!,
        outputs: [{ address: source.address, units: gas.units }],
        depositIds: source.depositIds,
        ...feeLimits(network.id, price, network.gas.native),
      });
    }
    for (const output of outputsOf) {
      intents.push({
        kind: 'sweep',
        currency: input.currency,
        from: source.address,
        outputs: [output],
        depositIds: source.depositIds,
        ...limits,
      });
    }
  }
  if (external && isPositive(netLeft)) return null;
  return intents;
}

/** A sweep, or its gas, for deposits that are gone. `signed`: how many transactions of it are. */
export type StrandedSweep = Readonly<{
  kind: string;
  currency: string;
  from_address: string;
  outputs: readonly PlannedOutput[];
  deposit_ids: readonly string[];
  signed: number;
}>;

/** Which stranded sweep each planned one goes on with: on an account whoever holds its next nonce, of coins whoever
 *  spends one of them. `stranded`: by nonce, what is not signed last. null while an address has more signed than there
 *  is to send, or in another asset: a nonce behind it would never be reached. */
export function goOnWith<Old extends StrandedSweep>(
  planned: readonly PlannedIntent[],
  stranded: readonly Old[],
  network: 'utxo' | 'account',
): Readonly<{ taken: Array<{ intent: PlannedIntent; old: Old }>; fresh: PlannedIntent[]; superseded: Old[] }> | null {
  const left = [...stranded];
  const taken: Array<{ intent: PlannedIntent; old: Old }> = [];
  const fresh: PlannedIntent[] = [];
  for (const intent of planned) {
    const n = left.findIndex(
      (old) =>
        old.kind === intent.kind &&
        old.currency === intent.currency &&
        (network === 'utxo'
          ? old.deposit_ids.some((id) => intent.depositIds.includes(id))
          : intent.kind === 'gas'
            ? old.outputs[0]?.address === intent.outputs[0]?.address
            : old.from_address === intent.from),
    );
    if (n < 0) fresh.push(intent);
    else taken.push({ intent, old: left.splice(n, 1)[0]! });
  }
  const isInTheWay = (old: Old): boolean =>
    old.kind === 'sweep' && old.signed > 0 && planned.some((intent) => intent.from === old.from_address);
  if (network === 'account' && left.some(isInTheWay)) return null;
  // What is signed of the gas wallet is sent whatever becomes of its sweep.
  return { taken, fresh, superseded: left.filter((old) => old.kind !== 'gas' || old.signed === 0) };
}

/** A chain fee in native base units as an amount of `currency`, rounded up. */
export function feeIn(currency: string, feeUnits: bigint, nativeRate: string): string {
  const native = assetOf(networkOf(currency).native);
  const asset = assetOf(currency);
  return times(fromUnits(feeUnits, native.decimals), asset.contract === null ? '1' : nativeRate, asset.decimals, 'up');
}

/** What each payment of a batch of tokens would bear of its gas. */
export const tokenFee =
  (currency: string, unitPrice: string): FeeOf =>
  (batch) =>
  (one) => {
    const work = batchWork(currency, one.inputs, batch.length);
    const fee = feeIn(currency, costUnits(unitPrice, work), one.nativeRate);
    return toUnits(fee, assetOf(currency).decimals);
  };
