import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { recountDays } from './unguarded';

/** Many payments at once, for tests of lists: in every status, half in BTC and half in USDT_ERC20, `secondsApart`, the
 *  newest of them now. Payment `n` of a merchant (from 1, the newest) has the order id `o<n>`, the merchant order id
 *  `m<n>`, an address and, where it is paid, a deposit (`bare`: neither row is there); ids and slugs of merchants
 *  differ by `series` (0 to 255). */
export async function manyPayments(
  databaseUrl: string,
  merchants: ReadonlyArray<Readonly<{ id: string; series: number }>>,
  each: number,
  { bare = false, secondsApart = 1 } = {},
): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('BEGIN');
    // These payments are made up at their ends: the guard lets them come there only step by step.
    await client.query('SET LOCAL session_replication_role = replica');
    await client.query(
      `INSERT INTO payment (id, merchant_id, slug, status, exceptions, source, merchant_order_id, order_id, customer_id,
         fiat_amount, fiat_currency, fee_bearer,
          fee_bps, tolerance_pct, underpaid_policy, currency, network, amount, exchange_rate,
          commission_amount, network_fee_amount, fee_amount, net_amount,
          deposit_address, expires_at, expires_in, amount_paid, tx_ids, settled_fee_amount,
          settled_net_amount, confirmed_at, settled_at, created_at)
        SELECT ${idOf}, m.id, ${slugOf}, s.status, '{}', 'api', 'm' || n, 'o' || n, 'customer', 25.5, 'USD', 'merchant',
          40, 1, 'hold', c.currency, c.network, 25.5 / c.price, c.price, 0.102 / c.price, 0.000000000000000001,
          0.102 / c.price + 0.000000000000000001,
          25.398 / c.price - 0.000000000000000001, ${addressOf}, now(), 3600, CASE WHEN s.paid THEN 25.5 / c.price
            ELSE 0 END,
          CASE WHEN s.paid THEN ARRAY[${txOf}] ELSE '{}' END, CASE WHEN s.status = 'SETTLED' THEN 0.102 / c.price END,
          CASE WHEN s.status = 'SETTLED' THEN 25.398 / c.price END, CASE WHEN s.paid THEN now() END, CASE
            WHEN s.status = 'SETTLED' THEN now() END,
          now() - make_interval(secs => n * $3::float8)
        FROM ${source}`,
      [JSON.stringify(merchants), each, secondsApart],
    );
    if (!bare) {
      await client.query(
        `INSERT INTO address (network, address, role, key_index, currency, merchant_id, payment_id)
        SELECT c.network, ${addressOf}, 'deposit', m.series * 10000000 + n, c.currency, m.id, ${idOf} FROM ${source}`,
        [JSON.stringify(merchants), each],
      );
      await client.query(
        `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
           is_dust, status, first_seen_at)
        SELECT c.network, ${txOf}, 0, ${addressOf}, 'deposit', ${idOf}, c.currency, 1, 1, false, 'confirmed', now()
          FROM ${source} WHERE s.paid`,
        [JSON.stringify(merchants), each],
      );
    }
    await client.query(recountDays);
    await client.query('COMMIT');
    // What autovacuum would do in the course of a day. Another look at the database may hold it up.
    for (let seen = false, tries = 0; !seen && tries < 50; tries++) {
      await client.query('VACUUM (ANALYZE) payment, payment_day, address, deposit');
      const { rows } = await client.query<{ seen: boolean }>(
        "SELECT relallvisible >= relpages - 1 AS seen FROM pg_class WHERE relname = 'payment'",
      );
      seen = rows[0]!.seen;
      if (!seen) await sleep(200);
    }
  } finally {
    await client.end();
  }
}

const idOf = "lpad(to_hex(m.series), 8, '0') || lpad(to_hex(n), 16, '0')";
const slugOf = "translate(lpad(to_hex(m.series), 4, '0') || lpad(to_hex(n), 16, '0'), '01', 'xy')";
const addressOf = "'address' || m.series || '/' || n";
const txOf = "'tx' || m.series || '/' || n";
const source = `jsonb_to_recordset($1::jsonb) AS m(id char(24), series integer)
  CROSS JOIN generate_series(1, $2::integer) AS n
  CROSS JOIN LATERAL (SELECT CASE n % 2 WHEN 0 THEN 'BTC' ELSE 'USDT_ERC20' END AS currency, CASE n % 2 WHEN 0
    THEN 'bitcoin' ELSE 'ethereum' END AS network,
    CASE n % 2 WHEN 0 THEN 64000 ELSE 1 END AS price) AS c
  CROSS JOIN LATERAL (SELECT (ARRAY['SETTLED', 'SETTLED', 'SETTLED', 'SETTLED', 'EXPIRED', 'EXPIRED', 'CANCELLED',
    'WAITING', 'CONFIRMING', 'FAILED'])[n / 2 % 10 + 1] AS status,
    n / 2 % 10 IN (0, 1, 2, 3, 8) AS paid) AS s`;

export const idOfMany = (series: number, n: number): string =>
  series.toString(16).padStart(8, '0') + n.toString(16).padStart(16, '0');
export const slugOfMany = (series: number, n: number): string =>
  (series.toString(16).padStart(4, '0') + n.toString(16).padStart(16, '0')).replaceAll('0', 'x').replaceAll('1', 'y');
