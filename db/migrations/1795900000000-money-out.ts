import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a journal is to its merchant, by its key; its details may say otherwise. */
const kinds = [
  `CREATE FUNCTION ledger_type(p_key text, p_amount numeric) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
      WHEN p_key LIKE 'payment/%/settle' THEN 'payment_credit'
      WHEN p_key LIKE 'sweep/%' THEN 'settlement_out'
      WHEN p_key LIKE 'conversion/%/fail%' OR p_key LIKE 'conversion/%/refund%' THEN 'conversion_refund'
      WHEN p_key LIKE 'conversion/%' THEN CASE WHEN p_amount < 0 THEN 'conversion_debit' ELSE 'conversion_credit' END
      WHEN p_key LIKE 'hold/%/end' AND p_amount > 0 THEN 'release'
      WHEN p_key LIKE 'hold/withdrawal/%/end' THEN 'withdrawal'
      WHEN p_key LIKE 'hold/leg/%/end' THEN 'payout_leg'
      WHEN p_key LIKE 'hold/refund/%/end' THEN 'refund'
      WHEN p_key LIKE 'hold/%' THEN 'reserve'
      ELSE 'adjustment' END $$`,
  `CREATE FUNCTION ledger_source_type(p_key text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
      WHEN p_key LIKE 'payment/%' OR p_key LIKE 'sweep/%' THEN 'payment'
      WHEN p_key LIKE 'conversion/%' THEN 'conversion'
      WHEN p_key LIKE 'hold/withdrawal/%' THEN 'withdrawal'
      WHEN p_key LIKE 'hold/leg/%' THEN 'massPayout'
      WHEN p_key LIKE 'hold/refund/%' THEN 'refund'
      ELSE 'adjustment' END $$`,
  `CREATE FUNCTION ledger_source_id(p_key text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
      WHEN p_key LIKE 'payment/%' OR p_key LIKE 'conversion/%' THEN split_part(p_key, '/', 2)
      WHEN p_key LIKE 'hold/%' THEN split_part(p_key, '/', 3) END $$`,
];

const ledger = [
  // A merchant's book: one row per journal and asset that moves what can be spent or what is reserved. seq grows with time; within
  // one merchant and asset its order is that in which the balances changed.
  `CREATE TABLE ledger_entry (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    journal_id bigint NOT NULL, merchant_id char(24) NOT NULL, asset text NOT NULL,
    type text NOT NULL CHECK (type IN ('payment_credit', 'conversion_debit', 'conversion_credit', 'conversion_refund', 'reserve', 'release',
      'withdrawal', 'payout_leg', 'refund', 'network_fee', 'settlement_out', 'reversal', 'adjustment')),
    -- what was added to available, and to reserved
    amount numeric(60, 18) NOT NULL, reserved_change numeric(60, 18) NOT NULL,
    balance_after numeric(60, 18) NOT NULL, reserved_after numeric(60, 18) NOT NULL,
    -- fiat per unit when it was posted; null where no rate was fresh
    fiat_currency text, fiat_rate numeric(60, 18),
    source_type text NOT NULL CHECK (source_type IN ('payment', 'refund', 'conversion', 'withdrawal', 'massPayout', 'adjustment')),
    source_id text, tx_id text, reversal_of bigint,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK (amount <> 0 OR reserved_change <> 0), UNIQUE (journal_id, merchant_id, asset))`,
  ...kinds,
];

const indexes = [
  `CREATE INDEX ledger_entry_newest ON ledger_entry (merchant_id, seq)`,
  `CREATE INDEX ledger_entry_source ON ledger_entry (merchant_id, source_id) WHERE source_id IS NOT NULL`,
  `CREATE TRIGGER ledger_entry_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entry
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
];

/** The foundation's. With `entries` it also writes the merchant's book. Whatever moves available or reserved locks the row of
 *  available first, so that entries of one merchant and asset follow each other, and the balances they name are exact. */
const postJournal = (entries: boolean): string => `CREATE OR REPLACE FUNCTION post_journal(
      p_key text, p_postings jsonb, p_reverses bigint DEFAULT NULL, p_details jsonb DEFAULT '{}')
    RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
      v_id bigint; v_hash text := md5(p_postings::text); v_known text; v_row record; ${entries ? 'v_has_entry boolean := false;' : ''}
    BEGIN
      IF jsonb_array_length(p_postings) = 0 THEN RAISE EXCEPTION 'journal % is empty', p_key USING ERRCODE = 'CP002'; END IF;
      INSERT INTO journal (key, content_hash, reverses, details) VALUES (p_key, v_hash, p_reverses, p_details)
        ON CONFLICT (key) DO NOTHING RETURNING id INTO v_id;
      IF v_id IS NULL THEN
        SELECT id, content_hash INTO v_id, v_known FROM journal WHERE key = p_key;
        IF v_known <> v_hash THEN RAISE EXCEPTION 'journal % exists with other content', p_key USING ERRCODE = 'CP003'; END IF;
        RETURN v_id;
      END IF;
      INSERT INTO posting (journal_id, debit, credit, asset, amount)
        SELECT v_id, p->>'debit', p->>'credit', p->>'asset', (p->>'amount')::numeric FROM jsonb_array_elements(p_postings) p;
      FOR v_row IN
        SELECT account, asset, sum(delta) AS delta FROM (
          SELECT p->>'debit' AS account, p->>'asset' AS asset, -(p->>'amount')::numeric AS delta FROM jsonb_array_elements(p_postings) p
          UNION ALL
          SELECT p->>'credit', p->>'asset', (p->>'amount')::numeric FROM jsonb_array_elements(p_postings) p${
            entries
              ? `
          UNION ALL
          SELECT 'L:available:' || substr(a.account, 12), p->>'asset', 0
            FROM jsonb_array_elements(p_postings) p CROSS JOIN LATERAL (VALUES (p->>'debit'), (p->>'credit')) a (account)
           WHERE a.account LIKE 'L:reserved:%'`
              : ''
          }) moved
        WHERE account LIKE 'L:%' GROUP BY account, asset HAVING sum(delta) <> 0${entries ? ' OR bool_or(delta = 0)' : ''} ORDER BY account, asset
      LOOP
        IF v_row.delta >= 0 THEN
          INSERT INTO balance AS b (account, asset, amount) VALUES (v_row.account, v_row.asset, v_row.delta)
            ON CONFLICT (account, asset) DO UPDATE SET amount = b.amount + EXCLUDED.amount;
        ELSE
          UPDATE balance SET amount = amount + v_row.delta WHERE account = v_row.account AND asset = v_row.asset AND amount >= -v_row.delta;
          IF NOT FOUND THEN
            RAISE EXCEPTION 'journal %: % of % would fall below zero', p_key, v_row.account, v_row.asset USING ERRCODE = 'CP004';
          END IF;
        END IF;
        ${entries ? `v_has_entry := v_has_entry OR starts_with(v_row.account, 'L:available:');` : ''}
      END LOOP;
      ${
        entries
          ? `IF v_has_entry THEN
        INSERT INTO ledger_entry (journal_id, merchant_id, asset, type, amount, reserved_change, balance_after, reserved_after, fiat_currency,
            fiat_rate, source_type, source_id, tx_id, reversal_of)
          SELECT v_id, d.merchant_id, d.asset,
                 CASE WHEN p_reverses IS NULL THEN coalesce(p_details->>'type', ledger_type(p_key, d.amount)) ELSE 'reversal' END,
                 d.amount, d.reserved_change, a.amount, coalesce(r.amount, 0),
                 coalesce(p_details->>'fiatCurrency', o.fiat_currency, f.fiat),
                 CASE WHEN p_details ? 'fiatCurrency' THEN (p_details->>'fiatRate')::numeric WHEN o.fiat_currency IS NOT NULL THEN o.fiat_rate ELSE f.value END,
                 coalesce(p_details->>'sourceType', o.source_type, ledger_source_type(p_key)),
                 coalesce(p_details->>'sourceId', o.source_id, ledger_source_id(p_key)), coalesce(p_details->>'txId', o.tx_id), o.seq
            FROM (SELECT split_part(account, ':', 3) AS merchant_id, asset,
                         coalesce(sum(delta) FILTER (WHERE starts_with(account, 'L:available:')), 0) AS amount,
                         coalesce(sum(delta) FILTER (WHERE starts_with(account, 'L:reserved:')), 0) AS reserved_change
                    FROM (SELECT p->>'debit' AS account, p->>'asset' AS asset, -(p->>'amount')::numeric AS delta FROM jsonb_array_elements(p_postings) p
                          UNION ALL
                          SELECT p->>'credit', p->>'asset', (p->>'amount')::numeric FROM jsonb_array_elements(p_postings) p) moved
                   WHERE starts_with(account, 'L:available:') OR starts_with(account, 'L:reserved:') GROUP BY 1, 2) d
            JOIN balance a ON a.account = 'L:available:' || d.merchant_id AND a.asset = d.asset
            LEFT JOIN balance r ON r.account = 'L:reserved:' || d.merchant_id AND r.asset = d.asset
            LEFT JOIN merchant m ON m.id = d.merchant_id::char(24)
            LEFT JOIN rate_latest f ON f.currency = d.asset AND f.fiat = m.display_currency AND f.taken_at > now() - interval '1 hour'
            LEFT JOIN ledger_entry o ON o.journal_id = p_reverses AND o.merchant_id = d.merchant_id::char(24) AND o.asset = d.asset
           WHERE d.amount <> 0 OR d.reserved_change <> 0 ORDER BY d.merchant_id, d.asset;
      END IF;`
          : ''
      }
      RETURN v_id;
    END $$`;

/** The book of what was posted before there was one, in the order of the journals. */
const backfill = [
  `LOCK TABLE journal IN SHARE ROW EXCLUSIVE MODE`,
  `WITH moved AS (
     SELECT journal_id, debit AS account, asset, -amount AS delta FROM posting WHERE debit LIKE 'L:available:%' OR debit LIKE 'L:reserved:%'
     UNION ALL
     SELECT journal_id, credit, asset, amount FROM posting WHERE credit LIKE 'L:available:%' OR credit LIKE 'L:reserved:%'),
   change AS (
     SELECT journal_id, split_part(account, ':', 3) AS merchant_id, asset,
            coalesce(sum(delta) FILTER (WHERE starts_with(account, 'L:available:')), 0) AS amount,
            coalesce(sum(delta) FILTER (WHERE starts_with(account, 'L:reserved:')), 0) AS reserved_change
       FROM moved GROUP BY 1, 2, 3)
   INSERT INTO ledger_entry (journal_id, merchant_id, asset, type, amount, reserved_change, balance_after, reserved_after, fiat_currency, fiat_rate,
       source_type, source_id, tx_id, created_at)
     SELECT c.journal_id, c.merchant_id, c.asset,
            CASE WHEN j.reverses IS NULL THEN coalesce(j.details->>'type', ledger_type(j.key, c.amount)) ELSE 'reversal' END,
            c.amount, c.reserved_change, sum(c.amount) OVER so_far, sum(c.reserved_change) OVER so_far, p.fiat_currency, p.exchange_rate,
            ledger_source_type(coalesce(first.key, j.key)), coalesce(i.payment_id, ledger_source_id(coalesce(first.key, j.key))),
            CASE WHEN i.id IS NULL THEN p.tx_ids[1] ELSE t.tx_id END, j.created_at
       FROM change c JOIN journal j ON j.id = c.journal_id
       LEFT JOIN LATERAL (
         WITH RECURSIVE chain AS (SELECT j.reverses AS id UNION ALL SELECT k.reverses FROM chain JOIN journal k ON k.id = chain.id WHERE k.reverses IS NOT NULL)
         SELECT k.key FROM chain JOIN journal k ON k.id = chain.id WHERE k.reverses IS NULL) first ON j.reverses IS NOT NULL
       LEFT JOIN intent i ON coalesce(first.key, j.key) = 'sweep/' || i.id
       LEFT JOIN attempt t ON t.intent_id = i.id AND t.status = 'final'
       LEFT JOIN payment p ON p.id = coalesce(i.payment_id, ledger_source_id(coalesce(first.key, j.key)))::char(24)
         AND ledger_source_type(coalesce(first.key, j.key)) = 'payment'
      WHERE c.amount <> 0 OR c.reserved_change <> 0
     WINDOW so_far AS (PARTITION BY c.merchant_id, c.asset ORDER BY c.journal_id) ORDER BY c.journal_id, c.asset`,
  `UPDATE ledger_entry e SET reversal_of = o.seq FROM journal j, ledger_entry o
    WHERE j.id = e.journal_id AND o.journal_id = j.reverses AND o.merchant_id = e.merchant_id AND o.asset = e.asset`,
];

const wallets = [
  // Every state that a wallet has had, whoever changed it.
  `CREATE TABLE merchant_wallet_history (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, wallet_id char(24) NOT NULL REFERENCES merchant_wallet,
    settlement_address text NOT NULL, destination_tag text, custody text NOT NULL, is_active boolean NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp())`,
  `CREATE INDEX merchant_wallet_history_wallet ON merchant_wallet_history (wallet_id, id)`,
  `INSERT INTO merchant_wallet_history (wallet_id, settlement_address, destination_tag, custody, is_active, at)
    SELECT id, settlement_address, destination_tag, custody, is_active, coalesce(deactivated_at, created_at) FROM merchant_wallet ORDER BY id`,
  `CREATE TRIGGER merchant_wallet_history_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON merchant_wallet_history
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
  `CREATE FUNCTION note_wallet() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO merchant_wallet_history (wallet_id, settlement_address, destination_tag, custody, is_active)
        VALUES (NEW.id, NEW.settlement_address, NEW.destination_tag, NEW.custody, NEW.is_active);
      RETURN NULL;
    END $$`,
  `CREATE TRIGGER merchant_wallet_noted AFTER INSERT OR UPDATE ON merchant_wallet FOR EACH ROW EXECUTE FUNCTION note_wallet()`,
];

const whitelist = [
  `ALTER TABLE merchant ADD COLUMN whitelist_delay_hours integer NOT NULL DEFAULT 0 CHECK (whitelist_delay_hours BETWEEN 0 AND 720),
    -- no new entry counts before: the end of the longer delay that was shortened
    ADD COLUMN whitelist_not_before timestamptz`,
  `CREATE TABLE whitelist_entry (
    id char(24) PRIMARY KEY, merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
    type text NOT NULL CHECK (type IN ('wallet', 'ip')),
    currency text, address text, destination_tag text, ip text, label text,
    created_by text NOT NULL, created_by_id char(24) NOT NULL, created_at timestamptz NOT NULL DEFAULT now(), active_at timestamptz NOT NULL,
    removed_at timestamptz, removed_by_id char(24),
    CHECK (CASE type WHEN 'wallet' THEN currency IS NOT NULL AND address IS NOT NULL AND ip IS NULL
                     ELSE ip IS NOT NULL AND currency IS NULL AND address IS NULL AND destination_tag IS NULL END))`,
  `CREATE UNIQUE INDEX whitelist_entry_listed ON whitelist_entry (merchant_id, type, currency, address, destination_tag, ip)
    NULLS NOT DISTINCT WHERE removed_at IS NULL`,
];

const liabilities = [
  `CREATE TABLE liability_tree (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, root text NOT NULL, assets jsonb NOT NULL, created_at timestamptz NOT NULL DEFAULT now())`,
  `CREATE TABLE liability_leaf (
    tree_id bigint NOT NULL REFERENCES liability_tree, merchant_id text NOT NULL, currency text NOT NULL, leaf jsonb NOT NULL, path jsonb NOT NULL,
    PRIMARY KEY (tree_id, merchant_id, currency))`,
  ...['liability_tree', 'liability_leaf'].map(
    (table) => `CREATE TRIGGER ${table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ${table}
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
  ),
];

const statements = [
  `SET LOCAL statement_timeout = 0`,
  ...ledger,
  ...backfill,
  ...indexes,
  postJournal(true),
  ...wallets,
  ...whitelist,
  ...liabilities,
];

export class MoneyOut1795900000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    for (const statement of statements) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query(postJournal(false));
    await q.query('DROP TABLE liability_leaf, liability_tree, whitelist_entry');
    await q.query(`ALTER TABLE merchant DROP COLUMN whitelist_delay_hours, DROP COLUMN whitelist_not_before`);
    await q.query('DROP TRIGGER merchant_wallet_noted ON merchant_wallet');
    await q.query('DROP FUNCTION note_wallet()');
    await q.query('DROP TABLE merchant_wallet_history, ledger_entry');
    await q.query('DROP FUNCTION ledger_type(text, numeric), ledger_source_type(text), ledger_source_id(text)');
  }
}
