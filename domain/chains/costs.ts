import { divide, fit, fromUnits, times } from '../money';
import {
  assetOf,
  isToken,
  networkOf,
  type AccountNetwork,
  type Currency,
  type EvmNetwork,
  type UtxoNetwork,
} from './assets';

/** What planned transfers cost. Business code asks here; only chains/ and the transaction manager know what a network's
 *  unit of work is (a virtual byte, a gas, a transaction, an energy). */

/** Transfers of one currency that are paid for together. `inputs`: coins (UTXO), or addresses that they leave (account
 *  chains). `outputs`: what they pay, our change included. */
export type PlannedTransfer = Readonly<{ currency: Currency; inputs: number; outputs: number }>;

/** Of coins: the virtual bytes of one transaction. */
export const utxoWork = ({ sizes }: UtxoNetwork, { inputs, outputs }: Omit<PlannedTransfer, 'currency'>): bigint =>
  BigInt(sizes.base + sizes.input * inputs + sizes.output * outputs);

/** Of accounts: that of one transaction for each output; of tokens also that of one top-up for each address. */
const accountWork = (
  { work }: AccountNetwork,
  { inputs, outputs }: Omit<PlannedTransfer, 'currency'>,
  ofTokens: boolean,
): bigint => (ofTokens ? work.native * BigInt(inputs) + work.token * BigInt(outputs) : work.native * BigInt(outputs));

/** The work of planned transfers, in the network's units. */
export function workOf(planned: PlannedTransfer): bigint {
  const network = networkOf(planned.currency);
  return network.kind === 'utxo'
    ? utxoWork(network, planned)
    : accountWork(network, planned, isToken(planned.currency));
}

/** Of an account chain: the work of one transfer of the native coin, and of a token. */
export function transferWork(currency: Currency): readonly [native: bigint, token: bigint] {
  const { work } = accountOf(currency);
  return [work.native, work.token];
}

/** The work of one transfer of a currency. */
export function workOfTransfer(currency: Currency): bigint {
  const [native, token] = transferWork(currency);
  return isToken(currency) ? token : native;
}

/** The work of settling one deposit, by which payments are quoted: a coin to two recipients, or a transfer; a token's
 *  top-up included. */
export function settlementWork(currency: Currency): bigint {
  const network = networkOf(currency);
  if (network.kind === 'utxo') return utxoWork(network, { inputs: 1, outputs: 2 });
  return isToken(currency) ? network.work.tokenSettlement : network.work.native;
}

/** The work of paying so many recipients from our own money: on a UTXO network one transaction with change pays all. */
export const outgoingWork = (currency: Currency, recipients: number, coins = 1): bigint =>
  workOf({
    currency,
    inputs: networkOf(currency).kind === 'utxo' ? coins : 1,
    outputs: networkOf(currency).kind === 'utxo' ? recipients + 1 : recipients,
  });

/** The network fee of paying one recipient with so many of our coins, by that of settling one deposit. Rounded up. */
export const feeWithCoins = (usualFee: string, currency: Currency, coins: number): string =>
  networkOf(currency).kind === 'account' || coins === 1
    ? usualFee
    : divide(
        times(usualFee, outgoingWork(currency, 1, coins).toString(), 36, 'up'),
        settlementWork(currency).toString(),
        assetOf(currency).decimals,
        'up',
      );

/** The work of moving `inputs` deposits to one address: their coins in one transaction, or a transfer each. */
export const sweepWork = (currency: Currency, inputs: number): bigint =>
  workOf({ currency, inputs, outputs: networkOf(currency).kind === 'utxo' ? 1 : inputs });

/** The most work of one transaction that moves deposits of many payments: coins to `outputs`, or the tokens of `inputs`
 *  addresses, of which one gives to all of them. */
export function batchLimitWork(planned: PlannedTransfer): bigint {
  const network = networkOf(planned.currency);
  if (network.kind === 'utxo') return utxoWork(network, planned);
  const { base, each } = evmOf(planned.currency).batch.limit;
  return base + each * BigInt(planned.inputs + planned.outputs - 1);
}

/** About the gas of one transaction that moves the tokens of `inputs` addresses, one part of `parts`. `isShared`: to
 *  two addresses. */
export function batchWork(currency: Currency, inputs: number, parts: number, isShared: boolean): bigint {
  const { base, each, rest } = evmOf(currency).batch.estimate;
  return base / BigInt(parts) + (isShared ? each + rest : each) * BigInt(inputs);
}

/** An estimate with what is signed above it. */
const withMargin = ({ work }: AccountNetwork, estimate: bigint): bigint =>
  estimate + (estimate * work.marginPercent) / 100n;

/** The work that a transfer is signed with. A usual one of the native coin takes exactly what it takes. */
export function gasLimitOf(currency: Currency, estimate: bigint): bigint {
  const network = accountOf(currency);
  const { native } = network.work;
  if (!isToken(currency) && estimate === native) return native;
  const limit = withMargin(network, estimate);
  const ceiling = gasCeiling(currency);
  return limit < ceiling ? limit : ceiling;
}

/** What a recipient takes above the usual transfer (code that runs, an account that is made), at the price of the
 *  network fee that was quoted for that; '0' where it takes no more. `gasLimit`: the work that is signed, its margin
 *  included. Decimal strings, rounded up. */
export function feeAboveQuote(currency: Currency, quoted: string, gasLimit: bigint): string {
  if (!takesMore(currency, gasLimit)) return '0';
  const usual = settlementWork(currency);
  const { decimals } = assetOf(currency);
  return divide(
    times(quoted, (takenOf(currency, gasLimit) - usual).toString(), 36, 'up'),
    usual.toString(),
    decimals,
    'up',
  );
}

/** Whether a recipient takes more than the usual transfer. `gasLimit`: as above. */
export const takesMore = (currency: Currency, gasLimit: bigint): boolean =>
  takenOf(currency, gasLimit) > settlementWork(currency);

/** The work that was estimated, before the margin was added that is signed. */
const takenOf = (currency: Currency, gasLimit: bigint): bigint =>
  (gasLimit * 100n) / (100n + accountOf(currency).work.marginPercent);

/** The most that a recipient may take above the usual transfer, at the price of this quote; '0' of coins, which take no
 *  more than is planned. */
export const mostAboveQuote = (currency: Currency, quoted: string): string =>
  networkOf(currency).kind === 'account' ? feeAboveQuote(currency, quoted, gasCeiling(currency)) : '0';

/** The most work that one transfer may be signed with. */
export function gasCeiling(currency: Currency): bigint {
  const { ceiling } = accountOf(currency).work;
  return isToken(currency) ? ceiling.token : ceiling.native;
}

/** The gas that a batch of so many accounts is signed with, by the estimates of its transfers. Each account pays for
 *  its delegation and the call of it, and no transfer for a transaction of its own. */
export function batchGasLimit(currency: Currency, accounts: number, estimates: readonly bigint[]): bigint {
  const network = evmOf(currency);
  const { limit, delegation } = network.batch;
  const delegations = limit.base + delegation * BigInt(accounts);
  return estimates.reduce((sum, gas) => sum + withMargin(network, gas - network.work.native), delegations);
}

/** The most gas that a batch of so many transfers may be signed with. */
export function batchGasCeiling(currency: Currency, count: number): bigint {
  const { batch, work } = evmOf(currency);
  return batch.limit.base + work.ceiling.token * BigInt(count);
}

/** What a top-up brings so that `transfers` tokens can be sent, and the price up to which it pays for them. */
export function gasFor(
  { work }: AccountNetwork,
  unitPrice: string,
  transfers: number,
): Readonly<{ units: string; maxUnitPrice: string }> {
  const maxUnitPrice = times(fit(unitPrice, 0, 'up'), work.topUpReserve, 0, 'up');
  return { units: (BigInt(maxUnitPrice) * work.token * BigInt(transfers)).toString(), maxUnitPrice };
}

/** What work costs in base units of the network's native coin, rounded up. */
export const costUnits = (unitPrice: string, work: bigint): bigint =>
  BigInt(times(unitPrice, work.toString(), 0, 'up'));

/** What work costs in whole native coins, rounded up. */
export const nativeCost = (currency: Currency, unitPrice: string, work: bigint): string =>
  fromUnits(costUnits(unitPrice, work), assetOf(networkOf(currency).native).decimals);

/** The account chain of a currency. Throws where it is on another: a programming error. */
export function accountOf(currency: Currency): AccountNetwork {
  const network = networkOf(currency);
  if (network.kind !== 'account') throw new Error(`${currency} is on no account chain`);
  return network;
}

/** The EVM network of a currency. Throws where it is on another: a programming error. */
export function evmOf(currency: Currency): EvmNetwork {
  const network = networkOf(currency);
  if (network.kind !== 'account' || network.expiring) throw new Error(`${currency} is on no EVM network`);
  return network;
}

/** The UTXO network of a currency. Throws where it is on another: a programming error. */
export function utxoOf(currency: Currency): UtxoNetwork {
  const network = networkOf(currency);
  if (network.kind !== 'utxo') throw new Error(`${currency} is on no UTXO network`);
  return network;
}
