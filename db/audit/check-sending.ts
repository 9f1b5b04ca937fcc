import { takenSatoshi } from './check-lightning';
import { isOurs } from './own-address';
import { registrySql, holds, paid, captureOrReleaseOf, type Check } from './row-sets';

/** What is on its way out, its holds and its wallets: I7 to I9. */
export const sendingChecks: readonly Check[] = [
  {
    invariant: 'I7',
    what: 'a batch whose parts are not what its transaction took',
    sql: `SELECT i.id::text FROM intent i JOIN attempt a ON a.intent_id = i.id AND a.status = 'final' AND a.success
            JOIN LATERAL (SELECT sum(s.fee_units) AS fee, sum(s.brought_units) AS brought FROM sweep_share s
              WHERE s.intent_id = i.id AND s.dropped_at IS NULL) s ON true
           WHERE i.booked AND i.kind = 'sweep' AND i.payment_id IS NULL
             AND (s.fee <> a.fee_units OR s.brought - CASE WHEN cardinality(a.inputs) > 0 THEN s.fee
               ELSE 0 END <> a.moved_units)`,
  },
  {
    invariant: 'I7',
    what: 'a payment in two sweeps that can both succeed',
    sql: `SELECT s.payment_id FROM sweep_share s JOIN intent i ON i.id = s.intent_id
      JOIN sweep_share o ON o.payment_id = s.payment_id AND o.intent_id > s.intent_id
            JOIN intent j ON j.id = o.intent_id WHERE s.dropped_at IS NULL AND o.dropped_at IS NULL
              AND i.status <> 'dead' AND j.status <> 'dead' AND s.deposit_ids && o.deposit_ids`,
  },
  {
    invariant: 'I7',
    what: 'an intent with two transactions in the chain',
    sql: `SELECT intent_id::text FROM attempt WHERE status IN ('mined', 'final') GROUP BY intent_id
      HAVING count(*) > 1`,
  },
  {
    invariant: 'I7',
    what: 'something sent that its address did not get, once, in full',
    sql: `SELECT h.kind || ' ' || h.id FROM ${paid} h
            JOIN ${registrySql} g ON g.currency = h.currency WHERE h.status = 'completed' AND 1 <> (
            SELECT count(*) FROM intent i JOIN attempt a ON a.intent_id = i.id AND a.status = 'final' AND a.success
              CROSS JOIN jsonb_array_elements(a.outputs) o
             WHERE i.kind = h.kind AND i.ref = h.id AND a.tx_id = h.tx_id
               AND (o->>'address', o->>'tag') IS NOT DISTINCT FROM (h.address, h.destination_tag)
               AND (o->>'units')::numeric = h.net * power(10::numeric, g.decimals))`,
  },
  {
    invariant: 'I7',
    what: 'something signed before it was let go, or after it ended',
    sql: `SELECT h.kind || ' ' || h.id || ' ' || h.status FROM ${paid} h
           WHERE h.status IN ('awaiting_address', 'awaiting_approval', 'pending', 'cancelled')
             AND EXISTS (SELECT FROM intent i JOIN attempt a ON a.intent_id = i.id WHERE i.kind = h.kind
               AND i.ref = h.id AND (h.status <> 'cancelled' OR a.status <> 'expired'))`,
  },
  {
    invariant: 'I7',
    what: 'a completed payout that its address did not get, once, in full',
    sql: `SELECT l.id FROM payout_leg l JOIN ${registrySql} g ON g.currency = l.currency WHERE l.status = 'completed'
      AND NOT EXISTS (
            SELECT FROM attempt a CROSS JOIN jsonb_array_elements(a.outputs) o
             WHERE a.intent_id = l.intent_id AND a.tx_id = l.tx_id AND a.status = 'final' AND a.success
               AND (o->>'address', o->>'tag') IS NOT DISTINCT FROM (l.address, l.destination_tag)
               AND (o->>'units')::numeric = l.net_amount * power(10::numeric, g.decimals))
          UNION ALL
          SELECT 'intent ' || i.id FROM intent i JOIN attempt a ON a.intent_id = i.id AND a.status = 'final'
            AND a.success
            JOIN payout_leg l ON l.intent_id = i.id JOIN ${registrySql} g ON g.currency = l.currency
              WHERE i.kind = 'leg'
           GROUP BY i.id, a.outputs, g.decimals HAVING sum(l.net_amount) * power(10::numeric, g.decimals) <> (
             SELECT coalesce(sum((o->>'units')::numeric), 0) FROM jsonb_array_elements(a.outputs) o
              WHERE ${isOurs('i.network', "o->>'address'")} IS NULL)`,
  },
  {
    invariant: 'I7',
    what: 'a payout that was signed and is not called so',
    sql: `SELECT l.id || ' ' || l.status FROM payout_leg l WHERE l.status IN ('pending', 'refunded')
             AND EXISTS (SELECT FROM attempt a WHERE a.intent_id = l.intent_id
               AND (l.status <> 'refunded' OR a.status <> 'expired'))`,
  },
  {
    invariant: 'I8',
    what: 'a wallet with a gap in its nonces',
    sql: `SELECT w.address || ': next ' || w.next_nonce || ', signed ' || count(DISTINCT a.nonce)
            FROM wallet_sequence w LEFT JOIN (SELECT network, from_address, nonce FROM attempt WHERE nonce IS NOT NULL
                   UNION SELECT network, address, nonce FROM attempt_account) a ON a.network = w.network
                     AND a.from_address = w.address
           GROUP BY w.network, w.address, w.next_nonce HAVING count(DISTINCT a.nonce) <> w.next_nonce
             OR coalesce(max(a.nonce), -1) <> w.next_nonce - 1`,
  },
  {
    invariant: 'I8',
    what: 'a transaction signed before the one before it was void, where transactions expire',
    sql: `SELECT b.tx_id FROM attempt a JOIN attempt b ON b.intent_id = a.intent_id AND b.n > a.n
           WHERE (a.valid_from_height IS NOT NULL OR b.valid_from_height IS NOT NULL)
             AND (a.status <> 'expired' OR b.valid_from_height IS NULL
               OR b.valid_from_height < (a.absence->'through'->>'height')::bigint)`,
  },
  {
    invariant: 'I8',
    what: 'a wallet with two open transactions that expire',
    sql: `SELECT from_address FROM attempt
           WHERE valid_from_height IS NOT NULL AND status IN ('stored', 'sent', 'mined') AND NOT is_restored
             AND (status <> 'mined' OR differs_at IS NULL)
           GROUP BY network, from_address HAVING count(*) > 1`,
  },
  {
    invariant: 'I8',
    what: 'a sequence of a wallet with two transactions in the chain',
    sql: `SELECT from_address || ': ' || sequence FROM attempt
           WHERE sequence IS NOT NULL AND status IN ('mined', 'final')
           GROUP BY network, from_address, sequence HAVING count(*) > 1`,
  },
  {
    invariant: 'I8',
    what: 'a coin spent by two intents',
    sql: `SELECT d.id::text FROM deposit d JOIN attempt a ON a.network = d.network
      AND a.inputs @> ARRAY[d.tx_id || ':' || d.out_index] AND a.status IN ('mined', 'final')
           WHERE d.network IN (SELECT network FROM ${registrySql} r WHERE kind = 'utxo')
             AND d.allocation IN ('unsettled', 'settled') GROUP BY d.id HAVING count(DISTINCT a.intent_id) > 1`,
  },
  {
    invariant: 'I9',
    what: 'what is reserved is not the sum of the open holds',
    sql: `SELECT coalesce(b.account, h.account) || ' ' || coalesce(b.asset, h.currency) || ': ' || coalesce(b.amount,
      0) || ' reserved, ' || coalesce(h.amount, 0) || ' held'
            FROM (SELECT * FROM balance WHERE account LIKE 'L:reserved:%') b
            FULL JOIN (SELECT 'L:reserved:' || merchant_id AS account, currency, sum(amount) AS amount FROM (
                         SELECT merchant_id, currency, gross AS amount FROM ${holds} x
                           WHERE status NOT IN ('completed', 'failed', 'cancelled')
                         UNION ALL
                         SELECT merchant_id, currency, amount FROM payout_leg
                           WHERE status IN ('pending', 'processing', 'broadcast')) held
                        GROUP BY 1, 2) h
              ON h.account = b.account AND h.currency = b.asset
           WHERE coalesce(b.amount, 0) <> coalesce(h.amount, 0)`,
  },
  {
    invariant: 'I9',
    what: 'money on its way out without its hold, or with the wrong end of it',
    sql: `SELECT h.kind || ' ' || h.id || ' ' || h.status FROM ${holds} h
             ${captureOrReleaseOf(`'hold/' || h.kind || '/' || h.id`)}
      WHERE
                 NOT EXISTS (SELECT FROM journal j WHERE j.key = 'hold/' || h.kind || '/' || h.id)
              OR f.is_double OR (h.status IN ('completed', 'failed', 'cancelled')) <> (f.id IS NOT NULL)
              OR (h.status = 'completed') <> EXISTS (SELECT FROM posting p WHERE p.journal_id = f.id
                AND p.credit = CASE h.currency WHEN 'BTC_LN' THEN 'A:lightning' ELSE 'A:treasury' END
                   AND p.asset = h.currency AND p.amount = h.net)
          UNION ALL
          SELECT r.id || ' ' || r.status FROM refund r WHERE r.source = 'deposit' AND (
                 (r.status = 'completed') <> journal_stands('refund/' || r.id)
              OR r.status NOT IN ('failed', 'cancelled') AND EXISTS (SELECT FROM deposit d
                WHERE d.id = ANY(r.deposit_ids) AND d.allocation <> 'refunded'))`,
  },
  {
    invariant: 'I7',
    what: 'a transaction above the cap or the budget of its intent',
    // What was signed for other deposits had other limits.
    sql: `SELECT a.tx_id FROM attempt a JOIN intent i ON i.id = a.intent_id
           WHERE a.n > i.void_through AND (a.unit_price > i.max_unit_price OR a.max_fee_units > i.fee_budget)`,
  },
  {
    invariant: 'I9',
    what: 'a payout without its hold, or with the wrong end of it',
    sql: `SELECT l.id || ' ' || l.status FROM payout_leg l
             LEFT JOIN journal j ON j.key = 'hold/leg/' || l.id ${captureOrReleaseOf(`'hold/leg/' || l.id`)}
           WHERE j.id IS NULL OR f.is_double OR (l.status IN ('completed', 'failed', 'refunded')) <> (f.id IS NOT NULL)
              OR (l.status = 'completed') <> EXISTS (SELECT FROM posting p WHERE p.journal_id = f.id
                AND p.credit = CASE l.currency WHEN 'BTC_LN' THEN 'A:lightning' ELSE 'A:treasury' END
                    AND p.asset = l.currency AND p.amount = l.net_amount)`,
  },
  {
    invariant: 'I9',
    what: 'a mass payout that does not say what its payments say',
    sql: `SELECT b.id || ' ' || b.status FROM payout_batch b CROSS JOIN LATERAL (
             SELECT count(*) AS n, count(*) FILTER (WHERE status IN ('pending', 'processing', 'broadcast')) AS open,
                    count(*) FILTER (WHERE status = 'completed') AS completed FROM payout_leg l
                      WHERE l.batch_id = b.id) c
           WHERE c.n <> b.row_count OR (c.open > 0) <> (b.status IN ('awaiting_approval', 'queued', 'processing'))
             OR (b.status = 'completed') <> (c.completed = c.n)`,
  },
  {
    invariant: 'I9',
    what: 'unallocated is not the sum of its deposits and of Lightning money',
    sql: `SELECT coalesce(b.account, s.account) || ' ' || coalesce(b.asset, s.currency)
      FROM (SELECT * FROM balance WHERE account LIKE 'L:unallocated:%') b
            FULL JOIN (SELECT account, currency, sum(amount) AS amount FROM (
                SELECT 'L:unallocated:' || p.merchant_id AS account, d.currency, d.amount FROM deposit d
                  JOIN payment p ON p.id = coalesce(d.child_payment_id, d.payment_id)
                 WHERE d.allocation = 'unallocated' OR d.allocation = 'refunded' AND NOT EXISTS (
                   SELECT FROM refund r WHERE d.id = ANY(r.deposit_ids) AND r.status = 'completed')
                UNION ALL SELECT 'L:unallocated:unclaimed', d.currency, d.amount FROM deposit d
                 WHERE d.allocation = 'unclaimed'
                UNION ALL SELECT 'L:unallocated:' || p.merchant_id, i.currency, ${takenSatoshi}
                  FROM lightning_invoice i JOIN payment p ON p.id = i.payment_id
                 WHERE i.state = 'taken' AND NOT i.is_for_payment
                   AND NOT EXISTS (SELECT FROM journal j WHERE j.key = 'claimed/' || i.hash)) x
               GROUP BY 1, 2 HAVING sum(amount) > 0) s
              ON s.account = b.account AND s.currency = b.asset
           WHERE coalesce(b.amount, 0) <> coalesce(s.amount, 0)`,
  },
  {
    invariant: 'I9',
    what: 'something that was let out without having been admitted',
    sql: `SELECT h.kind || ' ' || h.id FROM ${holds} h WHERE NOT EXISTS (SELECT FROM egress_admission a
      WHERE a.kind = h.kind AND a.ref = h.id) AND h.status NOT IN ('completed', 'failed', 'cancelled')`,
  },
  {
    invariant: 'I9',
    what: 'refunds above what a payment received',
    sql: `SELECT p.id FROM payment p JOIN refund r ON r.payment_id = p.id AND r.source = 'balance'
      AND r.status NOT IN ('failed', 'cancelled')
           GROUP BY p.id HAVING sum(r.amount) > p.amount_paid`,
  },
];
