import type { EntityManager } from 'typeorm';
import { assetOf, type NetworkId } from '../../domain/chains/assets';
import type { ChainCodec } from '../../domain/chains/chain';
import { type ConversionRow } from '../../domain/conversions/conversion';
import {
  type SwapArrival,
  type SwapFacts,
  type SwapFunding,
  type SwapIncident,
  type SwapOrder,
  type SwapPair,
  type SwapRate,
} from '../../domain/conversions/swap';
import type { IntentRow } from '../txmanager/intents';
import type { Queryable } from '../query';
import { nextTreasuryAddress } from '../wallets/wallets';
import { openIncident } from '../incidents';
import type { RowOf } from '../entity';
import type { swapOrderEntity } from './entities';

/** External conversions: their orders at the swap provider, and what comes of them. */

export type SwapOrderRow = RowOf<typeof swapOrderEntity>;
type Codecs = Readonly<Record<NetworkId, Pick<ChainCodec, 'derive' | 'normalise' | 'refusalOf' | 'network'>>>;

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
    `INSERT INTO swap_order (conversion_id, provider, payout_address, refund_address, amount)
       VALUES ($1, $2, $3, $4, $5) RETURNING *`,
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

/** The orders of these conversions; `is_overdue`: it takes no deposit any more. */
export const ordersOf = (
  tx: EntityManager,
  conversionIds: readonly string[],
): Promise<Array<SwapOrderRow & { is_overdue: boolean }>> =>
  tx.query<Array<SwapOrderRow & { is_overdue: boolean }>>(
    `SELECT *, coalesce(valid_until < clock_timestamp() + make_interval(secs => $2), false) AS is_overdue
       FROM swap_order WHERE conversion_id = ANY($1)`,
    [conversionIds, lastMinuteSeconds],
  );

/** How long an order waits for our deposit where its provider names no time. */
const usualValidSeconds = 600;

/** Keeps the order that the provider has made, once. `depositAddress`: as we write it. */
export const keepOrder = (
  tx: EntityManager,
  conversionId: string,
  order: SwapOrder & { depositAddress: string },
): Promise<unknown> =>
  tx.query(
    `UPDATE swap_order SET state = $2, status = $3, order_id = $4, deposit_address = $5, promised = $6,
       payout_tx_id = $9,
            valid_until = coalesce($7::timestamptz, clock_timestamp() + make_interval(secs => $8)),
            changed_at = clock_timestamp()
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
    `UPDATE swap_order SET state = $2, status = $3, changed_at = clock_timestamp() WHERE conversion_id = $1
       AND order_id IS NULL`,
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
      WHERE conversion_id = $1 AND order_id IS NOT NULL AND (state, status, payout_tx_id) IS DISTINCT FROM ($2, $3,
        $4)`,
    [conversionId, state, status.slice(0, 200), payoutTxId],
  );

/** How long before its end an order takes our deposit no more. */
const lastMinuteSeconds = 60;
/** After how long without a change operators are told of a conversion. */
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
    `SELECT d.id, d.currency, d.amount::text, d.tx_id, d.address, d.status FROM deposit d
       JOIN address a ON a.network = d.network AND a.address = d.address AND a.tag = d.tag
      WHERE a.conversion_id = $1 AND NOT d.is_dust AND d.status IN ('pool', 'mined', 'confirmed') ORDER BY d.height,
        d.id`,
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

export const recordSwapIncident = (
  tx: EntityManager,
  kind: SwapIncident,
  conversionId: string,
  details: object,
): Promise<unknown> =>
  openIncident(tx, {
    kind,
    subject: { kind: 'conversion', id: conversionId },
    details: { conversionId, ...details },
  });

/** The conversion that an address of ours was made for, locked; null where it is for anything else. */
export async function conversionAt(tx: EntityManager, network: string, address: string): Promise<ConversionRow | null> {
  const [row] = await tx.query<ConversionRow[]>(
    `SELECT c.* FROM conversion c JOIN address a ON a.conversion_id = c.id
      WHERE a.network = $1 AND a.address = $2 FOR UPDATE OF c`,
    [network, address],
  );
  return row ?? null;
}

/** Pairs that are converted elsewhere, or would be where a position has reached its limit. */
export const swapPairs = (db: Queryable): Promise<SwapPair[]> =>
  db.query<SwapPair[]>(
    `SELECT from_currency AS from, to_currency AS to FROM conversion_pair WHERE mode = 'external'
     UNION SELECT f.currency, t.currency FROM (SELECT DISTINCT currency FROM rate_latest) f
       CROSS JOIN (SELECT DISTINCT currency FROM rate_latest) t
      WHERE f.currency <> t.currency AND EXISTS (SELECT FROM fx_position p WHERE p.asset IN (f.currency, t.currency)
        AND p.beyond = 'external' AND p.limit_usd IS NOT NULL)`,
  );

export const keepSwapRate = (db: Queryable, pair: SwapPair, rate: SwapRate): Promise<unknown> =>
  db.query(
    `INSERT INTO swap_rate (from_currency, to_currency, min_amount, max_amount, low_amount, low_output, high_amount,
       high_output, seconds, taken_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, clock_timestamp())
     ON CONFLICT (from_currency, to_currency) DO UPDATE SET min_amount = EXCLUDED.min_amount,
       max_amount = EXCLUDED.max_amount,
       low_amount = EXCLUDED.low_amount, low_output = EXCLUDED.low_output,
       high_amount = EXCLUDED.high_amount, high_output = EXCLUDED.high_output,
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
