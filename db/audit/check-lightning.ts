import { hasRow, isOpenIncident } from '../lightning/unknown';
import type { Check } from './row-sets';

/** SQL: what an invoice brought, as it is booked: whole satoshi, in bitcoin. */
export const takenSatoshi = '(taken_msat / 1000) / 100000000::numeric';

/** SQL: what a payment took from the node, as it is booked, with what nodes on the way took: never less than that. */
export const paidSatoshi = '(amount_msat / 1000 + (fee_msat + 999) / 1000) / 100000000::numeric';

/** Rows of Lightning invoices and payments against the ledger and what they are for. */
export const lightningChecks: readonly Check[] = [
  {
    invariant: 'I6',
    what: 'a Lightning invoice and its journal do not agree',
    sql: `SELECT coalesce(i.hash, j.key) FROM (
              SELECT i.*, 'lightning/' || hash AS key, ${takenSatoshi} AS amount,
                     CASE WHEN is_for_payment THEN 'L:unsettled:' ELSE 'L:unallocated:' END || p.merchant_id AS credit
                FROM lightning_invoice i JOIN payment p ON p.id = i.payment_id
               WHERE i.state = 'taken' AND i.taken_msat >= 1000) i
            FULL JOIN (SELECT * FROM journal WHERE key LIKE 'lightning/%') j ON j.key = i.key
           WHERE i.id IS NULL OR j.id IS NULL OR NOT journal_stands(j.key)
              OR (SELECT jsonb_agg(jsonb_build_array(debit, credit, asset, trim_scale(amount)))
                    FROM posting WHERE journal_id = j.id) IS DISTINCT FROM
                 jsonb_build_array(jsonb_build_array('A:lightning', i.credit, i.currency, trim_scale(i.amount)))`,
  },
  {
    invariant: 'I5',
    what: 'the Lightning node took or paid something that no row is for',
    sql: `SELECT u.kind || ' ' || u.hash || ': ' || u.msat FROM lightning_unknown u
           WHERE u.state = 'done' AND NOT (${hasRow}) AND ${isOpenIncident}`,
  },
  {
    invariant: 'I6',
    what: 'a payment and the Lightning money that settled it do not agree',
    sql: `SELECT i.payment_id::text FROM lightning_invoice i JOIN payment p ON p.id = i.payment_id
           WHERE i.is_for_payment AND CASE i.state
                   WHEN 'taken' THEN (p.status, p.currency, p.amount_paid)
                     IS DISTINCT FROM ('SETTLED', i.currency, ${takenSatoshi})
                   WHEN 'taking' THEN p.status <> 'WAITING' ELSE false END`,
  },
  {
    invariant: 'I7',
    what: 'a withdrawal, refund or payout line and its payment by Lightning do not agree',
    sql: `SELECT w.id FROM withdrawal w LEFT JOIN lightning_payment l ON l.withdrawal_id = w.id
           WHERE w.currency = 'BTC_LN' AND (
                 l.hash IS NULL AND (w.address NOT LIKE '%@%'
                   OR w.status NOT IN ('awaiting_approval', 'pending', 'cancelled', 'failed'))
              OR l.amount_msat <> w.net_amount * 100000000000
              OR (w.status = 'completed') <> (l.outcome IS NOT DISTINCT FROM 'paid')
              OR w.status IN ('awaiting_approval', 'pending', 'cancelled') AND l.calls > 0
              OR w.status = 'failed' AND l.hash IS NOT NULL AND l.outcome IS DISTINCT FROM 'failed')
          UNION ALL
          SELECT r.id FROM refund r LEFT JOIN lightning_payment l ON l.refund_id = r.id
           WHERE r.currency = 'BTC_LN' AND r.source = 'balance' AND (
                 l.hash IS NULL AND r.status NOT IN ('awaiting_address', 'cancelled')
              OR l.amount_msat <> r.net_amount * 100000000000
              OR l.invoice <> r.address
              OR (r.status = 'completed') <> (l.outcome IS NOT DISTINCT FROM 'paid')
              OR r.status IN ('awaiting_address', 'awaiting_approval', 'pending', 'cancelled') AND l.calls > 0
              OR r.status = 'failed' AND l.outcome IS DISTINCT FROM 'failed')
          UNION ALL
          SELECT p.id FROM payout_leg p LEFT JOIN lightning_payment l ON l.leg_id = p.id
           WHERE p.currency = 'BTC_LN' AND (
                 l.hash IS NULL AND p.status NOT IN ('pending', 'failed', 'refunded')
              OR p.status = 'broadcast'
              OR l.amount_msat <> p.net_amount * 100000000000
              OR (p.status = 'completed') <> (l.outcome IS NOT DISTINCT FROM 'paid')
              OR p.status = 'completed' AND p.tx_id IS DISTINCT FROM l.hash
              OR p.status IN ('pending', 'refunded') AND l.calls > 0
              OR p.status = 'failed' AND l.hash IS NOT NULL AND l.outcome IS DISTINCT FROM 'failed')
          UNION ALL
          SELECT hash FROM lightning_payment
           WHERE outcome = 'paid' AND encode(sha256(decode(preimage, 'hex')), 'hex') <> hash`,
  },
];
