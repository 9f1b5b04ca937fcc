import { assetOf, baseUnits, isToken, networkOf, networks, type AccountNetwork } from '../chains/assets';
import { batchWork, costUnits, gasFor, workOfTransfer, nativeCost, sweepWork, workOf } from '../chains/costs';
import { feeLimits, limitsFor } from '../txmanager/fee-limits';
import { add, compare, fit, fromUnits, isPositive, subtract, times, toUnits } from '../money';
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
  const total = input.sources.reduce((sum, source) => subtract(sum, `-${source.amount}`), '0');
  const external =
    input.custody === 'external' ? splitPaid(total, input.currency, input.feeBps, input.networkFee) : null;
  const network = networkOf(input.currency);
  return network.kind === 'utxo' ? planCoins(input, total, external) : planAccounts(input, network, external);
}

/** With custody external what the merchant's address gets, and what is ours. */
type External = ReturnType<typeof splitPaid> | null;

/** One transaction for the coins of all sources; what it costs is taken from them, or from our part. */
function planCoins(input: SweepInput, total: string, external: External): PlannedIntent[] | null {
  const { currency, sources, settlementAddress } = input;
  const outputs: PlannedOutput[] = external
    ? [
        { address: settlementAddress, units: baseUnits(currency, external.net).toString() },
        { address: input.feeAddress, units: null },
      ]
    : [{ address: settlementAddress, units: null }];
  const count = sources.reduce((sum, source) => sum + source.depositIds.length, 0);
  const work = workOf({ currency, inputs: count, outputs: outputs.length });
  const feeCapacity = external ? external.fee : total;
  if (compare(feeCapacity, nativeCost(currency, input.unitPrice, work)) <= 0) return null;
  const from = sources[0];
  if (!from) return null;
  return [
    {
      kind: 'sweep',
      currency,
      from: from.address,
      outputs,
      depositIds: sources.flatMap((source) => source.depositIds),
      ...feeLimits(networkOf(currency).id, input.unitPrice, work),
    },
  ];
}

/** Transactions from each address, those of tokens after the gas for them. */
function planAccounts(input: SweepInput, network: AccountNetwork, external: External): PlannedIntent[] | null {
  const { currency } = input;
  const { contract, decimals } = assetOf(currency);
  const isNative = contract === null;
  const price = fit(input.unitPrice, 0, 'up');
  const costIn = (work: bigint): string => {
    const cost = fromUnits(BigInt(price) * work, assetOf(network.native).decimals);
    return times(cost, isNative ? '1' : input.nativeRate, decimals, 'up');
  };
  const one = workOf({ currency, inputs: 1, outputs: 1 });
  const toSettlement = external && input.settlementGas !== undefined ? input.settlementGas : one;
  const fees = isNative
    ? { settlement: costIn(toSettlement), rest: costIn(one) }
    : { settlement: '0', rest: costIn(workOfTransfer(currency)) };
  const intents: PlannedIntent[] = [];
  const above = external ? aboveProvision(input, network, costIn) : '0';
  let netLeft = external ? subtract(input.netLeft ?? external.net, above) : '0';
  // Nothing would arrive: who has chosen an address of his own bears what reaching it takes.
  if (isPositive(above) && !isPositive(netLeft) && input.netLeft === undefined) return null;
  if (!isPositive(netLeft)) netLeft = '0';
  for (const source of input.sources) {
    let outputs: PlannedOutput[];
    if (external) ({ outputs, netLeft } = shared(input, source, netLeft, fees));
    else
      outputs = [
        { address: input.settlementAddress, units: isNative ? null : baseUnits(currency, source.amount).toString() },
      ];
    const cost = costIn(isNative ? one : workOf({ currency, inputs: 1, outputs: outputs.length }));
    if (!outputs.length || compare(source.amount, cost) <= 0) return null;
    const gas = isNative ? null : gasFor(network, price, outputs.length);
    if (gas)
      intents.push({
        kind: 'gas',
        currency: network.native,
        from: input.gasAddress!,
        outputs: [{ address: source.address, units: gas.units }],
        depositIds: source.depositIds,
        ...feeLimits(network.id, price, network.work.native),
      });
    const limits = gas
      ? limitsFor(gas.maxUnitPrice, workOfTransfer(currency))
      : feeLimits(network.id, price, workOfTransfer(currency));
    for (const output of outputs)
      intents.push({
        kind: 'sweep',
        currency,
        from: source.address,
        outputs: [output],
        depositIds: source.depositIds,
        ...limits,
      });
  }
  if (external && isPositive(netLeft)) return null;
  return intents;
}

/** Custody external, on networks where prices stand still: what moving a token costs above the provision, by what its
 *  recipient makes the transfer take. One transfer goes to him, and one to us. */
function aboveProvision(
  { currency, sources, settlementGas, networkFee }: SweepInput,
  network: AccountNetwork,
  costIn: (work: bigint) => string,
): string {
  if (networks[network.id].expiring === undefined || !isToken(currency)) return '0';
  const toSettlement = settlementGas ?? workOfTransfer(currency);
  const cost = costIn(network.work.tokenSettlement * BigInt(sources.length) + toSettlement);
  return compare(cost, networkFee) > 0 ? subtract(cost, networkFee) : '0';
}

/** Custody external: each address pays what it can towards the net first; what is left of it is our fee, which stays
 *  there where moving it costs more than it is. `fees`: what the transaction to the settlement address costs, as far as
 *  it is paid out of what moves, and that of the rest. */
function shared(
  input: SweepInput,
  source: SweepSource,
  netLeft: string,
  { settlement, rest: ofRest }: Readonly<{ settlement: string; rest: string }>,
): Readonly<{ outputs: PlannedOutput[]; netLeft: string }> {
  const { currency, settlementAddress, feeAddress } = input;
  const spendable = subtract(source.amount, settlement);
  const toMerchant = compare(spendable, netLeft) < 0 ? spendable : netLeft;
  const outputs: PlannedOutput[] = [];
  if (isPositive(toMerchant))
    outputs.push({ address: settlementAddress, units: baseUnits(currency, toMerchant).toString() });
  const rest = subtract(source.amount, toMerchant);
  const costs = isPositive(toMerchant) ? add(settlement, ofRest) : ofRest;
  if (compare(rest, costs) > 0)
    outputs.push({ address: feeAddress, units: isToken(currency) ? baseUnits(currency, rest).toString() : null });
  return { outputs, netLeft: subtract(netLeft, toMerchant) };
}

/** A sweep, or its gas, for deposits that its payment does not have now. `signed`: how many transactions of it are. */
export type OrphanedSweep = Readonly<{
  kind: string;
  currency: string;
  from_address: string;
  outputs: readonly PlannedOutput[];
  deposit_ids: readonly string[];
  signed: number;
}>;

/** Which orphaned sweep each planned one goes on with: on an account whoever holds its next nonce, of coins whoever
 *  spends one of them. `orphaned`: by nonce, what is not signed last. null while an address has more signed than there
 *  is to send, or in another asset: a nonce behind it would never be reached. */
export function goOnWith<Old extends OrphanedSweep>(
  planned: readonly PlannedIntent[],
  orphaned: readonly Old[],
  network: 'utxo' | 'account',
): Readonly<{
  reassigned: Array<{ intent: PlannedIntent; old: Old }>;
  fresh: PlannedIntent[];
  superseded: Old[];
}> | null {
  const left = [...orphaned];
  const reassigned: Array<{ intent: PlannedIntent; old: Old }> = [];
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
    else reassigned.push({ intent, old: left.splice(n, 1)[0]! });
  }
  const isInTheWay = (old: Old): boolean =>
    old.kind === 'sweep' && old.signed > 0 && planned.some((intent) => intent.from === old.from_address);
  if (network === 'account' && left.some(isInTheWay)) return null;
  // What is signed of the gas wallet is sent whatever becomes of its sweep.
  return { reassigned, fresh, superseded: left.filter((old) => old.kind !== 'gas' || old.signed === 0) };
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
    const work = batchWork(currency, one.inputs, batch.length, one.netUnits !== null);
    const fee = feeIn(currency, costUnits(unitPrice, work), one.nativeRate);
    return toUnits(fee, assetOf(currency).decimals);
  };
