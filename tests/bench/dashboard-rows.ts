import { manyPayments } from '../many-payments';
import { unguarded } from '../unguarded';
import type { World } from '../world';

/** Rows behind every list of the dashboard, as many as a busy merchant has. */

/** `count` rows of each kind for the merchant ($1), made up at their ends. */
const statements = [
  `INSERT INTO event (id, merchant_id, seq, type, entity_id, state_version, data)
   SELECT 'e' || lpad(to_hex(n), 23, '0'), $1::char(24), 1000000 + n, 'payment.created',
          'f' || lpad(to_hex(n), 23, '0'), 1, json_build_object('_id', 'f' || lpad(to_hex(n), 23, '0'))
     FROM generate_series(1, $2::int) n`,
  `INSERT INTO webhook_endpoint (id, merchant_id, url, enabled_events, secret_sealed)
   SELECT lpad('a', 24, 'a'), $1::char(24), 'https://shop.example/hook', '{*}', 'sealed' FROM generate_series(1, 1) n
    WHERE $2::int > 0`,
  `INSERT INTO delivery (id, event_id, merchant_id, endpoint, url, status, attempts)
   SELECT 'd' || lpad(to_hex(n), 23, '0'), 'e' || lpad(to_hex(n), 23, '0'), $1::char(24), lpad('a', 24, 'a'),
          'https://shop.example/hook', 'succeeded', 1
     FROM generate_series(1, $2::int) n`,
  `INSERT INTO audit_log (merchant_id, actor_kind, actor_name, action, ip, request_id)
   SELECT $1::char(24), 'user', 'ann@shop.example', 'settings.changed', '127.0.0.1', 'bench-' || n
     FROM generate_series(1, $2::int) n`,
  `INSERT INTO withdrawal (id, merchant_id, idempotency_key, body_hash, status, currency, network, fee_mode, amount,
          network_fee, gross_amount, net_amount, address, requested_by, requested_by_name, needs_approval, approved_at)
   SELECT 'b' || lpad(to_hex(n), 23, '0'), $1::char(24), 'bench' || n, 'hash', 'completed', 'BTC', 'bitcoin', 'deduct',
          1, 0.1, 1, 0.9, 'address' || n, lpad('a', 24, 'a'), 'ann@shop.example', false, now()
     FROM generate_series(1, $2::int) n`,
  `INSERT INTO conversion (id, merchant_id, body_hash, status, execution_mode, from_currency, to_currency, from_amount,
          to_amount, exchange_rate, commission_amount, net_from_amount, is_debited, completed_at)
   SELECT 'c' || lpad(to_hex(n), 23, '0'), $1::char(24), 'hash', 'completed', 'internal', 'BTC', 'USDT_ERC20', 1,
          64000, 64000, 0.1, 0.9, true, now()
     FROM generate_series(1, $2::int) n`,
  `INSERT INTO payout_batch (id, merchant_id, status, rows_hash, row_count, totals, fees, created_by, created_by_id,
          completed_at)
   SELECT 'b' || lpad(to_hex(n), 23, '0'), $1::char(24), 'completed', 'hash', 1, '{"BTC":"1"}', '{"BTC":"0.1"}',
          'ann@shop.example', lpad('a', 24, 'a'), now()
     FROM generate_series(1, $2::int) n`,
  `INSERT INTO payout_leg (id, batch_id, merchant_id, row_index, currency, network, address, amount, network_fee,
          net_amount, status)
   SELECT b.id, b.id, $1::char(24), 0, 'BTC', 'bitcoin', 'address', 1, 0.1, 0.9, 'refunded'
     FROM payout_batch b WHERE b.merchant_id = $1::char(24) LIMIT $2::int`,
  `INSERT INTO whitelist_entry (id, merchant_id, type, currency, address, label, created_by, created_by_id, active_at)
   SELECT 'b' || lpad(to_hex(n), 23, '0'), $1::char(24), 'wallet', 'BTC', 'address' || n, 'Supplier ' || n,
          'ann@shop.example', lpad('a', 24, 'a'), now()
     FROM generate_series(1, $2::int) n`,
  `INSERT INTO ledger_entry (journal_id, merchant_id, asset, type, amount, reserved_change, balance_after,
          reserved_after, source_type)
   SELECT -n, $1::char(24), 'BTC', 'adjustment', 1, 0, n, 0, 'adjustment' FROM generate_series(1, $2::int) n`,
  `INSERT INTO widget (id, merchant_id, type, name, amount_mode, fixed_amount, branding)
   SELECT 'b' || lpad(to_hex(n), 23, '0'), $1::char(24), 'payment', 'Button ' || n, 'fixed', 25, '{}'
     FROM generate_series(1, $2::int) n`,
  `INSERT INTO api_key (id, merchant_id, name, key_hash, last4, scopes)
   SELECT 'b' || lpad(to_hex(n), 23, '0'), $1::char(24), 'Key ' || n, 'hash' || n, 'abcd', '{payments:view}'
     FROM generate_series(1, $2::int) n`,
  `INSERT INTO refund (id, merchant_id, payment_id, body_hash, type, status, currency, network, source, amount,
          network_fee, net_amount, gross_amount, fee_bearer, fiat_amount, fiat_currency, address, approved_at,
          completed_at)
   SELECT 'b' || lpad(to_hex(n), 23, '0'), $1::char(24), 'f' || lpad(to_hex(n), 23, '0'), 'hash', 'partial',
          'completed', 'BTC', 'bitcoin', 'balance', 1, 0.1, 0.9, 1, 'payer', 64000, 'USD', 'to', now(), now()
     FROM generate_series(1, $2::int) n`,
  `INSERT INTO api_request (merchant_id, id, method, route, path, status, request_id, duration_ms, ip,
          has_idempotency_key, created_at)
   SELECT $1::char(24), 'b' || lpad(to_hex(n), 23, '0'), 'GET', '/api/v1/payments', '/api/v1/payments', 200,
          'bench-' || n, 5, '127.0.0.1', false, now()
     FROM generate_series(1, $2::int) n`,
  `INSERT INTO team_invitation (id, merchant_id, email, permissions, invited_by, token_hash, expires_at)
   SELECT 'b' || lpad(to_hex(n), 23, '0'), $1::char(24), 'member' || n || '@shop.example', '{payments:view}',
          lpad('a', 24, 'a'), 'hash' || n, now() + interval '1 day'
     FROM generate_series(1, $2::int) n`,
] as const;

/** `count` rows of each kind in the lists of operators, for as many merchants, made up at their ends. */
const platformStatements = [
  `INSERT INTO merchant (id, name, publishable_key, ipn_secret_sealed)
   SELECT 'a' || lpad(to_hex(n), 23, '0'), 'Shop ' || n, 'pk_bench' || n, 'sealed' FROM generate_series(1, $1::int) n`,
  `INSERT INTO merchant_counter (merchant_id)
   SELECT 'a' || lpad(to_hex(n), 23, '0') FROM generate_series(1, $1::int) n`,
  `INSERT INTO incident (kind, key, subject_kind, subject_id, details)
   SELECT 'gas-low', 'gas-low/intent/' || n, 'intent', n::text, '{}' FROM generate_series(1, $1::int) n`,
  `INSERT INTO aml_screen (payment_id, cause, status, risk_score, risk_band, severity, categories, matches)
   SELECT p.id, 'credit', 'flagged', 80, 'severe', 'severe', '{sanctions}', '[]'
     FROM (SELECT id FROM payment ORDER BY id LIMIT $1) p`,
  `INSERT INTO operator_request (id, kind, payload, summary, reason, asked_by_name, expires_at)
   SELECT 'b' || lpad(to_hex(n), 23, '0'), 'unfreeze', '{"currency":"ETH"}', 'Lift the freeze of ETH', 'a drill',
          'root@host', now() + interval '1 day'
     FROM generate_series(1, $1::int) n`,
  `INSERT INTO swap_order (conversion_id, provider, payout_address, refund_address, amount, state, order_id,
          deposit_address, promised, valid_until)
   SELECT 'c' || lpad(to_hex(n), 23, '0'), 'now', 'pay' || n, 'back' || n, 1, 'finished', 'order' || n, 'to' || n, 1,
          now() FROM generate_series(1, $1::int) n`,
  `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
          first_seen_at, confirmed_at, allocation)
   SELECT 'ethereum', 'unclaimed' || n, 0, 'forgotten' || n, 'deposit', 'ETH', 1, 1, false, 'confirmed', now(), now(),
          'unclaimed' FROM generate_series(1, $1::int) n`,
] as const;

/** After `fillLists`: some of them are about its rows. */
export async function fillPlatformLists(world: World, count: number): Promise<void> {
  await unguarded(world.db, async (tx) => {
    for (const statement of platformStatements) await tx.query(statement, [count]);
  });
  await world.db.query('ANALYZE');
}

export async function fillLists(world: World, merchantId: string, count: number): Promise<void> {
  await manyPayments(world.stack.postgres.url, [{ id: merchantId, series: 91 }], count);
  await unguarded(world.db, async (tx) => {
    for (const statement of statements) await tx.query(statement, [merchantId, count]);
  });
  await world.db.query('ANALYZE');
}
