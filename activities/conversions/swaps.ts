import { ApplicationFailure, Context } from '@temporalio/activity';
import type { DataSource, EntityManager } from 'typeorm';
import { assetOf, type NetworkId } from '../../domain/chains/assets';
import type { ChainCodec } from '../../domain/chains/chain';
import type { Config } from '../../domain/config';
import type { ConversionRow } from '../../domain/conversions/conversion';
import { compare, fit, fromUnits, toUnits } from '../../domain/money';
import {
  judgeSwap,
  SwapRefused,
  SwapUnavailable,
  type SwapOrder,
  type SwapPair,
  type SwapProvider,
  type SwapRate,
  type SwapStep,
} from '../../domain/conversions/swap';
import { lockConversion } from '../../db/conversions/conversions';
import { failPoint } from '../../db/fail-point';
import { dropIntents } from '../../db/txmanager/intents';
import { networkOf } from '../../domain/chains/assets';
import {
  giveUpOrder,
  keepOrder,
  keepSwapRate,
  orderOf,
  readOrderRow,
  recordSwapIncident,
  swapFacts,
  swapPairs,
  updateOrder,
  type SwapOrderRow,
} from '../../db/conversions/swaps';
import { bookSwapLoss, completeExternal, failExternal } from '../../commands/conversions/end-external';
import { isOurs } from '../../db/wallets/wallets';
import { lookAgainIn, restUntil } from '../rest';
import { changenowProvider } from './changenow';
import type { NextIntent } from '../../txmanager/next-intent';
import { lookAgainInMs, planEgress } from '../../txmanager/plan-outgoing';
import { firstOpen } from '../../txmanager/next-intent';

export type SwapDeps = Readonly<{
  db: DataSource;
  config: Pick<
    Config,
    'SWAP_PROVIDER' | 'SWAP_API_URL' | 'SWAP_API_KEY' | 'SWAP_POLL_SECONDS' | 'RATE_REFRESH_SECONDS'
  >;
  codecs: Readonly<Record<NetworkId, ChainCodec>>;
  log: { warn(fields: object, text: string): void };
  /** In place of the one that SWAP_PROVIDER names. */
  provider?: SwapProvider;
}>;

/** So long we try to learn whether there is an order; nothing has been sent by then. */
const patienceMs = 10 * 60_000;
/** The larger of the two amounts that a rate is drawn through. */
const highFactor = 500n;

const providerOf = ({ config, provider }: SwapDeps): SwapProvider | null =>
  provider ??
  (config.SWAP_PROVIDER === 'changenow'
    ? changenowProvider({
        url: config.SWAP_API_URL,
        apiKey: config.SWAP_API_KEY,
        // Only a sandbox may be configured with such an address.
        allowInsecure: config.SWAP_API_URL.startsWith('http:'),
      })
    : null);

/** External conversions: one order each, funded once, credited with what comes. Contract: 3.2; Ledger: J10, J11. */
export const swapActivities = (deps: SwapDeps) => {
  const { db, codecs, log } = deps;
  const configured = providerOf(deps);
  const provider = (): SwapProvider => {
    if (!configured) throw new SwapUnavailable('SWAP_PROVIDER names nobody');
    return configured;
  };

  const inSwap = <T>(
    conversionId: string,
    act: (tx: EntityManager, conversion: ConversionRow, order: SwapOrderRow) => Promise<T>,
  ): Promise<T> =>
    db.transaction(async (tx) => {
      const conversion = await lockConversion(tx, conversionId);
      if (!conversion?.is_debited || conversion.execution_mode !== 'external')
        throw new Error(`Conversion ${conversionId} is not executed externally`);
      return act(tx, conversion, await orderOf(tx, conversion, configured?.name ?? '', codecs));
    });

  /** An order that can be trusted with our money, its addresses as we write them; otherwise what is wrong with it. */
  async function checked(conversion: ConversionRow, row: SwapOrderRow, order: SwapOrder): Promise<SwapOrder | string> {
    const [from, to] = [networkOf(conversion.from_currency), networkOf(conversion.to_currency)];
    const depositAddress = codecs[from.id].normalise(order.depositAddress);
    if (depositAddress === null || (await isOurs(db.manager, from.id, depositAddress))) return 'deposit address';
    if (codecs[to.id].normalise(order.payoutAddress) !== row.payout_address) return 'payout address';
    if (codecs[from.id].normalise(order.refundAddress) !== row.refund_address) return 'refund address';
    if (compare(order.fromAmount, row.amount) !== 0) return 'amount';
    if (compare(order.toAmount, conversion.accepted_minimum!) < 0) return 'worse';
    return { ...order, depositAddress };
  }

  /** Looks whether the provider has an order for this conversion, and makes one where it has none. */
  async function order(conversion: ConversionRow, row: SwapOrderRow): Promise<void> {
    const pair: SwapPair = { from: conversion.from_currency, to: conversion.to_currency };
    const { id: conversionId } = conversion;
    const giveUp = (state: 'refused' | 'worse', status: string): Promise<unknown> =>
      db.transaction((tx) => giveUpOrder(tx, conversionId, state, status));
    try {
      let made = await provider().findOrder(conversionId, row.payout_address);
      if (!made) {
        const fromAmount = fit(row.amount, assetOf(pair.from).decimals, 'down');
        const { rateId, toAmount } = await provider().estimate(pair, fromAmount);
        if (compare(toAmount, conversion.accepted_minimum!) < 0) return void (await giveUp('worse', toAmount));
        const { payout_address: payoutAddress, refund_address: refundAddress } = row;
        made = await provider().createOrder({
          ...pair,
          conversionId,
          rateId,
          fromAmount,
          payoutAddress,
          refundAddress,
        });
      }
      await failPoint('swap.afterOrder');
      const good = await checked(conversion, row, made);
      if (typeof good !== 'string') await db.transaction((tx) => keepOrder(tx, conversionId, good));
      else if (good === 'worse') await giveUp('worse', made.toAmount);
      else {
        await db.transaction((tx) =>
          recordSwapIncident(tx, 'swap-unknown', conversionId, { order: made, wrong: good }),
        );
        await giveUp('refused', `its ${good} is wrong`);
      }
    } catch (error) {
      if (error instanceof SwapRefused) return void (await giveUp('refused', `${error.code}: ${error.message}`));
      const isOver = Date.now() - row.created_at.getTime() > patienceMs;
      if (error instanceof SwapUnavailable && isOver) return void (await giveUp('refused', error.message));
      throw error;
    }
  }

  /** What follows from all that is known, done. */
  const act = (conversionId: string): Promise<SwapStep & { details?: object }> =>
    inSwap(conversionId, async (tx, conversion, row) => {
      const facts = await swapFacts(tx, conversion, row);
      const step = judgeSwap(facts);
      if (step.incident)
        await recordSwapIncident(tx, step.incident, conversionId, {
          status: conversion.status,
          order: row.status,
          arrived: facts.arrived,
          returned: facts.returned,
        });
      if (step.do === 'complete') await completeExternal(tx, conversion, step);
      if (step.do === 'fail') await failExternal(tx, conversion, step.message);
      // What nobody has signed until then, nobody will.
      if (step.do === 'drop' || step.do === 'end') await dropIntents(tx, { kind: 'conversion', id: conversionId });
      if (step.do === 'end' && conversion.status === 'failed') await bookSwapLoss(tx, conversion, row, facts.returned);
      await failPoint('swap.beforeCommit');
      return step;
    });

  /** Until an end is reached, or something is there to be sent. */
  async function goOn(conversionId: string): Promise<SwapStep> {
    for (;;) {
      const step = await act(conversionId);
      if (step.do === 'order') {
        const { conversion, row } = await inSwap(conversionId, async (_tx, conversion, row) =>
          Promise.resolve({ conversion, row }),
        );
        await order(conversion, row);
      } else if (step.do !== 'complete' && step.do !== 'fail' && step.do !== 'drop') return step;
    }
  }

  const activities = {
    /** What is to be sent next, planned where it was not; null at the end. Asks the provider, and does what follows, for as long as
     *  there is nothing: throws as `watchSwap`. */
    async followSwap(conversionId: string): Promise<NextIntent> {
      for (;;) {
        const next = await activities.nextSwapIntent(conversionId);
        if (next || (await activities.watchSwap(conversionId)) === 'end') return next;
      }
    },

    /** What a conversion has to send next: its order is looked up, then made, and our deposit planned. null: nothing now. */
    async nextSwapIntent(conversionId: string): Promise<NextIntent> {
      const owner = { kind: 'conversion', id: conversionId } as const;
      const step = await goOn(conversionId);
      const open = await firstOpen(db.manager, owner);
      if (open || step.do !== 'fund') return open;
      return inSwap(conversionId, async (tx, conversion, row) => {
        const facts = await swapFacts(tx, conversion, row);
        if (judgeSwap(facts).do !== 'fund') return { lookAgainInMs: 0, reason: 'it has changed meanwhile' };
        const { decimals } = assetOf(conversion.from_currency);
        const units = toUnits(fit(row.amount, decimals, 'down'), decimals);
        const { reason } = await planEgress(tx, {
          kind: 'fund',
          ref: conversionId,
          currency: conversion.from_currency,
          outputs: [{ ref: conversionId, address: row.deposit_address!, units }],
          merchantId: conversion.merchant_id,
          owner: { kind: 'conversion', id: conversionId },
        });
        const planned = await firstOpen(tx, owner);
        return planned ?? { lookAgainInMs, reason: reason ?? 'nothing can be planned' };
      });
    },

    /** Asks the provider, and does what follows. `send`: something is to be sent again. Throws SWAP_OPEN while there is nothing to do:
     *  the next try is the next look, and leaves no trace in the history. */
    async watchSwap(conversionId: string): Promise<'end' | 'send'> {
      const row = await readOrderRow(db.manager, conversionId);
      if (row?.order_id) {
        try {
          const said = await provider().readOrder(row.order_id);
          await db.transaction((tx) => updateOrder(tx, conversionId, said));
        } catch (error) {
          if (!(error instanceof SwapUnavailable || error instanceof SwapRefused)) throw error;
          log.warn({ conversionId, reason: error.message }, 'The swap provider could not be asked about an order');
        }
      }
      const step = await goOn(conversionId);
      if (step.do === 'end') return 'end';
      if (step.do === 'fund') return 'send';
      throw lookAgainIn(deps.config.SWAP_POLL_SECONDS * 1000, 'SWAP_OPEN', step.do === 'wait' ? step.reason : step.do);
    },

    /** Never returns while its worker lives: what the provider gives now, for every pair that is converted there. */
    async keepSwapRates(): Promise<void> {
      const { cancellationSignal } = Context.current();
      while (!cancellationSignal.aborted) {
        for (const pair of await swapPairs(db)) {
          try {
            await keepSwapRate(db, pair, await lookAtPair(provider(), pair));
          } catch (error) {
            if (!(error instanceof SwapUnavailable || error instanceof SwapRefused)) throw error;
            log.warn({ pair, reason: error.message }, 'No rate of the swap provider');
          }
        }
        await restUntil(deps.config.RATE_REFRESH_SECONDS * 1000, cancellationSignal);
      }
      throw ApplicationFailure.retryable('This worker is shutting down', 'MOVES');
    },
  };
  return activities;
};

/** Two points of a pair's price. */
async function lookAtPair(provider: SwapProvider, pair: SwapPair): Promise<SwapRate> {
  const { decimals } = assetOf(pair.from);
  const { min, max } = await provider.range(pair);
  const least = toUnits(fit(min, Math.min(decimals, 8), 'up'), decimals);
  const most = max === null ? least * highFactor : toUnits(fit(max, Math.min(decimals, 8), 'down'), decimals);
  const wanted = least * highFactor;
  const high = fromUnits(wanted < most ? wanted : most, decimals);
  const [first, second] = [
    await provider.estimate(pair, fromUnits(least, decimals)),
    await provider.estimate(pair, high),
  ];
  return { min: fromUnits(least, decimals), max, low: first, high: second, seconds: first.seconds };
}
