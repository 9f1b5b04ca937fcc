import type { DataSource, EntityManager } from 'typeorm';
import { assets, networks, networkOf } from '../../domain/chains/assets';
import type { ChainAdapter } from '../../domain/chains/chain';
import { kinds, type KindFacts } from '../../domain/txmanager/kinds';
import { isPosted } from './posted';
import { auditHoldings } from './audit-chain';
import type { Violation } from './violation';

type Check = Readonly<{ invariant: string; what: string; sql: string }>;

/** The registry as a row set: `(currency, network, kind, native, decimals, native_decimals)`. */
const registry = JSON.stringify(
  assets.map((asset) => ({
    currency: asset.currency,
    network: asset.network,
    kind: networks[asset.network].kind,
    native: networkOf(asset.currency).native,
    decimals: asset.decimals,
    native_decimals: assets.find((other) => other.currency === networks[asset.network].native)!.decimals,
  })),
);
const registrySql = `(SELECT * FROM jsonb_to_recordset('${registry}') AS r (currency text, network text, kind text, native text, decimals int, native_decimals int))`;

/** Σ debits − Σ credits of the asset accounts on chains, by asset; of all of them with what a provider holds for us, `allAssets`. */
const heldAssets = `SELECT asset, sum(amount) AS amount FROM (
    SELECT asset, amount FROM posting WHERE debit LIKE 'A:%' AND debit <> 'A:provider'
    UNION ALL SELECT asset, -amount FROM posting WHERE credit LIKE 'A:%' AND credit <> 'A:provider') moved GROUP BY asset`;
const allAssets = `SELECT asset, sum(amount) AS amount FROM (
    SELECT asset, amount FROM posting WHERE debit LIKE 'A:%' UNION ALL SELECT asset, -amount FROM posting WHERE credit LIKE 'A:%') moved GROUP BY asset`;

/** Intents whose end is in the ledger: sweeps with their payment's settlement, everything else and what was reverted when booked. */
const postedIntents = `SELECT i.* FROM intent i WHERE ${isPosted('i')}`;

/** The parts of batches whose payments are settled. */
const postedShares = `sweep_share s JOIN intent i ON i.id = s.intent_id JOIN ${registrySql} r ON r.currency = i.currency
   WHERE s.dropped_at IS NULL AND EXISTS (SELECT FROM journal j WHERE j.key = 'sweep/' || i.id || '/' || s.payment_id)`;
/** Rows of one kind: what each holds, what arrives, where, and how it stands. */
const rowsOf = (kind: string, from: string): string =>
  `SELECT '${kind}' AS kind, id, merchant_id, currency, gross_amount AS gross, net_amount AS net, address, tx_id, status
     FROM ${from}`;
/** Everything that holds a merchant's money on its way out. */
const holds = `(${Object.entries<KindFacts>(kinds)
  .flatMap(([kind, { holdsIn }]) => (holdsIn === null ? [] : [rowsOf(kind, holdsIn)]))
  .join(' UNION ALL ')})`;
/** The same rows, and those of the same tables that hold nothing: refunds from the address that their money came to. */
const paid = `(${Object.entries<KindFacts>(kinds)
  .flatMap(([kind, { holdsIn, record }]) => (holdsIn === null || record === null ? [] : [rowsOf(kind, record)]))
  .join(' UNION ALL ')})`;

/** Is it in force? `j`: a row of `journal`, or none. */
const stands = (j: string): string =>
  `(${j}.id IS NOT NULL AND (NOT EXISTS (SELECT FROM journal back WHERE back.reverses = ${j}.id) OR journal_stands(${j}.key)))`;
/** The end of the hold under `key` that is in force, of its two: `id`, and whether both are. */
const endOf = (
  key: string,
): string => `LEFT JOIN journal e ON e.key = ${key} || '/end' LEFT JOIN journal o ON o.key = ${key} || '/2/end'
           CROSS JOIN LATERAL (SELECT CASE WHEN ${stands('e')} THEN e.id WHEN ${stands('o')} THEN o.id END AS id, ${stands('e')} AND ${stands('o')} AS is_double) f`;

/** Each answers the offenders as one text column. All run on one snapshot. */
const checks: readonly Check[] = [
  {
    invariant: 'I1',
    what: 'a journal without postings',
    sql: `SELECT j.key FROM journal j WHERE NOT EXISTS (SELECT FROM posting p WHERE p.journal_id = j.id)`,
  },
  {
    invariant: 'I1',
    what: 'an append-only guard is missing',
    sql: `SELECT t FROM unnest(ARRAY['journal', 'posting', 'ledger_entry', 'event', 'payment_event']) t
           WHERE NOT EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = t::regclass AND g.tgname = t || '_append_only' AND g.tgenabled = 'O')`,
  },
  {
    invariant: 'I2',
    what: 'a guarded balance below zero',
    sql: `SELECT account || ' ' || asset FROM balance WHERE amount < 0`,
  },
  {
    invariant: 'I3',
    what: 'a balance row is not the sum of its postings',
    sql: `SELECT coalesce(b.account, s.account) || ' ' || coalesce(b.asset, s.asset) || ': row ' || coalesce(b.amount, 0) || ', postings ' || coalesce(s.amount, 0)
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
    sql: `SELECT coalesce(h.asset, s.asset) || ': treasury ' || coalesce(h.treasury, 0) || ' and owed ' || coalesce(h.owed, 0) || ', postings ' ||
                 coalesce(s.treasury, 0) || ' and ' || coalesce(s.owed, 0)
            FROM (SELECT asset, sum(treasury) AS treasury, sum(owed) AS owed FROM held_part GROUP BY asset) h
            FULL JOIN (
              SELECT asset, sum(treasury) AS treasury, sum(owed) AS owed FROM (
                SELECT asset, amount AS treasury, 0 AS owed FROM posting WHERE debit = 'A:treasury'
                UNION ALL SELECT asset, -amount, 0 FROM posting WHERE credit = 'A:treasury'
                UNION ALL SELECT asset, 0, amount FROM posting WHERE credit LIKE 'L:%'
                UNION ALL SELECT asset, 0, -amount FROM posting WHERE debit LIKE 'L:%') x GROUP BY asset) s ON s.asset = h.asset
           WHERE coalesce(h.treasury, 0) <> coalesce(s.treasury, 0) OR coalesce(h.owed, 0) <> coalesce(s.owed, 0)`,
  },
  {
    invariant: 'I3',
    what: 'what has come to a wallet, or left it, is not the sum of its transactions',
    sql: `SELECT concat_ws(' ', network, address, currency) || ': row ' || concat_ws(', ', t.arrived, t.moved, t.fees) || '; transactions ' ||
                 concat_ws(', ', s.arrived, s.moved, s.fees)
            FROM (SELECT * FROM wallet_total WHERE (arrived, moved, fees) <> (0, 0, 0)) t FULL JOIN (
              SELECT network, address, currency, sum(arrived) AS arrived, sum(moved) AS moved, sum(fees) AS fees FROM (
                SELECT network, address, currency, amount AS arrived, 0 AS moved, 0 AS fees FROM deposit WHERE status = 'confirmed' AND currency IS NOT NULL
                UNION ALL SELECT a.network, a.from_address, i.currency, 0, CASE WHEN a.success IS DISTINCT FROM false THEN a.moved_units ELSE 0 END,
                                 coalesce(a.fee_units, a.max_fee_units) FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE a.status = 'final') x
               GROUP BY 1, 2, 3 HAVING (sum(arrived), sum(moved), sum(fees)) <> (0, 0, 0)) s USING (network, address, currency)
           WHERE (t.arrived, t.moved, t.fees) IS DISTINCT FROM (s.arrived, s.moved, s.fees)`,
  },
  {
    invariant: 'I3',
    what: 'the book of a merchant does not add up',
    sql: `SELECT coalesce(e.merchant_id, split_part(b.account, ':', 3)) || ' ' || coalesce(e.asset, b.asset) || ': sum ' || coalesce(e.amount, 0) || ', row ' || coalesce(b.amount, 0)
            FROM (SELECT merchant_id, asset, sum(amount) AS amount FROM ledger_entry GROUP BY 1, 2) e
            FULL JOIN (SELECT * FROM balance WHERE account LIKE 'L:available:%') b ON b.account = 'L:available:' || e.merchant_id AND b.asset = e.asset
           WHERE coalesce(e.amount, 0) <> coalesce(b.amount, 0)
          UNION ALL
          SELECT 'entry ' || seq FROM (SELECT seq, balance_after, reserved_after, sum(amount) OVER so_far AS balance, sum(reserved_change) OVER so_far AS reserved
                   FROM ledger_entry WINDOW so_far AS (PARTITION BY merchant_id, asset ORDER BY seq)) x
           WHERE balance <> balance_after OR reserved <> reserved_after`,
  },
  {
    invariant: 'I4',
    what: 'we owe more of an asset than we hold',
    sql: `SELECT l.asset || ': owed ' || l.owed || ', held ' || coalesce(a.amount, 0)
            FROM (SELECT asset, sum(amount) AS owed FROM balance GROUP BY asset) l LEFT JOIN (${allAssets}) a ON a.asset = l.asset
           WHERE l.owed > coalesce(a.amount, 0)`,
  },
  {
    invariant: 'I5',
    what: 'the asset accounts are not what deposits and transactions explain',
    sql: `WITH posted AS (${postedIntents}), moves AS (
            SELECT d.currency AS asset, d.amount FROM deposit d
             WHERE d.home IN ('unsettled', 'settled', 'unallocated', 'refunded', 'capital', 'unclaimed')
            UNION ALL
            SELECT r.native, -a.fee_units / power(10::numeric, r.native_decimals) FROM posted i JOIN attempt a ON a.intent_id = i.id AND a.status = 'final'
              JOIN ${registrySql} r ON r.currency = i.currency
            UNION ALL
            SELECT i.currency, -(o->>'units')::numeric / power(10::numeric, r.decimals) FROM posted i
              JOIN attempt a ON a.intent_id = i.id AND a.status = 'final' AND a.success
              JOIN ${registrySql} r ON r.currency = i.currency
              CROSS JOIN jsonb_array_elements(a.outputs) o
             WHERE NOT EXISTS (SELECT FROM address own WHERE own.network = i.network AND own.address = o->>'address')
            UNION ALL
            SELECT r.native, -s.fee_units / power(10::numeric, r.native_decimals) FROM ${postedShares} AND i.booked
            UNION ALL
            SELECT i.currency, -s.net_units / power(10::numeric, r.decimals) FROM ${postedShares} AND s.net_units IS NOT NULL
               AND NOT EXISTS (SELECT FROM address own WHERE own.network = i.network AND own.address = i.outputs->0->>'address')
            UNION ALL
            SELECT p.asset, CASE WHEN p.debit = 'E:loss' THEN -p.amount ELSE p.amount END FROM posting p
              JOIN journal j ON j.id = p.journal_id LEFT JOIN journal o ON o.id = j.reverses
             WHERE 'E:loss' IN (p.debit, p.credit) AND 'A:provider' NOT IN (p.debit, p.credit)
               AND coalesce(o.key, j.key) NOT LIKE 'lost/%'
            UNION ALL SELECT asset, amount FROM posting WHERE credit = 'Q:unexplained'
            UNION ALL SELECT asset, -amount FROM posting WHERE debit = 'Q:unexplained')
          SELECT coalesce(a.asset, m.asset) || ': accounts ' || coalesce(a.amount, 0) || ', rows ' || coalesce(m.amount, 0)
            FROM (${heldAssets}) a FULL JOIN (SELECT asset, sum(amount) AS amount FROM moves GROUP BY asset) m ON m.asset = a.asset
           WHERE coalesce(a.amount, 0) <> coalesce(m.amount, 0)`,
  },
  {
    invariant: 'I6',
    what: 'a deposit and its journal do not agree',
    sql: `SELECT d.id::text FROM deposit d LEFT JOIN journal j ON j.key = 'deposit/' || d.network || '/' || d.tx_id || '/' || d.out_index
           WHERE (d.home IN ('unsettled', 'settled', 'unallocated', 'refunded')) <> (j.id IS NOT NULL AND (
             WITH RECURSIVE chain AS (SELECT j.id, 0 AS steps UNION ALL SELECT r.id, c.steps + 1 FROM journal r JOIN chain c ON r.reverses = c.id)
             SELECT max(steps) % 2 = 0 FROM chain))`,
  },
  {
    invariant: 'I6',
    what: 'an unclaimed deposit and its journal do not agree, or a payment owns it',
    sql: `SELECT d.id::text FROM deposit d
           WHERE d.home = 'unclaimed' AND (d.payment_id IS NOT NULL
              OR NOT journal_stands(concat('unclaimed/', d.network, '/', d.tx_id, '/', d.out_index)))
          UNION ALL SELECT j.key FROM journal j WHERE j.key LIKE 'unclaimed/%' AND journal_stands(j.key)
             AND NOT EXISTS (SELECT FROM deposit d WHERE d.home = 'unclaimed'
                               AND j.key = concat('unclaimed/', d.network, '/', d.tx_id, '/', d.out_index))`,
  },
  {
    invariant: 'I6',
    what: 'a settled payment without exactly one settlement',
    sql: `SELECT p.id FROM payment p WHERE p.status = 'SETTLED' AND NOT EXISTS (SELECT FROM journal j WHERE j.key = 'payment/' || p.id || '/settle')
          UNION ALL SELECT p.id FROM payment p JOIN journal j ON j.key = 'payment/' || p.id || '/settle' WHERE p.status <> 'SETTLED'`,
  },
  {
    invariant: 'I7',
    what: 'a batch whose parts are not what its transaction took',
    sql: `SELECT i.id::text FROM intent i JOIN attempt a ON a.intent_id = i.id AND a.status = 'final' AND a.success
            JOIN LATERAL (SELECT sum(s.fee_units) AS fee, sum(s.brought_units) AS brought FROM sweep_share s WHERE s.intent_id = i.id AND s.dropped_at IS NULL) s ON true
           WHERE i.booked AND i.kind = 'sweep' AND i.payment_id IS NULL
             AND (s.fee <> a.fee_units OR s.brought - CASE WHEN cardinality(a.inputs) > 0 THEN s.fee ELSE 0 END <> a.moved_units)`,
  },
  {
    invariant: 'I7',
    what: 'a payment in two sweeps that can both succeed',
    sql: `SELECT s.payment_id FROM sweep_share s JOIN intent i ON i.id = s.intent_id JOIN sweep_share o ON o.payment_id = s.payment_id AND o.intent_id > s.intent_id
            JOIN intent j ON j.id = o.intent_id WHERE s.dropped_at IS NULL AND o.dropped_at IS NULL AND i.status <> 'dead' AND j.status <> 'dead' AND s.deposit_ids && o.deposit_ids`,
  },
  {
    invariant: 'I7',
    what: 'an intent with two transactions in the chain',
    sql: `SELECT intent_id::text FROM attempt WHERE status IN ('mined', 'final') GROUP BY intent_id HAVING count(*) > 1`,
  },
  {
    invariant: 'I7',
    what: 'something sent that its address did not get, once, in full',
    sql: `SELECT h.kind || ' ' || h.id FROM ${paid} h
            JOIN ${registrySql} g ON g.currency = h.currency WHERE h.status = 'completed' AND 1 <> (
            SELECT count(*) FROM intent i JOIN attempt a ON a.intent_id = i.id AND a.status = 'final' AND a.success CROSS JOIN jsonb_array_elements(a.outputs) o
             WHERE i.kind = h.kind AND i.ref = h.id AND a.tx_id = h.tx_id AND o->>'address' = h.address
               AND (o->>'units')::numeric = h.net * power(10::numeric, g.decimals))`,
  },
  {
    invariant: 'I7',
    what: 'something signed before it was let go, or after it ended',
    sql: `SELECT h.kind || ' ' || h.id || ' ' || h.status FROM ${paid} h
           WHERE h.status IN ('awaiting_address', 'awaiting_approval', 'pending', 'cancelled')
             AND EXISTS (SELECT FROM intent i JOIN attempt a ON a.intent_id = i.id WHERE i.kind = h.kind AND i.ref = h.id)`,
  },
  {
    invariant: 'I7',
    what: 'a completed payout that its address did not get, once, in full',
    sql: `SELECT l.id FROM payout_leg l JOIN ${registrySql} g ON g.currency = l.currency WHERE l.status = 'completed' AND NOT EXISTS (
            SELECT FROM attempt a CROSS JOIN jsonb_array_elements(a.outputs) o
             WHERE a.intent_id = l.intent_id AND a.tx_id = l.tx_id AND a.status = 'final' AND a.success AND o->>'address' = l.address
               AND (o->>'units')::numeric = l.net_amount * power(10::numeric, g.decimals))
          UNION ALL
          SELECT 'intent ' || i.id FROM intent i JOIN attempt a ON a.intent_id = i.id AND a.status = 'final' AND a.success
            JOIN payout_leg l ON l.intent_id = i.id JOIN ${registrySql} g ON g.currency = l.currency WHERE i.kind = 'leg'
           GROUP BY i.id, a.outputs, g.decimals HAVING sum(l.net_amount) * power(10::numeric, g.decimals) <> (
             SELECT coalesce(sum((o->>'units')::numeric), 0) FROM jsonb_array_elements(a.outputs) o
              WHERE NOT EXISTS (SELECT FROM address own WHERE own.network = i.network AND own.address = o->>'address'))`,
  },
  {
    invariant: 'I7',
    what: 'a payout that was signed and is not called so',
    sql: `SELECT l.id || ' ' || l.status FROM payout_leg l WHERE l.status IN ('pending', 'refunded')
             AND EXISTS (SELECT FROM attempt a WHERE a.intent_id = l.intent_id)`,
  },
  {
    invariant: 'I8',
    what: 'a wallet with a gap in its nonces',
    sql: `SELECT w.address || ': next ' || w.next_nonce || ', signed ' || count(DISTINCT a.nonce)
            FROM wallet_sequence w LEFT JOIN (SELECT network, from_address, nonce FROM attempt WHERE nonce IS NOT NULL
                   UNION SELECT network, address, nonce FROM attempt_account) a ON a.network = w.network AND a.from_address = w.address
           GROUP BY w.network, w.address, w.next_nonce HAVING count(DISTINCT a.nonce) <> w.next_nonce OR coalesce(max(a.nonce), -1) <> w.next_nonce - 1`,
  },
  {
    invariant: 'I8',
    what: 'a coin spent by two intents',
    sql: `SELECT d.id::text FROM deposit d JOIN attempt a ON a.network = d.network AND a.inputs @> ARRAY[d.tx_id || ':' || d.out_index] AND a.status IN ('mined', 'final')
           WHERE d.network IN (SELECT network FROM ${registrySql} r WHERE kind = 'utxo') AND d.home IN ('unsettled', 'settled') GROUP BY d.id HAVING count(DISTINCT a.intent_id) > 1`,
  },
  {
    invariant: 'I9',
    what: 'what is reserved is not the sum of the open holds',
    sql: `SELECT coalesce(b.account, h.account) || ' ' || coalesce(b.asset, h.currency) || ': ' || coalesce(b.amount, 0) || ' reserved, ' || coalesce(h.amount, 0) || ' held'
            FROM (SELECT * FROM balance WHERE account LIKE 'L:reserved:%') b
            FULL JOIN (SELECT 'L:reserved:' || merchant_id AS account, currency, sum(amount) AS amount FROM (
                         SELECT merchant_id, currency, gross AS amount FROM ${holds} x WHERE status NOT IN ('completed', 'failed', 'cancelled')
                         UNION ALL
                         SELECT merchant_id, currency, amount FROM payout_leg WHERE status IN ('pending', 'processing', 'broadcast')) held
                        GROUP BY 1, 2) h
              ON h.account = b.account AND h.currency = b.asset
           WHERE coalesce(b.amount, 0) <> coalesce(h.amount, 0)`,
  },
  {
    invariant: 'I9',
    what: 'money on its way out without its hold, or with the wrong end of it',
    sql: `SELECT h.kind || ' ' || h.id || ' ' || h.status FROM ${holds} h ${endOf(`'hold/' || h.kind || '/' || h.id`)} WHERE
                 NOT EXISTS (SELECT FROM journal j WHERE j.key = 'hold/' || h.kind || '/' || h.id)
              OR f.is_double OR (h.status IN ('completed', 'failed', 'cancelled')) <> (f.id IS NOT NULL)
              OR (h.status = 'completed') <> EXISTS (SELECT FROM posting p WHERE p.journal_id = f.id AND p.credit = 'A:treasury'
                   AND p.asset = h.currency AND p.amount = h.net)
          UNION ALL
          SELECT r.id || ' ' || r.status FROM refund r WHERE r.source = 'deposit' AND (
                 (r.status = 'completed') <> journal_stands('refund/' || r.id)
              OR r.status NOT IN ('failed', 'cancelled') AND EXISTS (SELECT FROM deposit d WHERE d.id = ANY(r.deposit_ids) AND d.home <> 'refunded'))`,
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
             LEFT JOIN journal j ON j.key = 'hold/leg/' || l.id ${endOf(`'hold/leg/' || l.id`)}
           WHERE j.id IS NULL OR f.is_double OR (l.status IN ('completed', 'failed', 'refunded')) <> (f.id IS NOT NULL)
              OR (l.status = 'completed') <> EXISTS (SELECT FROM posting p WHERE p.journal_id = f.id AND p.credit = 'A:treasury'
                    AND p.asset = l.currency AND p.amount = l.net_amount)`,
  },
  {
    invariant: 'I9',
    what: 'a mass payout that does not say what its payments say',
    sql: `SELECT b.id || ' ' || b.status FROM payout_batch b CROSS JOIN LATERAL (
             SELECT count(*) AS n, count(*) FILTER (WHERE status IN ('pending', 'processing', 'broadcast')) AS open,
                    count(*) FILTER (WHERE status = 'completed') AS completed FROM payout_leg l WHERE l.batch_id = b.id) c
           WHERE c.n <> b.row_count OR (c.open > 0) <> (b.status IN ('awaiting_approval', 'queued', 'processing')) OR (b.status = 'completed') <> (c.completed = c.n)`,
  },
  {
    invariant: 'I9',
    what: 'unallocated is not the sum of its deposits',
    sql: `SELECT coalesce(b.account, s.account) || ' ' || coalesce(b.asset, s.currency) FROM (SELECT * FROM balance WHERE account LIKE 'L:unallocated:%') b
            FULL JOIN (SELECT 'L:unallocated:' || p.merchant_id AS account, d.currency, sum(d.amount) AS amount FROM deposit d
                         JOIN payment p ON p.id = coalesce(d.child_payment_id, d.payment_id)
                        WHERE d.home = 'unallocated' OR d.home = 'refunded' AND NOT EXISTS (
                          SELECT FROM refund r WHERE d.id = ANY(r.deposit_ids) AND r.status = 'completed') GROUP BY 1, 2
                       UNION ALL SELECT 'L:unallocated:unclaimed', d.currency, sum(d.amount) FROM deposit d
                        WHERE d.home = 'unclaimed' GROUP BY d.currency) s
              ON s.account = b.account AND s.currency = b.asset
           WHERE coalesce(b.amount, 0) <> coalesce(s.amount, 0)`,
  },
  {
    invariant: 'I9',
    what: 'something that was let out without having been admitted',
    sql: `SELECT h.kind || ' ' || h.id FROM ${holds} h WHERE NOT EXISTS (SELECT FROM egress_admission a WHERE a.kind = h.kind AND a.ref = h.id) AND h.status NOT IN ('completed', 'failed', 'cancelled')`,
  },
  {
    invariant: 'I9',
    what: 'refunds above what a payment received',
    sql: `SELECT p.id FROM payment p JOIN refund r ON r.payment_id = p.id AND r.source = 'balance' AND r.status NOT IN ('failed', 'cancelled')
           GROUP BY p.id HAVING sum(r.amount) > p.amount_paid`,
  },
  {
    invariant: 'I10',
    what: 'unsettled is not the sum of its deposits',
    sql: `SELECT coalesce(b.account, s.account) || ' ' || coalesce(b.asset, s.currency) FROM (SELECT * FROM balance WHERE account LIKE 'L:unsettled:%') b
            FULL JOIN (SELECT 'L:unsettled:' || p.merchant_id AS account, d.currency, sum(d.amount) AS amount FROM deposit d
                         JOIN payment p ON p.id = coalesce(d.child_payment_id, d.payment_id) WHERE d.home = 'unsettled' GROUP BY 1, 2) s
              ON s.account = b.account AND s.currency = b.asset
           WHERE coalesce(b.amount, 0) <> coalesce(s.amount, 0)`,
  },
  {
    invariant: 'I11',
    what: 'a hole in the order of events',
    sql: `SELECT c.merchant_id FROM merchant_counter c LEFT JOIN (SELECT merchant_id, count(*) AS n, max(seq) AS last FROM event GROUP BY merchant_id) e
              ON e.merchant_id = c.merchant_id WHERE coalesce(e.n, 0) <> c.event_seq OR coalesce(e.last, 0) <> c.event_seq`,
  },
  {
    invariant: 'I11',
    what: 'a delivery that nobody will attempt',
    sql: `SELECT id FROM delivery WHERE status IN ('pending', 'retrying') AND next_attempt_at IS NULL`,
  },
  {
    invariant: 'I11',
    what: 'the count of open payments is off',
    sql: `SELECT c.merchant_id || ': ' || c.open_payments || ' counted, ' || coalesce(o.n, 0) || ' open' FROM merchant_counter c
            LEFT JOIN (SELECT merchant_id, count(*) AS n FROM payment WHERE status NOT IN ('SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED') GROUP BY merchant_id) o
              ON o.merchant_id = c.merchant_id WHERE c.open_payments <> coalesce(o.n, 0)`,
  },
  {
    invariant: 'I12',
    what: 'a confirmed deposit without a home',
    // A part waits for its rest as long as its payment does.
    sql: `SELECT d.id::text FROM deposit d WHERE d.status = 'confirmed' AND d.home IS NULL AND NOT d.is_dust AND d.role = 'deposit'
             AND d.confirmed_at < now() - interval '2 minutes' AND NOT EXISTS (
               SELECT FROM payment p WHERE p.id = d.payment_id AND p.status = 'PARTIALLY_PAID' AND p.currency = d.currency)`,
  },
  {
    invariant: 'I13',
    what: 'a request that Temporal has not taken for a minute',
    sql: `SELECT workflow_id FROM temporal_request WHERE created_at < now() - interval '60 seconds'`,
  },
  {
    invariant: 'I13',
    what: 'a conversion that was interrupted, and not ended since',
    sql: `SELECT id || ' ' || status FROM conversion WHERE status IN ('initializing', 'pending') AND updated_at < now() - interval '90 seconds'`,
  },
  {
    invariant: 'I14',
    what: 'in transit is not the sum of what is converted elsewhere',
    sql: `SELECT coalesce(b.account, c.account) || ' ' || coalesce(b.asset, c.from_currency) || ': ' || coalesce(b.amount, 0) || ' in transit, ' || coalesce(c.amount, 0) || ' processing'
            FROM (SELECT * FROM balance WHERE account LIKE 'L:transit:%') b
            FULL JOIN (SELECT 'L:transit:' || merchant_id AS account, from_currency, sum(from_amount) AS amount FROM conversion WHERE status = 'processing' GROUP BY 1, 2) c
              ON c.account = b.account AND c.from_currency = b.asset
           WHERE coalesce(b.amount, 0) <> coalesce(c.amount, 0)`,
  },
  {
    invariant: 'I14',
    what: 'an internal conversion that did not move exactly what it says',
    sql: `SELECT c.id || ' ' || c.status FROM conversion c LEFT JOIN LATERAL (
              SELECT sum(p.amount) FILTER (WHERE p.debit = 'L:available:' || c.merchant_id AND p.asset = c.from_currency) AS taken,
                     sum(p.amount) FILTER (WHERE p.credit = 'L:available:' || c.merchant_id AND p.asset = c.to_currency) AS given,
                     coalesce(sum(p.amount) FILTER (WHERE p.credit = 'I:commission'), 0) AS commission
                FROM journal j JOIN posting p ON p.journal_id = j.id WHERE j.key = 'conversion/' || c.id || '/internal') m ON true
           WHERE c.execution_mode = 'internal' AND CASE WHEN c.status = 'completed'
                   THEN (m.taken, m.given, m.commission) IS DISTINCT FROM (c.from_amount, c.to_amount, c.commission_amount)
                   ELSE m.taken IS NOT NULL OR c.is_debited END
          UNION ALL SELECT j.key FROM journal j WHERE j.key LIKE 'conversion/%'
             AND NOT EXISTS (SELECT FROM conversion c WHERE c.id = split_part(j.key, '/', 2)::char(24))`,
  },
  {
    invariant: 'I14',
    what: 'a position that is not the sum of its postings',
    sql: `SELECT coalesce(f.asset, s.asset) || ': row ' || coalesce(f.amount, 0) || ', postings ' || coalesce(s.amount, 0) FROM fx_position f
            FULL JOIN (SELECT asset, sum(amount) AS amount FROM (SELECT asset, amount FROM posting WHERE credit = 'Q:fx'
                       UNION ALL SELECT asset, -amount FROM posting WHERE debit = 'Q:fx') x GROUP BY asset) s ON s.asset = f.asset
           WHERE coalesce(f.amount, 0) <> coalesce(s.amount, 0)`,
  },
  {
    invariant: 'I14',
    what: 'an external conversion whose journals are not those of its status',
    sql: `SELECT c.id || ' ' || c.status FROM conversion c LEFT JOIN journal e ON e.key = 'conversion/' || c.id || '/end'
           WHERE c.execution_mode = 'external' AND (
                 c.is_debited <> EXISTS (SELECT FROM journal j WHERE j.key = 'conversion/' || c.id || '/accept')
              OR (c.is_debited AND c.status IN ('completed', 'failed')) <> (e.id IS NOT NULL)
              OR c.status = 'completed' AND NOT EXISTS (SELECT FROM posting p WHERE p.journal_id = e.id AND p.credit = 'L:available:' || c.merchant_id
                   AND p.asset = c.to_currency AND p.amount = c.credit_amount)
              OR c.status = 'failed' AND c.is_debited AND NOT EXISTS (SELECT FROM posting p WHERE p.journal_id = e.id AND p.debit = 'L:transit:' || c.merchant_id
                   AND p.credit = 'L:available:' || c.merchant_id AND p.asset = c.from_currency AND p.amount = c.from_amount))`,
  },
  {
    invariant: 'I14',
    what: 'a deposit at the swap provider that its order did not ask for, or that was booked otherwise',
    sql: `SELECT i.ref FROM intent i LEFT JOIN swap_order o ON o.conversion_id = i.ref LEFT JOIN attempt a ON a.intent_id = i.id AND a.status = 'final' AND a.success
            LEFT JOIN ${registrySql} r ON r.currency = i.currency
           WHERE i.kind = 'fund' AND (o.order_id IS NULL OR (i.booked AND a.id IS NOT NULL) AND (
                 NOT EXISTS (SELECT FROM posting p JOIN journal j ON j.id = p.journal_id WHERE j.key = 'conversion/' || i.ref || '/fund'
                               AND p.debit = 'A:provider' AND p.amount = o.amount AND p.asset = i.currency)
              OR NOT EXISTS (SELECT FROM jsonb_array_elements(a.outputs) x WHERE x->>'address' = o.deposit_address
                               AND (x->>'units')::numeric = o.amount * power(10::numeric, r.decimals))))`,
  },
  {
    invariant: 'I14',
    what: 'a completed external conversion that was credited something else than came to its address',
    sql: `SELECT c.id FROM conversion c JOIN swap_order o ON o.conversion_id = c.id WHERE c.status = 'completed' AND c.credit_amount IS DISTINCT FROM (
            SELECT sum(d.amount) FROM deposit d WHERE d.id = ANY(o.credited_deposit_ids) AND d.address = o.payout_address AND d.currency = c.to_currency)`,
  },
  {
    invariant: 'I15',
    what: 'an address that another payment uses',
    sql: `SELECT p.id FROM payment p WHERE p.deposit_address IS NOT NULL AND p.address_role = 'primary'
             AND NOT EXISTS (SELECT FROM address a WHERE a.network = p.network AND a.address = p.deposit_address AND a.payment_id = p.id)`,
  },
];

async function look(db: DataSource): Promise<Violation[]> {
  return db.transaction('REPEATABLE READ', async (tx: EntityManager) => {
    await tx.query('SET LOCAL statement_timeout = 60000');
    const violations: Violation[] = [];
    for (const { invariant, what, sql } of checks) {
      const rows = await tx.query<Array<Record<string, string>>>(`${sql} LIMIT 20`);
      if (rows.length) violations.push({ invariant, what, found: rows.map((row) => String(Object.values(row)[0])) });
    }
    return violations;
  });
}

/** Checks I1–I16 as far as they apply: the books on one snapshot, and, with adapters, the books against the chains at one final
 *  block. What looks wrong is looked at again after `settleMs`, and only what is wrong both times is reported. */
export async function audit(
  db: DataSource,
  { adapters = [], settleMs = 1500 }: { adapters?: readonly ChainAdapter[]; settleMs?: number } = {},
): Promise<Violation[]> {
  const all = async (): Promise<Violation[]> => [...(await look(db)), ...(await auditHoldings(db, adapters))];
  const first = await all();
  if (!first.length) return [];
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const second = await all();
  const seen = new Map(
    first.map((violation) => [`${violation.invariant}/${violation.what}`, new Set(violation.found)]),
  );
  return second.flatMap((violation) => {
    const found = violation.found.filter((item) => seen.get(`${violation.invariant}/${violation.what}`)?.has(item));
    return found.length ? [{ ...violation, found }] : [];
  });
}

/** Names of everything that is checked, for reports. */
export const invariantsChecked: readonly string[] = [
  ...new Set([...checks.map((check) => check.invariant), 'I5', 'I15']),
];
