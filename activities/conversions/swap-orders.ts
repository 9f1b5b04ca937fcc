import type { DataSource } from 'typeorm';
import { recordSwapIncident, giveUpOrder, keepOrder, updateOrder, type SwapOrderRow } from '../../db/conversions/swaps';
import { failPoint } from '../../db/fail-point';
import { isOurs } from '../../db/wallets/wallets';
import { assetOf, networkOf, type NetworkId } from '../../domain/chains/assets';
import type { ChainCodec } from '../../domain/chains/chain';
import type { ConversionRow } from '../../domain/conversions/conversion';
import {
  SwapRefused,
  SwapUnavailable,
  type SwapOrder,
  type SwapPair,
  type SwapProvider,
} from '../../domain/conversions/swap';
import { compare, fit } from '../../domain/money';

/** The order of an external conversion at its swap provider. Contract: 3.2. */

export type SwapContext = Readonly<{
  db: DataSource;
  codecs: Readonly<Record<NetworkId, ChainCodec>>;
  log: { warn(fields: object, text: string): void };
  /** null where SWAP_PROVIDER names none. */
  configured: SwapProvider | null;
}>;

/** Throws SwapUnavailable where no provider is configured. */
export function providerOf({ configured }: Pick<SwapContext, 'configured'>): SwapProvider {
  if (!configured) throw new SwapUnavailable('SWAP_PROVIDER names nobody');
  return configured;
}

/** An order is looked up or made for so long; nothing has been sent by then. */
const patienceMs = 10 * 60_000;

/** Keeps the order that the provider has for a conversion, and makes one where it has none. An order that cannot be
 *  had, or that our money cannot be trusted to, is given up. */
export async function placeOrder(context: SwapContext, conversion: ConversionRow, row: SwapOrderRow): Promise<void> {
  const { db } = context;
  const giveUp = (state: 'refused' | 'worse', status: string): Promise<unknown> =>
    db.transaction((tx) => giveUpOrder(tx, conversion.id, state, status));
  try {
    const made = await findOrMakeOrder(providerOf(context), conversion, row);
    if ('offered' in made) return void (await giveUp('worse', made.offered));
    await failPoint('swap.afterOrder');
    const checked = await checkOrder(context, conversion, row, made);
    if ('order' in checked) await db.transaction((tx) => keepOrder(tx, conversion.id, checked.order));
    else if (checked.wrong === 'worse') await giveUp('worse', made.toAmount);
    else {
      const { wrong } = checked;
      await db.transaction((tx) => recordSwapIncident(tx, 'swap-unknown', conversion.id, { order: made, wrong }));
      await giveUp('refused', `its ${wrong} is wrong`);
    }
  } catch (error) {
    if (error instanceof SwapRefused) return void (await giveUp('refused', `${error.code}: ${error.message}`));
    const isOver = Date.now() - row.created_at.getTime() > patienceMs;
    if (error instanceof SwapUnavailable && isOver) return void (await giveUp('refused', error.message));
    throw error;
  }
}

/** The provider's order for a conversion. `offered`: no order is made, this amount is less than was accepted. */
async function findOrMakeOrder(
  provider: SwapProvider,
  conversion: ConversionRow,
  row: SwapOrderRow,
): Promise<SwapOrder | { offered: string }> {
  const { payout_address: payoutAddress, refund_address: refundAddress } = row;
  const known = await provider.findOrder(conversion.id, payoutAddress);
  if (known) return known;
  const pair: SwapPair = { from: conversion.from_currency, to: conversion.to_currency };
  const fromAmount = fit(row.amount, assetOf(pair.from).decimals, 'down');
  const { rateId, toAmount } = await provider.estimate(pair, fromAmount);
  if (compare(toAmount, conversion.accepted_minimum!) < 0) return { offered: toAmount };
  return provider.createOrder({
    ...pair,
    conversionId: conversion.id,
    rateId,
    fromAmount,
    payoutAddress,
    refundAddress,
  });
}

/** An order that our money can be trusted to, its deposit address as our codec writes it; or what is wrong with it. */
async function checkOrder(
  { db, codecs }: SwapContext,
  conversion: ConversionRow,
  row: SwapOrderRow,
  order: SwapOrder,
): Promise<
  { order: SwapOrder } | { wrong: 'deposit address' | 'payout address' | 'refund address' | 'amount' | 'worse' }
> {
  const [from, to] = [networkOf(conversion.from_currency), networkOf(conversion.to_currency)];
  const depositAddress = codecs[from.id].normalise(order.depositAddress);
  if (depositAddress === null || (await isOurs(db.manager, from.id, depositAddress)))
    return { wrong: 'deposit address' };
  if (codecs[to.id].normalise(order.payoutAddress) !== row.payout_address) return { wrong: 'payout address' };
  if (codecs[from.id].normalise(order.refundAddress) !== row.refund_address) return { wrong: 'refund address' };
  if (compare(order.fromAmount, row.amount) !== 0) return { wrong: 'amount' };
  if (compare(order.toAmount, conversion.accepted_minimum!) < 0) return { wrong: 'worse' };
  return { order: { ...order, depositAddress } };
}

/** Stores what the provider says of an order now. A provider that cannot be asked changes nothing. */
export async function refreshOrder(context: SwapContext, row: SwapOrderRow): Promise<void> {
  if (!row.order_id) return;
  const { conversion_id: conversionId } = row;
  try {
    const said = await providerOf(context).readOrder(row.order_id);
    await context.db.transaction((tx) => updateOrder(tx, conversionId, said));
  } catch (error) {
    if (!(error instanceof SwapUnavailable || error instanceof SwapRefused)) throw error;
    context.log.warn({ conversionId, reason: error.message }, 'The swap provider could not be asked about an order');
  }
}
