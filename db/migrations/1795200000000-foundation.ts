import type { MigrationInterface, QueryRunner } from 'typeorm';

const statements = [
  // --- who ------------------------------------------------------------------------------------------------------------
  `CREATE TABLE merchant (
    id char(24) PRIMARY KEY,
    name text NOT NULL CHECK (name <> ''),
    status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
    display_currency text NOT NULL DEFAULT 'USD',
    fee_bearer text NOT NULL DEFAULT 'merchant' CHECK (fee_bearer IN ('customer', 'merchant')),
    fee_bps integer NOT NULL DEFAULT 40 CHECK (fee_bps BETWEEN 1 AND 5000),
    underpayment_tolerance_pct numeric(5, 2) NOT NULL DEFAULT 1 CHECK (underpayment_tolerance_pct BETWEEN 0 AND 50),
    underpaid_policy text NOT NULL DEFAULT 'hold' CHECK (underpaid_policy IN ('hold', 'accept', 'refund')),
    callback_domains text[] NOT NULL DEFAULT '{}',
    default_expires_in integer CHECK (default_expires_in BETWEEN 60 AND 172800),
    open_payments_quota integer CHECK (open_payments_quota > 0),
    ipn_enabled boolean NOT NULL DEFAULT true,
    ipn_secret_sealed text NOT NULL,
    publishable_key text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now())`,
  // The one hot row of a merchant: locked last, held for one statement. Invariants: 6.
  `CREATE TABLE merchant_counter (
    merchant_id char(24) PRIMARY KEY REFERENCES merchant ON DELETE RESTRICT,
    event_seq bigint NOT NULL DEFAULT 0,
    open_payments integer NOT NULL DEFAULT 0 CHECK (open_payments >= 0)) WITH (fillfactor = 50)`,
  `CREATE TABLE api_key (
    id char(24) PRIMARY KEY,
    merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
    name text NOT NULL,
    key_hash text NOT NULL UNIQUE,
    last4 text NOT NULL,
    scopes text[] NOT NULL,
    allowed_ips text[] NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz, revoked_at timestamptz, last_used_at timestamptz, last_used_ip text)`,
  `CREATE TABLE merchant_wallet (
    id char(24) PRIMARY KEY,
    merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
    currency text NOT NULL,
    settlement_address text NOT NULL,
    destination_tag text,
    custody text NOT NULL CHECK (custody IN ('platform', 'external')),
    is_active boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT now(), deactivated_at timestamptz)`,
  `CREATE UNIQUE INDEX merchant_wallet_active ON merchant_wallet (merchant_id, currency) WHERE is_active`,

  // --- keys and addresses ---------------------------------------------------------------------------------------------
  `CREATE TABLE extended_key (
    network text NOT NULL, role text NOT NULL CHECK (role IN ('deposit', 'treasury', 'gas')), xpub text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (network, role))`,
  `CREATE TABLE address (
    network text NOT NULL, address text NOT NULL,
    role text NOT NULL CHECK (role IN ('deposit', 'treasury', 'gas')), key_index integer NOT NULL CHECK (key_index >= 0),
    currency text, merchant_id char(24), payment_id char(24),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (network, address), UNIQUE (network, role, key_index))`,
  `CREATE INDEX address_payment ON address (payment_id) WHERE payment_id IS NOT NULL`,

  // --- prices -----------------------------------------------------------------------------------------------------------
  `CREATE TABLE rate (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    currency text NOT NULL, fiat text NOT NULL, value numeric(60, 18) NOT NULL CHECK (value > 0),
    sources jsonb NOT NULL, taken_at timestamptz NOT NULL)`,
  `CREATE INDEX rate_history ON rate (currency, fiat, taken_at DESC)`,
  `CREATE TABLE rate_latest (
    currency text NOT NULL, fiat text NOT NULL, rate_id bigint NOT NULL REFERENCES rate, value numeric(60, 18) NOT NULL,
    taken_at timestamptz NOT NULL, PRIMARY KEY (currency, fiat)) WITH (fillfactor = 50)`,
  `CREATE TABLE network_fee (
    network text PRIMARY KEY, unit_price numeric(60, 18) NOT NULL CHECK (unit_price > 0), tip_price numeric(60, 18) NOT NULL,
    taken_at timestamptz NOT NULL) WITH (fillfactor = 50)`,

  // --- payments ---------------------------------------------------------------------------------------------------------
  `CREATE TABLE payment (
    id char(24) PRIMARY KEY,
    merchant_id char(24) NOT NULL REFERENCES merchant ON DELETE RESTRICT,
    slug text NOT NULL UNIQUE,
    status text NOT NULL CHECK (status IN ('AWAITING_CURRENCY', 'WAITING', 'PARTIALLY_PAID', 'CROSS_CHAIN_PENDING', 'CONFIRMING',
      'CONFIRMED', 'SWEEP_QUEUED', 'SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED')),
    state_version integer NOT NULL DEFAULT 1,
    exceptions text[] NOT NULL DEFAULT '{}',
    source text NOT NULL CHECK (source IN ('api', 'platform', 'widget')),
    idempotency_key text, merchant_order_id text, customer_id text, extra_id text,
    metadata json, order_id text,
    ipn_callback_url text, invoice_callback_url text, invoice_cancel_url text,
    fiat_amount numeric(60, 18) NOT NULL CHECK (fiat_amount > 0), fiat_currency text NOT NULL,
    fee_bearer text NOT NULL, fee_bps integer NOT NULL, tolerance_pct numeric(5, 2) NOT NULL, underpaid_policy text NOT NULL,
    -- the quote; all null until a currency is locked
    currency text, network text,
    amount numeric(60, 18) CHECK (amount > 0), exchange_rate numeric(60, 18) CHECK (exchange_rate > 0),
    commission_amount numeric(60, 18), network_fee_amount numeric(60, 18), fee_amount numeric(60, 18), net_amount numeric(60, 18),
    rate_id bigint REFERENCES rate, native_rate numeric(60, 18),
    quote_expires_at timestamptz, rate_frozen boolean NOT NULL DEFAULT false,
    required_confirmations integer,
    deposit_address text, settlement_address text, custody text,
    expires_at timestamptz NOT NULL, expires_in integer NOT NULL,
    -- what happened
    amount_paid numeric(60, 18) NOT NULL DEFAULT 0, tx_ids text[] NOT NULL DEFAULT '{}',
    settled_fee_amount numeric(60, 18), settled_net_amount numeric(60, 18), settled_stamp_incomplete boolean NOT NULL DEFAULT false,
    sweep_state text CHECK (sweep_state IN ('queued', 'broadcast', 'confirmed')), sweep_tx_id text,
    address_role text NOT NULL DEFAULT 'primary' CHECK (address_role IN ('primary', 'repeat')),
    parent_payment_id char(24) REFERENCES payment, child_deposit_id bigint UNIQUE,
    original_currency text, original_amount numeric(60, 18),
    confirmed_at timestamptz, settled_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(),
    CHECK ((currency IS NULL) = (amount IS NULL)),
    UNIQUE (merchant_id, idempotency_key)) WITH (fillfactor = 80)`,
  `CREATE INDEX payment_newest ON payment (merchant_id, created_at DESC, id DESC)`,
  `CREATE INDEX payment_status ON payment (merchant_id, status, created_at DESC)`,
  `CREATE INDEX payment_open ON payment (id) WHERE status NOT IN ('SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED')`,
  `CREATE INDEX payment_pending ON payment (merchant_id, currency) WHERE status IN ('CONFIRMED', 'SWEEP_QUEUED')`,
  `CREATE INDEX payment_parent ON payment (parent_payment_id) WHERE parent_payment_id IS NOT NULL`,
  `CREATE TABLE payment_event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    payment_id char(24) NOT NULL REFERENCES payment, state_version integer NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(), from_status text, to_status text NOT NULL, cause text NOT NULL,
    details jsonb NOT NULL DEFAULT '{}')`,
  `CREATE INDEX payment_event_payment ON payment_event (payment_id, id)`,
  `CREATE TRIGGER payment_event_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON payment_event
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
  `CREATE FUNCTION guard_payment() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF OLD.status IN ('SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED') AND NEW.status <> OLD.status THEN
        RAISE EXCEPTION 'payment % is final (%)', OLD.id, OLD.status USING ERRCODE = 'CP010';
      END IF;
      IF NEW.status <> OLD.status AND NEW.state_version <= OLD.state_version THEN
        RAISE EXCEPTION 'payment % changed its status without a new state_version', OLD.id USING ERRCODE = 'CP011';
      END IF;
      RETURN NEW;
    END $$`,
  `CREATE TRIGGER payment_final BEFORE UPDATE ON payment FOR EACH ROW EXECUTE FUNCTION guard_payment()`,

  // --- chains -----------------------------------------------------------------------------------------------------------
  `CREATE TABLE chain_cursor (
    network text PRIMARY KEY, height bigint NOT NULL, hash text NOT NULL, head_height bigint NOT NULL,
    scanned_through timestamptz NOT NULL, updated_at timestamptz NOT NULL DEFAULT now()) WITH (fillfactor = 50)`,
  `CREATE TABLE chain_block (
    network text NOT NULL, height bigint NOT NULL, hash text NOT NULL, block_time timestamptz NOT NULL, PRIMARY KEY (network, height))`,
  // What arrived at an address of ours. On UTXO networks each row is also a coin.
  `CREATE TABLE deposit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    network text NOT NULL, tx_id text NOT NULL, out_index integer NOT NULL,
    address text NOT NULL, role text NOT NULL, payment_id char(24), child_payment_id char(24),
    currency text, amount numeric(60, 18) NOT NULL CHECK (amount >= 0), stated_amount numeric(60, 18) NOT NULL,
    is_dust boolean NOT NULL,
    status text NOT NULL CHECK (status IN ('pool', 'mined', 'confirmed', 'orphaned', 'replaced', 'void')),
    block_hash text, height bigint, inputs text[] NOT NULL DEFAULT '{}',
    first_seen_at timestamptz NOT NULL, confirmed_at timestamptz, missing_since timestamptz,
    home text CHECK (home IN ('own', 'capital', 'unsettled', 'unallocated', 'settled')),
    spent_by_tx text, spent_height bigint,
    UNIQUE (network, tx_id, out_index), FOREIGN KEY (network, address) REFERENCES address)`,
  `CREATE INDEX deposit_payment ON deposit (payment_id)`,
  `CREATE INDEX deposit_child ON deposit (child_payment_id) WHERE child_payment_id IS NOT NULL`,
  `CREATE INDEX deposit_depth ON deposit (network, height) WHERE status = 'mined'`,
  `CREATE INDEX deposit_height ON deposit (network, height) WHERE height IS NOT NULL`,
  `CREATE INDEX deposit_pool ON deposit (network) WHERE status = 'pool'`,
  `CREATE INDEX deposit_address ON deposit (network, address)`,

  // --- money out: intent (what shall be sent) and attempt (one signed transaction of it). Invariants: 5 ---------------------
  `CREATE TABLE wallet_sequence (
    network text NOT NULL, address text NOT NULL, next_nonce integer NOT NULL DEFAULT 0, frozen_reason text, frozen_at timestamptz,
    PRIMARY KEY (network, address), FOREIGN KEY (network, address) REFERENCES address)`,
  `CREATE TABLE intent (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL, ref text NOT NULL, network text NOT NULL, currency text NOT NULL,
    from_address text NOT NULL,
    -- [{address, units | null (all that is left after the fee)}]; base units as decimal strings
    outputs jsonb NOT NULL,
    -- UTXO: deposit ids spent; account: deposit ids moved
    deposit_ids bigint[] NOT NULL DEFAULT '{}',
    -- caps what a bump may pay per unit of work; null: no cap but the value
    max_unit_price numeric(60, 18),
    status text NOT NULL DEFAULT 'planned' CHECK (status IN ('planned', 'stored', 'sent', 'mined', 'final', 'failed', 'dead')),
    payment_id char(24), merchant_id char(24), owner_workflow text NOT NULL,
    -- its end is in the ledger
    booked boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(), updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (kind, ref))`,
  `CREATE INDEX intent_payment ON intent (payment_id) WHERE payment_id IS NOT NULL`,
  `CREATE INDEX intent_open ON intent (network) WHERE status NOT IN ('final', 'failed', 'dead')`,
  `CREATE TABLE attempt (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    intent_id bigint NOT NULL REFERENCES intent, n integer NOT NULL,
    network text NOT NULL, tx_id text NOT NULL, raw text NOT NULL, from_address text NOT NULL,
    nonce integer, inputs text[] NOT NULL DEFAULT '{}',
    unit_price numeric(60, 18) NOT NULL, max_fee_units numeric(78, 0) NOT NULL, moved_units numeric(78, 0) NOT NULL,
    -- what each output of the intent gets in this attempt: [{address, units}]
    outputs jsonb NOT NULL,
    status text NOT NULL DEFAULT 'stored' CHECK (status IN ('stored', 'sent', 'mined', 'final', 'replaced')),
    block_hash text, height bigint, success boolean, fee_units numeric(78, 0),
    missing_at_height bigint,
    created_at timestamptz NOT NULL DEFAULT now(), sent_at timestamptz, final_at timestamptz,
    UNIQUE (network, tx_id), UNIQUE (intent_id, n))`,
  `CREATE INDEX attempt_open ON attempt (network) WHERE status IN ('stored', 'sent', 'mined')`,
  `CREATE INDEX attempt_height ON attempt (network, height) WHERE height IS NOT NULL`,
  `CREATE UNIQUE INDEX attempt_one_mined ON attempt (network, from_address, nonce) WHERE nonce IS NOT NULL AND status IN ('mined', 'final')`,
  // A coin is locked by the row and freed by its deletion, which only a dead intent allows.
  `CREATE TABLE coin_lock (
    deposit_id bigint PRIMARY KEY REFERENCES deposit, intent_id bigint NOT NULL REFERENCES intent)`,
  `CREATE TABLE egress_freeze (
    currency text PRIMARY KEY, reason text NOT NULL, frozen_at timestamptz NOT NULL DEFAULT now())`,
  `CREATE TABLE incident (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind text NOT NULL, key text NOT NULL UNIQUE, details jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(), resolved_at timestamptz)`,

  // --- ledger. Invariants: 4, 6 -------------------------------------------------------------------------------------------
  `CREATE TABLE journal (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key text NOT NULL UNIQUE, content_hash text NOT NULL,
    reverses bigint UNIQUE REFERENCES journal, details jsonb NOT NULL DEFAULT '{}', created_at timestamptz NOT NULL DEFAULT clock_timestamp())`,
  `CREATE TABLE posting (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, journal_id bigint NOT NULL REFERENCES journal ON DELETE RESTRICT,
    debit text NOT NULL, credit text NOT NULL, asset text NOT NULL, amount numeric(60, 18) NOT NULL CHECK (amount > 0), CHECK (debit <> credit))`,
  `CREATE INDEX posting_journal ON posting (journal_id)`,
  `CREATE INDEX posting_debit ON posting (debit, asset)`,
  `CREATE INDEX posting_credit ON posting (credit, asset)`,
  `CREATE TABLE balance (
    account text NOT NULL, asset text NOT NULL, amount numeric(60, 18) NOT NULL CHECK (amount >= 0), PRIMARY KEY (account, asset)) WITH (fillfactor = 50)`,
  ...['journal', 'posting'].map(
    (table) => `CREATE TRIGGER ${table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ${table}
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
  ),
  `CREATE FUNCTION post_journal(p_key text, p_postings jsonb, p_reverses bigint DEFAULT NULL, p_details jsonb DEFAULT '{}')
    RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
      v_id bigint; v_hash text := md5(p_postings::text); v_known text; v_row record;
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
          SELECT p->>'credit', p->>'asset', (p->>'amount')::numeric FROM jsonb_array_elements(p_postings) p) moved
        WHERE account LIKE 'L:%' GROUP BY account, asset HAVING sum(delta) <> 0 ORDER BY account, asset
      LOOP
        IF v_row.delta > 0 THEN
          INSERT INTO balance AS b (account, asset, amount) VALUES (v_row.account, v_row.asset, v_row.delta)
            ON CONFLICT (account, asset) DO UPDATE SET amount = b.amount + EXCLUDED.amount;
        ELSE
          UPDATE balance SET amount = amount + v_row.delta WHERE account = v_row.account AND asset = v_row.asset AND amount >= -v_row.delta;
          IF NOT FOUND THEN
            RAISE EXCEPTION 'journal %: % of % would fall below zero', p_key, v_row.account, v_row.asset USING ERRCODE = 'CP004';
          END IF;
        END IF;
      END LOOP;
      RETURN v_id;
    END $$`,

  // --- events and what Temporal shall do ------------------------------------------------------------------------------------
  `CREATE TABLE event (
    id char(24) PRIMARY KEY, merchant_id char(24) NOT NULL REFERENCES merchant, seq bigint NOT NULL, type text NOT NULL,
    entity_id char(24) NOT NULL, state_version integer NOT NULL, data json NOT NULL, previous jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(), UNIQUE (merchant_id, seq), UNIQUE (entity_id, state_version, type))`,
  `CREATE TRIGGER event_append_only BEFORE UPDATE OR TRUNCATE ON event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
  `CREATE TABLE delivery (
    id char(24) PRIMARY KEY, event_id char(24) NOT NULL REFERENCES event, merchant_id char(24) NOT NULL, endpoint text NOT NULL, url text NOT NULL,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'succeeded', 'retrying', 'failed', 'cancelled')),
    attempts integer NOT NULL DEFAULT 0, next_attempt_at timestamptz, created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(), UNIQUE (event_id, endpoint))`,
  `CREATE INDEX delivery_open ON delivery (created_at) WHERE status IN ('pending', 'retrying')`,
  `CREATE TABLE delivery_attempt (
    delivery_id char(24) NOT NULL REFERENCES delivery, n integer NOT NULL, at timestamptz NOT NULL, duration_ms integer NOT NULL,
    status_code integer, response_body text, error text, PRIMARY KEY (delivery_id, n))`,
  // The outbox towards Temporal: written with the change that wants it, deleted when Temporal has acknowledged.
  `CREATE TABLE temporal_request (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('start', 'signal')), workflow text NOT NULL, workflow_id text NOT NULL,
    args jsonb NOT NULL DEFAULT '[]', signal text, attributes jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(), claimed_until timestamptz, tries integer NOT NULL DEFAULT 0, last_error text)`,
  `CREATE FUNCTION request_workflow(p_kind text, p_workflow text, p_workflow_id text, p_args jsonb, p_signal text, p_attributes jsonb)
    RETURNS void LANGUAGE sql AS $$
      INSERT INTO temporal_request (kind, workflow, workflow_id, args, signal, attributes)
        VALUES (p_kind, p_workflow, p_workflow_id, p_args, p_signal, p_attributes);
      SELECT pg_notify('temporal_request', '');
    $$`,
  // One event in its merchant's order, and its IPN delivery where the payment names a target. The counter row is locked last.
  `CREATE FUNCTION emit_event(p_merchant text, p_id text, p_type text, p_entity text, p_version integer, p_data text, p_previous jsonb,
      p_delivery_id text, p_url text, p_open_delta integer)
    RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE v_seq bigint;
    BEGIN
      UPDATE merchant_counter SET event_seq = event_seq + 1, open_payments = open_payments + p_open_delta
        WHERE merchant_id = p_merchant RETURNING event_seq INTO STRICT v_seq;
      INSERT INTO event (id, merchant_id, seq, type, entity_id, state_version, data, previous)
        VALUES (p_id, p_merchant, v_seq, p_type, p_entity, p_version, p_data::json, p_previous);
      IF p_url IS NOT NULL THEN
        INSERT INTO delivery (id, event_id, merchant_id, endpoint, url, next_attempt_at) VALUES (p_delivery_id, p_id, p_merchant, 'ipn', p_url, now());
        PERFORM request_workflow('start', 'webhook', 'webhook/' || p_delivery_id, jsonb_build_array(p_delivery_id), NULL,
          jsonb_build_object('MerchantId', p_merchant));
      END IF;
      RETURN v_seq;
    END $$`,
  // The whole of "create a payment" in one round trip. The same idempotency key finds the first payment. Invariants: 5.
  `CREATE FUNCTION open_payment(p jsonb, p_metadata text, p_address jsonb, p_event_id text, p_event_data text, p_delivery_id text,
      p_attributes jsonb, p_quota integer)
    RETURNS TABLE (payment_id text, replayed boolean) LANGUAGE plpgsql AS $$
    DECLARE v_payment payment := jsonb_populate_record(NULL::payment, p);
    BEGIN
      v_payment.metadata := p_metadata::json;
      INSERT INTO payment SELECT v_payment.* ON CONFLICT (merchant_id, idempotency_key) DO NOTHING;
      IF NOT FOUND THEN
        RETURN QUERY SELECT x.id::text, true FROM payment x
          WHERE x.merchant_id = v_payment.merchant_id AND x.idempotency_key = v_payment.idempotency_key;
        RETURN;
      END IF;
      IF p_address IS NOT NULL THEN
        INSERT INTO address (network, address, role, key_index, currency, merchant_id, payment_id)
          VALUES (p_address->>'network', p_address->>'address', 'deposit', (p_address->>'keyIndex')::integer, v_payment.currency,
            v_payment.merchant_id, v_payment.id);
      END IF;
      INSERT INTO payment_event (payment_id, state_version, from_status, to_status, cause, details)
        VALUES (v_payment.id, 1, NULL, v_payment.status, 'created', jsonb_build_object('rateId', v_payment.rate_id));
      PERFORM request_workflow('start', 'payment', 'payment/' || v_payment.id, jsonb_build_array(v_payment.id), NULL, p_attributes);
      PERFORM emit_event(v_payment.merchant_id, p_event_id, 'payment.created', v_payment.id, 1, p_event_data, '{}', p_delivery_id,
        CASE WHEN p_delivery_id IS NULL THEN NULL ELSE v_payment.ipn_callback_url END, 1);
      IF (SELECT c.open_payments FROM merchant_counter c WHERE c.merchant_id = v_payment.merchant_id) > p_quota THEN
        RAISE EXCEPTION 'open payments quota of % reached', p_quota USING ERRCODE = 'CP005';
      END IF;
      RETURN QUERY SELECT v_payment.id::text, false;
    END $$`,

  // --- the service itself ---------------------------------------------------------------------------------------------------
  `CREATE TABLE request_log (
    request_id text PRIMARY KEY, merchant_id char(24), reason text NOT NULL, details jsonb NOT NULL DEFAULT '{}', created_at timestamptz NOT NULL DEFAULT now())`,
  `CREATE TABLE audit_run (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(), violations jsonb NOT NULL, duration_ms integer NOT NULL)`,
  // Counters of rate-limiter-flexible: worth keeping over a restart of a copy of the API, not over a crash of PostgreSQL.
  `CREATE UNLOGGED TABLE rate_limit (key varchar(255) PRIMARY KEY, points integer NOT NULL DEFAULT 0, expire bigint)`,
  `CREATE TABLE fail_point (name text PRIMARY KEY, action text NOT NULL, remaining integer NOT NULL)`,
];

export class Foundation1795200000000 implements MigrationInterface {
  async up(q: QueryRunner): Promise<void> {
    await q.query(`CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'CP001'; END $$`);
    for (const statement of statements) await q.query(statement);
  }

  async down(q: QueryRunner): Promise<void> {
    await q.query('DROP SCHEMA public CASCADE');
    await q.query('CREATE SCHEMA public');
  }
}
