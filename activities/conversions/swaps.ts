import type { DataSource, EntityManager } from 'typeorm';
import { bookSwapLoss, completeExternal, failExternal } from '../../commands/conversions/external';
import { lockConversion } from '../../db/conversions/conversions';
import { orderOf, recordSwapIncident, swapFacts, type SwapOrderRow } from '../../db/conversions/swaps';
import { failPoint } from '../../db/fail-point';
import { dropIntents } from '../../db/txmanager/intents';
import { assetOf, type NetworkId } from '../../domain/chains/assets';
import type { ChainCodec } from '../../domain/chains/chain';
import type { Config } from '../../domain/config';
import type { ConversionRow } from '../../domain/conversions/conversion';
import { nextSwapStep, type SwapProvider, type SwapStep } from '../../domain/conversions/swap';
import { fit, toUnits } from '../../domain/money';
import { withGas } from '../../txmanager/estimate-gas';
import type { GasDeps } from '../../txmanager/gas-node';
import { firstOpen, type NextIntent } from '../../txmanager/next-intent';
import { leaveHeldUpWallets } from '../../txmanager/leave-wallet';
import { lookAgainInMs, planOutgoing } from '../../txmanager/plan-outgoing';
import { lookAgainIn } from '../rest';
import { changenowProvider } from './changenow';
import { placeOrder, refreshOrder, type SwapContext } from './swap-orders';
import { refreshSwapRates } from './swap-rates';

export type SwapDeps = Readonly<{
  db: DataSource;
  config: Pick<
    Config,
    'SWAP_PROVIDER' | 'SWAP_API_URL' | 'SWAP_API_KEY' | 'SWAP_POLL_SECONDS' | 'RATE_REFRESH_SECONDS'
  >;
  codecs: Readonly<Record<NetworkId, ChainCodec>>;
  log: { warn(fields: object, text: string): void };
  nodes: GasDeps['nodes'];
  /** In place of the one that SWAP_PROVIDER names. */
  provider?: SwapProvider;
}>;

const configuredProvider = ({ config, provider }: SwapDeps): SwapProvider | null =>
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
  const { config, db, codecs, log } = deps;
  const context: SwapContext = { db, codecs, log, configured: configuredProvider(deps) };
  return {
    /** Takes steps of an external conversion until there is a deposit to send, which it returns with its gas estimated,
     *  or until the end, where it returns null. Throws SWAP_OPEN while the conversion waits: the next try is the next
     *  look, and leaves no trace in the history. */
    followSwap: (conversionId: string): Promise<NextIntent> =>
      withGas(deps, { kind: 'conversion', id: conversionId }, () =>
        nextDeposit(context, conversionId, config.SWAP_POLL_SECONDS * 1000),
      ),

    /** Never returns while its worker lives. */
    keepSwapRates: (): Promise<void> => refreshSwapRates(context, config.RATE_REFRESH_SECONDS),
  };
};

/** Takes steps until one needs our deposit, which it returns, unsigned; null at the end. Throws SWAP_OPEN. */
async function nextDeposit(context: SwapContext, conversionId: string, pollMs: number): Promise<NextIntent> {
  let isRefreshed = false;
  for (;;) {
    const { step, conversion, order } = await takeStep(context, conversionId);
    if (step.do === 'order') await placeOrder(context, conversion, order);
    if (step.do !== 'fund' && step.do !== 'wait' && step.do !== 'end') continue;

    const open = await firstOpen(context.db.manager, { kind: 'conversion', id: conversionId });
    if (open) return open;
    if (step.do === 'fund') {
      const planned = await planDeposit(context, conversionId);
      if (planned) return planned;
    } else if (!isRefreshed) {
      await refreshOrder(context, order);
      isRefreshed = true;
    } else if (step.do === 'wait') throw lookAgainIn(pollMs, 'SWAP_OPEN', step.reason);
    else return null;
  }
}

/** Runs `act` in one transaction with the conversion locked and its order row read. */
const withConversion = <T>(
  { db, codecs, configured }: SwapContext,
  conversionId: string,
  act: (tx: EntityManager, conversion: ConversionRow, order: SwapOrderRow) => Promise<T>,
): Promise<T> =>
  db.transaction(async (tx) => {
    const conversion = await lockConversion(tx, conversionId);
    if (!conversion?.is_debited || conversion.execution_mode !== 'external')
      throw new Error(`Conversion ${conversionId} is not executed externally`);
    return act(tx, conversion, await orderOf(tx, conversion, configured?.name ?? '', codecs));
  });

/** Evaluates all that is known of a conversion, and applies the step that follows to its rows. */
const takeStep = (
  context: SwapContext,
  conversionId: string,
): Promise<{ step: SwapStep; conversion: ConversionRow; order: SwapOrderRow }> =>
  withConversion(context, conversionId, async (tx, conversion, order) => {
    const facts = await swapFacts(tx, conversion, order);
    const step = nextSwapStep(facts);
    if (step.incident)
      await recordSwapIncident(tx, step.incident, conversionId, {
        status: conversion.status,
        order: order.status,
        arrived: facts.arrived,
        returned: facts.returned,
      });
    if (step.do === 'complete') await completeExternal(tx, conversion, step);
    if (step.do === 'fail') await failExternal(tx, conversion, step.message);
    // An intent that is not signed by now is never signed.
    if (step.do === 'drop' || step.do === 'end') await dropIntents(tx, { kind: 'conversion', id: conversionId });
    if (step.do === 'end' && conversion.status === 'failed') await bookSwapLoss(tx, conversion, order, facts.returned);
    await failPoint('swap.beforeCommit');
    return { step, conversion, order };
  });

/** Plans our deposit at the provider; null where the conversion has changed since its last step. */
const planDeposit = (context: SwapContext, conversionId: string): Promise<NextIntent> =>
  withConversion(context, conversionId, async (tx, conversion, order) => {
    if (nextSwapStep(await swapFacts(tx, conversion, order)).do !== 'fund') return null;
    const { decimals } = assetOf(conversion.from_currency);
    const units = toUnits(fit(order.amount, decimals, 'down'), decimals);
    const owner = { kind: 'conversion', id: conversionId } as const;
    const { reason } = await planOutgoing(tx, {
      kind: 'fund',
      ref: conversionId,
      currency: conversion.from_currency,
      outputs: [{ ref: conversionId, address: order.deposit_address!, units }],
      merchantId: conversion.merchant_id,
      owner,
    });
    if (reason === null) await leaveHeldUpWallets(tx, owner);
    const planned = await firstOpen(tx, owner);
    return planned ?? { lookAgainInMs, reason: reason ?? 'nothing can be planned' };
  });
