import type { EntityManager } from 'typeorm';
import { assetOf, type NetworkId } from '../../domain/chains/assets';
import type { ChainCodec } from '../../domain/chains/chain';
import { baseCommission, commissionOf, notNow, tooLittle, tooMuch, type ConversionRow } from '../../domain/conversions/conversion';
import { DomainError } from '../../domain/errors';
import { completeConversionJournal, failConversionJournal, swapLossJournal, swapLossKey } from '../../domain/ledger/ledger';
import { add, compare, divide, fit, isPositive, isZero, larger, smaller, subtract, trim } from '../../domain/money';
import {
  leastOutput,
  priceProtectionPct,
  swapMessages,
  type SwapArrival,
  type SwapFacts,
  type SwapFunding,
  type SwapIncident,
  type SwapOrder,
  type SwapPair,
  type SwapRate,
} from '../../domain/conversions/swap';
import { announceConversion, conversionWorkflow, moveConversion, type ExternalConversions } from './conversions';
import type { IntentRow } from '../txmanager/intents';
import { ensure, post } from '../ledger/ledger';
import { rateNow, type Queryable } from '../pricing/pricing';
import { byClock } from '../records';
import { requestSignal } from '../temporal/temporal-requests';
import { nextTreasuryAddress } from '../wallets/wallets';

/** External conversions: their orders at the swap provider, and what comes of them. */

export type SwapOrderRow = {
  conversion_id: string;
  provider: string;
  /** Made for this order alone, one to be paid at, one to be paid back at. */
  payout_address: string;
  refund_address: string;
  /** What we send. */
  amount: string;
  state: SwapFacts['order'];
  status: string | null;
  order_id: string | null;
  deposit_address: string | null;
  /** What the provider has fixed. */
  promised: string | null;
  /** What it says it has paid out with. */
  payout_tx_id: string | null;
  valid_until: Date | null;
  credited_deposit_ids: string[];
  created_at: Date;
  changed_at: Date;
};
type Codecs = Readonly<Record<NetworkId, Pick<ChainCodec, 'derive' | 'normalise' | 'network'>>>;

/** The order row of a conversion that the caller has locked, with its two addresses; made where there is none yet. */
export async function orderOf(
  tx: EntityManager,
  conversion: ConversionRow,
  provider: string,
  codecs: Codecs,
): Promise<SwapOrderRow> {
  const known = await readOrderRow(tx, conversion.id);
  if (known) return known;
  const addressOf = (currency: string): Promise<string> =>
    nextTreasuryAddress(tx, { currency, conversionId: conversion.id }, codecs[assetOf(currency).network]);
  const [row] = await tx.query<SwapOrderRow[]>(
    `INSERT INTO swap_order (conversion_id, provider, payout_address, refund_address, amount) VALUES ($1, $2, $3, $4, $5) RETURNING *`,
    [
      conversion.id,
      provider,
      await addressOf(conversion.to_currency),
      await addressOf(conversion.from_currency),
      conversion.net_from_amount,
    ],
  );
  return row!;
}

export async function readOrderRow(db: Queryable, conversionId: string): Promise<SwapOrderRow | null> {
  const [row] = await db.query<SwapOrderRow[]>('SELECT * FROM swap_order WHERE conversion_id = $1', [conversionId]);
  return row ?? null;
}

/** So long an order waits for our deposit where its provider names no time. */
const usualValidSeconds = 600;

/** Keeps the order that the provider has made, once. `depositAddress`: as we write it. */
export const keepOrder = (
  tx: EntityManager,
  conversionId: string,
  order: SwapOrder & { depositAddress: string },
): Promise<unknown> =>
  tx.query(
    `UPDATE swap_order SET state = $2, status = $3, order_id = $4, deposit_address = $5, promised = $6, payout_tx_id = $9,
            valid_until = coalesce($7::timestamptz, clock_timestamp() + make_interval(secs => $8)), changed_at = clock_timestamp()
      WHERE conversion_id = $1 AND order_id IS NULL`,
    [
      conversionId,
      order.state,
      order.status,
      order.id,
      order.depositAddress,
      order.toAmount,
      order.validUntil,
      usualValidSeconds,
      order.payoutTxId,
    ],
  );

/** There will be no order. */
export const giveUpOrder = (
  tx: EntityManager,
  conversionId: string,
  state: 'refused' | 'worse',
  status: string,
): Promise<unknown> =>
  tx.query(
    `UPDATE swap_order SET state = $2, status = $3, changed_at = clock_timestamp() WHERE conversion_id = $1 AND order_id IS NULL`,
    [conversionId, state, status.slice(0, 200)],
  );

/** What the provider says of an order now. */
export const updateOrder = (
  tx: EntityManager,
  conversionId: string,
  { state, status, payoutTxId }: Pick<SwapOrder, 'state' | 'status' | 'payoutTxId'>,
): Promise<unknown> =>
  tx.query(
    `UPDATE swap_order SET state = $2, status = $3, payout_tx_id = $4, changed_at = clock_timestamp()
      WHERE conversion_id = $1 AND order_id IS NOT NULL AND (state, status, payout_tx_id) IS DISTINCT FROM ($2, $3, $4)`,
    [conversionId, state, status.slice(0, 200), payoutTxId],
  );

/** An order takes our deposit until so long before its end. */
const lastMinuteSeconds = 60;
/** Whatever has not changed for so long is told to people. */
const silentHours = 24;

const fundings: Readonly<Record<IntentRow['status'], SwapFunding>> = {
  planned: 'planned',
  stored: 'signed',
  sent: 'signed',
  mined: 'signed',
  final: 'sent',
  failed: 'lost',
  dead: 'none',
};

/** A transaction's id, however it is written. */
const plain = (txId: string): string => txId.toLowerCase().replace(/^0x/, '');

/** All that decides what an external conversion does next. */
export async function swapFacts(tx: EntityManager, conversion: ConversionRow, order: SwapOrderRow): Promise<SwapFacts> {
  const deposits = await tx.query<Array<SwapArrival & { tx_id: string; address: string; status: string }>>(
    `SELECT d.id, d.currency, d.amount::text, d.tx_id, d.address, d.status FROM deposit d JOIN address a ON a.network = d.network AND a.address = d.address
      WHERE a.conversion_id = $1 AND NOT d.is_dust AND d.status IN ('pool', 'mined', 'confirmed') ORDER BY d.height, d.id`,
    [conversion.id],
  );
  const confirmed = deposits.filter((deposit) => deposit.status === 'confirmed');
  const [funding] = await tx.query<Array<Pick<IntentRow, 'status' | 'booked'>>>(
    `SELECT status, booked FROM intent WHERE kind = 'fund' AND ref = $1`,
    [conversion.id],
  );
  const [now] = await tx.query<Array<{ is_overdue: boolean; is_silent: boolean }>>(
    `SELECT coalesce($1::timestamptz < clock_timestamp() + make_interval(secs => $3), false) AS is_overdue,
            greatest($2::timestamptz, $4::timestamptz) < clock_timestamp() - make_interval(hours => $5) AS is_silent`,
    [order.valid_until, order.changed_at, lastMinuteSeconds, conversion.updated_at, silentHours],
  );
  const at = (address: string) => confirmed.filter((deposit) => deposit.address === address);
  const isEnded = funding?.status === 'final' || funding?.status === 'failed';
  return {
    status: conversion.status as SwapFacts['status'],
    toCurrency: conversion.to_currency,
    minimum: conversion.accepted_minimum!,
    order: order.state,
    isOverdue: now!.is_overdue,
    funding: !funding ? 'none' : isEnded && !funding.booked ? 'signed' : fundings[funding.status],
    arrived: at(order.payout_address),
    isPaidOut: at(order.payout_address).some(
      ({ currency, tx_id }) =>
        currency === conversion.to_currency &&
        order.payout_tx_id !== null &&
        plain(tx_id) === plain(order.payout_tx_id),
    ),
    isComing: deposits.some((deposit) => deposit.status !== 'confirmed'),
    credited: order.credited_deposit_ids,
    returned: at(order.refund_address),
    isSilent: now!.is_silent,
  };
}

const exchangeOf = (conversion: ConversionRow) => ({
  id: conversion.id,
  merchantId: conversion.merchant_id,
  fromCurrency: conversion.from_currency,
  toCurrency: conversion.to_currency,
  fromAmount: conversion.from_amount,
  commission: conversion.commission_amount!,
  net: conversion.net_from_amount!,
});

/** Credits what has arrived: J11. */
export async function completeExternal(
  tx: EntityManager,
  conversion: ConversionRow,
  credit: Readonly<{ depositIds: readonly string[]; amount: string }>,
): Promise<void> {
  await ensure(tx, completeConversionJournal({ ...exchangeOf(conversion), received: credit.amount }));
  await tx.query('UPDATE swap_order SET credited_deposit_ids = $2 WHERE conversion_id = $1', [
    conversion.id,
    credit.depositIds,
  ]);
  const done = await moveConversion(tx, conversion, 'completed', {
    credit_amount: credit.amount,
    completed_at: byClock,
  });
  await announceConversion(tx, done, 'conversion.completed', conversion.status);
}

/** Credits the whole source amount back, commission included: J10, its end. */
export async function failExternal(tx: EntityManager, conversion: ConversionRow, message: string): Promise<void> {
  await ensure(tx, failConversionJournal(exchangeOf(conversion)));
  const failed = await moveConversion(tx, conversion, 'failed', {
    merchant_message: message,
    completed_at: byClock,
  });
  await announceConversion(tx, failed, 'conversion.failed', conversion.status);
}

/** Fails a conversion that waits for its provider, because somebody has decided so. Why that may not be now, or null: it has been done. */
export async function giveUpOnProvider(tx: EntityManager, conversion: ConversionRow): Promise<string | null> {
  const order = await readOrderRow(tx, conversion.id);
  if (conversion.execution_mode !== 'external' || conversion.status !== 'processing' || !order)
    return `it is ${conversion.status}`;
  const { funding, isComing } = await swapFacts(tx, conversion, order);
  if (funding === 'planned' || funding === 'signed') return 'our deposit may still leave';
  if (isComing) return 'money is on its way to us';
  if (funding === 'none' && order.order_id === null) return 'its order may still be made';
  await failExternal(tx, conversion, swapMessages.failed);
  await tellConversion(tx, conversion);
  return null;
}

/** What the provider has kept of a deposit that it sent back is our loss. What it sends later makes it smaller, and what a reorganisation
 *  takes makes it larger: each time the difference is booked, under the next key. The caller has locked the conversion. */
export async function bookSwapLoss(
  tx: EntityManager,
  conversion: ConversionRow,
  order: SwapOrderRow,
  returned: readonly SwapArrival[],
): Promise<void> {
  const back = add(
    '0',
    ...returned.filter((one) => one.currency === conversion.from_currency).map((one) => one.amount),
  );
  const lost = isPositive(back) ? larger(subtract(order.amount, back), '0') : '0';
  const [booked] = await tx.query<Array<{ steps: number; amount: string }>>(
    `WITH RECURSIVE step AS (
       SELECT 1 AS n, id FROM journal WHERE key = $1
       UNION ALL SELECT s.n + 1, j.id FROM step s JOIN journal j ON j.key = $1 || '/' || (s.n + 1))
     SELECT count(s.n)::int AS steps, coalesce(sum(CASE p.debit WHEN 'E:loss' THEN p.amount ELSE -p.amount END), 0)::text AS amount
       FROM step s JOIN posting p ON p.journal_id = s.id`,
    [swapLossKey(conversion.id, 1)],
  );
  const more = subtract(lost, booked!.amount);
  if (isZero(more)) return;
  const { id, from_currency: currency } = conversion;
  await post(tx, swapLossJournal({ id, step: booked!.steps + 1, currency, amount: more }));
}

export const recordSwapIncident = (
  tx: EntityManager,
  kind: SwapIncident,
  conversionId: string,
  details: object,
): Promise<unknown> =>
  tx.query('INSERT INTO incident (kind, key, details) VALUES ($1, $2, $3) ON CONFLICT (key) DO NOTHING', [
    kind,
    `${kind}/${conversionId}`,
    { conversionId, ...details },
  ]);

/** Lets the workflow of a conversion look again; starts it where it does not run. */
export const tellConversion = (
  tx: EntityManager,
  conversion: Pick<ConversionRow, 'id' | 'merchant_id' | 'from_currency' | 'to_currency'>,
): Promise<unknown> =>
  requestSignal(tx, {
    workflow: 'conversion',
    workflowId: conversionWorkflow(conversion.id),
    args: [conversion.id],
    signal: 'news',
    attributes: {
      MerchantId: conversion.merchant_id,
      Currency: conversion.from_currency,
      summary: `${conversion.from_currency} to ${conversion.to_currency}`,
    },
  });

/** The conversion that an address of ours was made for, locked; null where it is for anything else. */
export async function conversionAt(tx: EntityManager, network: string, address: string): Promise<ConversionRow | null> {
  const [row] = await tx.query<ConversionRow[]>(
    'SELECT c.* FROM conversion c JOIN address a ON a.conversion_id = c.id WHERE a.network = $1 AND a.address = $2 FOR UPDATE OF c',
    [network, address],
  );
  return row ?? null;
}

/** Pairs that are converted elsewhere, or would be where a position has reached its limit. */
export const swapPairs = (db: Queryable): Promise<SwapPair[]> =>
  db.query<SwapPair[]>(
    `SELECT from_currency AS from, to_currency AS to FROM conversion_pair WHERE mode = 'external'
     UNION SELECT f.currency, t.currency FROM (SELECT DISTINCT currency FROM rate_latest) f CROSS JOIN (SELECT DISTINCT currency FROM rate_latest) t
      WHERE f.currency <> t.currency AND EXISTS (SELECT FROM fx_position p WHERE p.asset IN (f.currency, t.currency) AND p.beyond = 'external' AND p.limit_usd IS NOT NULL)`,
  );

export const keepSwapRate = (db: Queryable, pair: SwapPair, rate: SwapRate): Promise<unknown> =>
  db.query(
    `INSERT INTO swap_rate (from_currency, to_currency, min_amount, max_amount, low_amount, low_output, high_amount, high_output, seconds, taken_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, clock_timestamp())
     ON CONFLICT (from_currency, to_currency) DO UPDATE SET min_amount = EXCLUDED.min_amount, max_amount = EXCLUDED.max_amount,
       low_amount = EXCLUDED.low_amount, low_output = EXCLUDED.low_output, high_amount = EXCLUDED.high_amount, high_output = EXCLUDED.high_output,
       seconds = EXCLUDED.seconds, taken_at = EXCLUDED.taken_at`,
    [
      pair.from,
      pair.to,
      rate.min,
      rate.max,
      rate.low.fromAmount,
      rate.low.toAmount,
      rate.high.fromAmount,
      rate.high.toAmount,
      rate.seconds,
    ],
  );

type RateRow = {
  min_amount: string;
  max_amount: string | null;
  low_amount: string;
  low_output: string;
  high_amount: string;
  high_output: string;
  seconds: number | null;
};
async function swapRate(db: Queryable, pair: SwapPair, maxAgeSeconds: number): Promise<SwapRate | null> {
  const [row] = await db.query<RateRow[]>(
    `SELECT min_amount, max_amount, low_amount, low_output, high_amount, high_output, seconds FROM swap_rate
      WHERE from_currency = $1 AND to_currency = $2 AND taken_at >= clock_timestamp() - make_interval(secs => $3)`,
    [pair.from, pair.to, maxAgeSeconds],
  );
  if (!row) return null;
  return {
    min: trim(row.min_amount),
    max: row.max_amount === null ? null : trim(row.max_amount),
    low: { fromAmount: row.low_amount, toAmount: row.low_output },
    high: { fromAmount: row.high_amount, toAmount: row.high_output },
    seconds: row.seconds,
  };
}

const unavailable = (): DomainError => new DomainError('QUOTE_FAILED', notNow);

/** Conversions by a swap provider, for whoever quotes and executes. Sending our deposit costs a chain fee, which is charged with the
 *  commission. */
export const swapConversions = (db: Queryable, maxAgeSeconds: number): ExternalConversions => ({
  async quote({ fromCurrency, toCurrency, fromAmount, rates, limits }) {
    const rate = await swapRate(db, { from: fromCurrency, to: toCurrency }, maxAgeSeconds);
    if (!rate) throw unavailable();
    const cost = await rateNow(db, { merchantId: '', currency: fromCurrency, fiat: 'USD', maxAgeSeconds }).catch(
      (error: unknown) => {
        throw error instanceof DomainError && error.code === 'RATE_UNAVAILABLE' ? unavailable() : error;
      },
    );
    const { decimals, payDecimals } = assetOf(fromCurrency);
    const providerFee = fit(cost.networkFee, decimals, 'up');
    /** The amount of which so much is left. */
    const grossOf = (net: string): string => {
      const kept = add(net, providerFee);
      const byShare = divide(kept, subtract('1', baseCommission), decimals, 'up');
      return larger(byShare, add(kept, commissionOf('0', fromCurrency, rates.from)));
    };
    const net = subtract(fromAmount, add(providerFee, commissionOf(fromAmount, fromCurrency, rates.from)));
    // Both bounds hold, so that what is suggested is not refused for the other.
    const minimum = larger(limits.minimum, fit(grossOf(rate.min), payDecimals, 'up'));
    const maximum = rate.max === null ? limits.maximum : smaller(limits.maximum, fit(rate.max, payDecimals, 'down'));
    const isTooMuch = rate.max !== null && compare(net, rate.max) > 0;
    if (compare(minimum, maximum) > 0) throw unavailable();
    if (compare(net, rate.min) < 0 || compare(fromAmount, limits.minimum) < 0) throw tooLittle(fromCurrency, minimum);
    if (isTooMuch || compare(fromAmount, limits.maximum) > 0) throw tooMuch(fromCurrency, maximum);
    const toAmount = leastOutput(rate, net, assetOf(toCurrency).decimals);
    if (toAmount === null) throw unavailable();
    return { providerFee, toAmount, priceProtectionPct, estimatedSeconds: rate.seconds };
  },
  async open(tx, row) {
    await tellConversion(tx, row);
  },
});
