import { registrySql, type Check } from './row-sets';

/** What merchants and payers are told, and the rest: I10 to I15. */
export const recordChecks: readonly Check[] = [
  {
    invariant: 'I10',
    what: 'unsettled is not the sum of its deposits',
    sql: `SELECT coalesce(b.account, s.account) || ' ' || coalesce(b.asset, s.currency)
      FROM (SELECT * FROM balance WHERE account LIKE 'L:unsettled:%') b
            FULL JOIN (SELECT 'L:unsettled:' || p.merchant_id AS account, d.currency, sum(d.amount) AS amount
              FROM deposit d
                         JOIN payment p ON p.id = coalesce(d.child_payment_id, d.payment_id)
                           WHERE d.allocation = 'unsettled' GROUP BY 1, 2) s
              ON s.account = b.account AND s.currency = b.asset
           WHERE coalesce(b.amount, 0) <> coalesce(s.amount, 0)`,
  },
  {
    invariant: 'I11',
    what: 'a hole in the order of events',
    sql: `SELECT c.merchant_id FROM merchant_counter c LEFT JOIN (SELECT merchant_id, count(*) AS n, max(seq) AS last
      FROM event GROUP BY merchant_id) e
              ON e.merchant_id = c.merchant_id WHERE coalesce(e.n, 0) <> c.event_seq
                OR coalesce(e.last, 0) <> c.event_seq`,
  },
  {
    invariant: 'I11',
    what: 'a delivery that nobody will attempt',
    sql: `SELECT id FROM delivery WHERE status IN ('pending', 'retrying') AND next_attempt_at IS NULL
          UNION ALL SELECT delivery_id FROM delivery_queue
           WHERE NOT is_behind AND claimed_until < now() - interval '60 seconds'`,
  },
  {
    invariant: 'I11',
    what: 'the count of open payments is off',
    sql: `SELECT c.merchant_id || ': ' || c.open_payments || ' counted, ' || coalesce(o.n, 0) || ' open'
      FROM merchant_counter c
            LEFT JOIN (SELECT merchant_id, count(*) AS n FROM payment
              WHERE status NOT IN ('SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED') GROUP BY merchant_id) o
              ON o.merchant_id = c.merchant_id WHERE c.open_payments <> coalesce(o.n, 0)`,
  },
  {
    invariant: 'I12',
    what: 'a confirmed deposit without an allocation',
    // What came in a payment's own coin waits as long as the payment does: for its rest, for a decision about what came
    // beside it, or for the confirmations of another part.
    sql: `SELECT d.id::text FROM deposit d WHERE d.status = 'confirmed' AND d.allocation IS NULL AND NOT d.is_dust
      AND d.role = 'deposit'
             AND d.confirmed_at < now() - interval '2 minutes' AND NOT EXISTS (
               SELECT FROM payment p WHERE p.id = d.payment_id AND p.currency = d.currency
                 AND p.status IN ('PARTIALLY_PAID', 'CROSS_CHAIN_PENDING', 'CONFIRMING'))`,
  },
  {
    invariant: 'I13',
    what: 'a request that Temporal has not taken for a minute',
    sql: `SELECT workflow_id FROM temporal_request WHERE created_at < now() - interval '60 seconds'`,
  },
  {
    invariant: 'I13',
    what: 'a conversion that was interrupted, and not ended since',
    sql: `SELECT id || ' ' || status FROM conversion WHERE status IN ('initializing', 'pending')
      AND updated_at < now() - interval '90 seconds'`,
  },
  {
    invariant: 'I14',
    what: 'in transit is not the sum of what is converted elsewhere',
    sql: `SELECT coalesce(b.account, c.account) || ' ' || coalesce(b.asset,
      c.from_currency) || ': ' || coalesce(b.amount, 0) || ' in transit, ' || coalesce(c.amount, 0) || ' processing'
            FROM (SELECT * FROM balance WHERE account LIKE 'L:transit:%') b
            FULL JOIN (SELECT 'L:transit:' || merchant_id AS account, from_currency, sum(from_amount) AS amount
              FROM conversion WHERE status = 'processing' GROUP BY 1, 2) c
              ON c.account = b.account AND c.from_currency = b.asset
           WHERE coalesce(b.amount, 0) <> coalesce(c.amount, 0)`,
  },
  {
    invariant: 'I14',
    what: 'an internal conversion that did not move exactly what it says',
    sql: `SELECT c.id || ' ' || c.status FROM conversion c LEFT JOIN LATERAL (
              SELECT sum(p.amount) FILTER (WHERE p.debit = 'L:available:' || c.merchant_id
                AND p.asset = c.from_currency) AS taken,
                     sum(p.amount) FILTER (WHERE p.credit = 'L:available:' || c.merchant_id
                       AND p.asset = c.to_currency) AS given,
                     coalesce(sum(p.amount) FILTER (WHERE p.credit = 'I:commission'), 0) AS commission
                FROM journal j JOIN posting p ON p.journal_id = j.id
                  WHERE j.key = 'conversion/' || c.id || '/internal') m ON true
           WHERE c.execution_mode = 'internal' AND CASE WHEN c.status = 'completed'
                   THEN (m.taken, m.given, m.commission) IS DISTINCT FROM (c.from_amount, c.to_amount,
                     c.commission_amount)
                   ELSE m.taken IS NOT NULL OR c.is_debited END
          UNION ALL SELECT j.key FROM journal j WHERE j.key LIKE 'conversion/%'
             AND NOT EXISTS (SELECT FROM conversion c WHERE c.id = split_part(j.key, '/', 2)::char(24))`,
  },
  {
    invariant: 'I14',
    what: 'a position that is not the sum of its postings',
    sql: `SELECT coalesce(f.asset, s.asset) || ': row ' || coalesce(f.amount, 0) || ', postings ' || coalesce(s.amount,
      0) FROM fx_position f
            FULL JOIN (SELECT asset, sum(amount) AS amount FROM (SELECT asset, amount FROM posting WHERE credit = 'Q:fx'
                       UNION ALL SELECT asset, -amount FROM posting WHERE debit = 'Q:fx') x
                         GROUP BY asset) s ON s.asset = f.asset
           WHERE coalesce(f.amount, 0) <> coalesce(s.amount, 0)`,
  },
  {
    invariant: 'I14',
    what: 'an external conversion whose journals are not those of its status',
    sql: `SELECT c.id || ' ' || c.status FROM conversion c
      LEFT JOIN journal e ON e.key = 'conversion/' || c.id || '/end'
           WHERE c.execution_mode = 'external' AND (
                 c.is_debited <> EXISTS (SELECT FROM journal j WHERE j.key = 'conversion/' || c.id || '/accept')
              OR (c.is_debited AND c.status IN ('completed', 'failed')) <> (e.id IS NOT NULL)
              OR c.status = 'completed' AND NOT EXISTS (SELECT FROM posting p WHERE p.journal_id = e.id
                AND p.credit = 'L:available:' || c.merchant_id
                   AND p.asset = c.to_currency AND p.amount = c.credit_amount)
              OR c.status = 'failed' AND c.is_debited AND NOT EXISTS (SELECT FROM posting p WHERE p.journal_id = e.id
                AND p.debit = 'L:transit:' || c.merchant_id
                   AND p.credit = 'L:available:' || c.merchant_id AND p.asset = c.from_currency
                     AND p.amount = c.from_amount))`,
  },
  {
    invariant: 'I14',
    what: 'a deposit at the swap provider that its order did not ask for, or that was booked otherwise',
    sql: `SELECT i.ref FROM intent i LEFT JOIN swap_order o ON o.conversion_id = i.ref
      LEFT JOIN attempt a ON a.intent_id = i.id AND a.status = 'final' AND a.success
            LEFT JOIN ${registrySql} r ON r.currency = i.currency
           WHERE i.kind = 'fund' AND (o.order_id IS NULL OR (i.booked AND a.id IS NOT NULL) AND (
                 NOT EXISTS (SELECT FROM posting p JOIN journal j ON j.id = p.journal_id
                   WHERE j.key = 'conversion/' || i.ref || '/fund'
                               AND p.debit = 'A:provider' AND p.amount = o.amount AND p.asset = i.currency)
              OR NOT EXISTS (SELECT FROM jsonb_array_elements(a.outputs) x WHERE x->>'address' = o.deposit_address
                               AND (x->>'units')::numeric = o.amount * power(10::numeric, r.decimals))))`,
  },
  {
    invariant: 'I14',
    what: 'a completed external conversion that was credited something else than came to its address',
    sql: `SELECT c.id FROM conversion c JOIN swap_order o ON o.conversion_id = c.id WHERE c.status = 'completed'
      AND c.credit_amount IS DISTINCT FROM (
            SELECT sum(d.amount) FROM deposit d WHERE d.id = ANY(o.credited_deposit_ids)
              AND d.address = o.payout_address AND d.currency = c.to_currency)`,
  },
  {
    invariant: 'I15',
    what: 'an address that another payment uses',
    sql: `SELECT p.id FROM payment p WHERE p.deposit_address IS NOT NULL AND p.address_role = 'primary'
             AND NOT EXISTS (SELECT FROM address a WHERE a.network = p.network AND a.address = p.deposit_address
                            AND a.tag = coalesce(p.destination_tag, '') AND a.payment_id = p.id)
             AND NOT EXISTS (SELECT FROM lightning_invoice i
                              WHERE i.payment_id = p.id AND i.invoice = p.deposit_address)`,
  },
];
