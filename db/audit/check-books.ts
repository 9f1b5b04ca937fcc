import { recountSql } from '../payments/payment-days';
import { paidSatoshi, takenSatoshi } from './check-lightning';
import { isOurs } from './own-address';
import { registrySql, heldAssets, allAssets, postedIntents, postedShares, type Check } from './row-sets';

/** The ledger in itself, and against what was sent and what arrived: I1 to I6. */
export const bookChecks: readonly Check[] = [
  {
    invariant: 'I1',
    what: 'a journal without postings',
    sql: `SELECT j.key FROM journal j WHERE NOT EXISTS (SELECT FROM posting p WHERE p.journal_id = j.id)`,
  },
  {
    invariant: 'I1',
    what: 'an append-only guard is missing',
    sql: `SELECT t FROM unnest(ARRAY['journal', 'posting', 'ledger_entry', 'event', 'payment_event']) t
           WHERE NOT EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = t::regclass AND g.tgname = t || '_append_only'
             AND g.tgenabled = 'O')`,
  },
  {
    invariant: 'I2',
    what: 'a guarded balance below zero',
    sql: `SELECT account || ' ' || asset FROM balance WHERE amount < 0`,
  },
  {
    invariant: 'I3',
    what: 'a balance row is not the sum of its postings',
    sql: `SELECT coalesce(b.account, s.account) || ' ' || coalesce(b.asset, s.asset) || ': row ' || coalesce(b.amount,
      0) || ', postings ' || coalesce(s.amount, 0)
            FROM balance b FULL JOIN (
              SELECT account, asset, sum(amount) AS amount FROM (
                SELECT credit AS account, asset, amount FROM posting WHERE credit LIKE 'L:%'
                UNION ALL SELECT debit, asset, -amount FROM posting WHERE debit LIKE 'L:%') x GROUP BY account, asset) s
              ON s.account = b.account AND s.asset = b.asset
           WHERE coalesce(b.amount, 0) <> coalesce(s.amount, 0)`,
  },
  {
    invariant: 'I3',
    what: 'what the treasury holds, or is owed, is not the sum of its postings',
    sql: `SELECT coalesce(h.asset, s.asset) || ': treasury ' || coalesce(h.treasury,
      0) || ' and owed ' || coalesce(h.owed, 0) || ', postings ' ||
                 coalesce(s.treasury, 0) || ' and ' || coalesce(s.owed, 0)
            FROM (SELECT asset, sum(treasury) AS treasury, sum(owed) AS owed FROM held_part GROUP BY asset) h
            FULL JOIN (
              SELECT asset, sum(treasury) AS treasury, sum(owed) AS owed FROM (
                SELECT asset, amount AS treasury, 0 AS owed FROM posting WHERE debit IN ('A:treasury', 'A:lightning')
                UNION ALL SELECT asset, -amount, 0 FROM posting WHERE credit IN ('A:treasury', 'A:lightning')
                UNION ALL SELECT asset, 0, amount FROM posting WHERE credit LIKE 'L:%'
                UNION ALL SELECT asset, 0, -amount FROM posting WHERE debit LIKE 'L:%') x
                  GROUP BY asset) s ON s.asset = h.asset
           WHERE coalesce(h.treasury, 0) <> coalesce(s.treasury, 0) OR coalesce(h.owed, 0) <> coalesce(s.owed, 0)`,
  },
  {
    invariant: 'I3',
    what: 'what has come to a wallet, or left it, is not the sum of its transactions',
    sql: `SELECT concat_ws(' ', network, address, currency) || ': row ' || concat_ws(', ', t.arrived, t.moved,
      t.fees) || '; transactions ' ||
                 concat_ws(', ', s.arrived, s.moved, s.fees)
            FROM (SELECT * FROM wallet_total WHERE (arrived, moved, fees) <> (0, 0, 0)) t FULL JOIN (
              SELECT network, address, currency, sum(arrived) AS arrived, sum(moved) AS moved, sum(fees) AS fees FROM (
                SELECT network, address, currency, amount AS arrived, 0 AS moved, 0 AS fees FROM deposit
                  WHERE status = 'confirmed' AND currency IS NOT NULL
                UNION ALL SELECT a.network, a.from_address, i.currency, 0, CASE WHEN a.moves IS NOT NULL
                  THEN units_from(a.moves, a.from_address) WHEN a.success IS DISTINCT FROM false
                  THEN a.moved_units ELSE 0 END,
                                 coalesce(a.fee_units, a.max_fee_units) FROM attempt a
                                   JOIN intent i ON i.id = a.intent_id WHERE a.status = 'final') x
               GROUP BY 1, 2, 3 HAVING (sum(arrived), sum(moved), sum(fees)) <> (0, 0, 0)) s
               USING (network, address, currency)
           WHERE (t.arrived, t.moved, t.fees) IS DISTINCT FROM (s.arrived, s.moved, s.fees)`,
  },
  {
    invariant: 'I3',
    what: 'the book of a merchant does not add up',
    sql: `SELECT coalesce(e.merchant_id, split_part(b.account, ':', 3)) || ' ' || coalesce(e.asset,
      b.asset) || ': sum ' || coalesce(e.amount, 0) || ', row ' || coalesce(b.amount, 0)
            FROM (SELECT merchant_id, asset, sum(amount) AS amount FROM ledger_entry GROUP BY 1, 2) e
            FULL JOIN (SELECT * FROM balance
              WHERE account LIKE 'L:available:%') b ON b.account = 'L:available:' || e.merchant_id AND b.asset = e.asset
           WHERE coalesce(e.amount, 0) <> coalesce(b.amount, 0)
          UNION ALL
          SELECT 'entry ' || seq FROM (SELECT seq, balance_after, reserved_after, sum(amount) OVER so_far AS balance,
            sum(reserved_change) OVER so_far AS reserved
                   FROM ledger_entry WINDOW so_far AS (PARTITION BY merchant_id, asset ORDER BY seq)) x
           WHERE balance <> balance_after OR reserved <> reserved_after`,
  },
  {
    invariant: 'I3',
    what: 'a day of payments is not the sum of its payments',
    sql: `WITH counted AS (SELECT * FROM payment_day WHERE created <> 0), recounted AS (${recountSql})
          SELECT merchant_id || ' ' || day || ' ' || fiat_currency FROM (
            (SELECT * FROM counted EXCEPT SELECT * FROM recounted)
            UNION (SELECT * FROM recounted EXCEPT SELECT * FROM counted)) x`,
  },
  {
    invariant: 'I4',
    what: 'we owe more of an asset than we hold',
    sql: `SELECT l.asset || ': owed ' || l.owed || ', held ' || coalesce(a.amount, 0)
            FROM (SELECT asset, sum(amount) AS owed FROM balance GROUP BY asset) l
              LEFT JOIN (${allAssets}) a ON a.asset = l.asset
           WHERE l.owed > coalesce(a.amount, 0)`,
  },
  {
    invariant: 'I5',
    what: 'the asset accounts are not what deposits and transactions explain',
    sql: `WITH posted AS (${postedIntents}), moves AS (
            SELECT d.currency AS asset, d.amount FROM deposit d
             WHERE d.allocation IN ('unsettled', 'settled', 'unallocated', 'refunded', 'capital', 'unclaimed')
            UNION ALL SELECT currency, ${takenSatoshi} FROM lightning_invoice WHERE state = 'taken'
            UNION ALL SELECT 'BTC_LN', -${paidSatoshi} FROM lightning_payment WHERE outcome = 'paid'
            UNION ALL SELECT 'BTC_LN', CASE payload->>'what' WHEN 'put-in' THEN 1 ELSE -1 END
                             * (payload->>'amount')::numeric
                        FROM operator_request WHERE kind = 'book-lightning' AND state = 'executed'
            UNION ALL
            SELECT r.native, -a.fee_units / power(10::numeric, r.native_decimals) FROM posted i
              JOIN attempt a ON a.intent_id = i.id AND a.status = 'final'
              JOIN ${registrySql} r ON r.currency = i.currency
            UNION ALL
            SELECT i.currency, -(o->>'units')::numeric / power(10::numeric, r.decimals) FROM posted i
              JOIN attempt a ON a.intent_id = i.id AND a.status = 'final' AND a.success
               AND a.decision IS DISTINCT FROM 'failed'
              JOIN ${registrySql} r ON r.currency = i.currency
              CROSS JOIN jsonb_array_elements(a.outputs) o
             WHERE ${isOurs('i.network', "o->>'address'")} IS NULL
            UNION ALL
            SELECT r.native, -s.fee_units / power(10::numeric, r.native_decimals) FROM ${postedShares} AND i.booked
            UNION ALL
            SELECT i.currency, -s.net_units / power(10::numeric, r.decimals) FROM ${postedShares}
              AND s.net_units IS NOT NULL
               AND ${isOurs('i.network', "i.outputs->0->>'address'")} IS NULL
               AND NOT EXISTS (SELECT FROM attempt a WHERE a.intent_id = i.id AND a.decision = 'failed')
            UNION ALL
            SELECT p.asset, CASE WHEN p.debit = 'E:loss' THEN -p.amount ELSE p.amount END FROM posting p
              JOIN journal j ON j.id = p.journal_id LEFT JOIN journal o ON o.id = j.reverses
             WHERE 'E:loss' IN (p.debit, p.credit)
               AND NOT ARRAY['A:provider', 'A:lightning'] && ARRAY[p.debit, p.credit]
               AND coalesce(o.key, j.key) NOT LIKE 'lost/%'
            UNION ALL SELECT asset, amount FROM posting WHERE credit = 'Q:unexplained'
            UNION ALL SELECT asset, -amount FROM posting WHERE debit = 'Q:unexplained')
          SELECT coalesce(a.asset, m.asset) || ': accounts ' || coalesce(a.amount, 0) || ', rows ' || coalesce(m.amount,
            0)
            FROM (${heldAssets}) a FULL JOIN (SELECT asset, sum(amount) AS amount FROM moves
              GROUP BY asset) m ON m.asset = a.asset
           WHERE coalesce(a.amount, 0) <> coalesce(m.amount, 0)`,
  },
  {
    invariant: 'I6',
    what: 'a deposit and its journal do not agree',
    sql: `SELECT d.id::text FROM deposit d
      LEFT JOIN journal j ON j.key = 'deposit/' || d.network || '/' || d.tx_id || '/' || d.out_index
           WHERE (d.allocation IN ('unsettled', 'settled', 'unallocated', 'refunded')) <> (j.id IS NOT NULL AND (
             WITH RECURSIVE chain AS (SELECT j.id, 0 AS steps UNION ALL SELECT r.id, c.steps + 1 FROM journal r
               JOIN chain c ON r.reverses = c.id)
             SELECT max(steps) % 2 = 0 FROM chain))`,
  },
  {
    invariant: 'I6',
    what: 'an unclaimed deposit and its journal do not agree, or a payment owns it',
    sql: `SELECT d.id::text FROM deposit d
           WHERE d.allocation = 'unclaimed' AND (d.payment_id IS NOT NULL
              OR NOT journal_stands(concat('unclaimed/', d.network, '/', d.tx_id, '/', d.out_index)))
          UNION ALL SELECT j.key FROM journal j WHERE j.key LIKE 'unclaimed/%' AND journal_stands(j.key)
             AND NOT EXISTS (SELECT FROM deposit d WHERE d.allocation = 'unclaimed'
                               AND j.key = concat('unclaimed/', d.network, '/', d.tx_id, '/', d.out_index))`,
  },
  {
    invariant: 'I6',
    what: 'a settled payment without exactly one settlement',
    sql: `SELECT p.id FROM payment p WHERE p.status = 'SETTLED'
      AND NOT EXISTS (SELECT FROM journal j WHERE j.key = 'payment/' || p.id || '/settle')
          UNION ALL SELECT p.id FROM payment p JOIN journal j ON j.key = 'payment/' || p.id || '/settle'
            WHERE p.status <> 'SETTLED'`,
  },
];
