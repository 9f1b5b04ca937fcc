import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { recountSql } from '../../db/payments/payment-days';
import { World, type Shop } from '../world';
import { dispatched, median, percentile, report } from './measure';

/** `npm run bench -- open`: what 1,000,000 open payments and watched addresses cost, beside 1,000. Two services at
 *  once, which take turns by the second: machines are not equally fast all the time, and nothing has to be deleted. */

const few = 1000;
const many = 1_000_000;
/** Rows of one transaction while they are made. */
const chunk = 50_000;
const creates = 200;
/** Creations of one service before the other has its turn. */
const turn = 20;
/** Payments that nothing is measured of, for what was created before is still being taken up; and those that are. */
const warmUps = 4;
const detections = 31;

type Side = Readonly<{ world: World; shop: Shop; createMs: number[]; detectMs: number[] }>;

export async function manyOpen(): Promise<void> {
  const sides: Side[] = [];
  try {
    for (const count of [few, many]) {
      const world = await World.start({
        env: { OPEN_PAYMENTS_QUOTA: '10000000', LOG_LEVEL: 'warn', WEBHOOK_TIME_SCALE: '1', DATABASE_WAIT_MS: '30000' },
      });
      const side = { world, shop: await world.shop(), createMs: [], detectMs: [] };
      sides.push(side);
      await holdOpen(side, count);
    }
    await creations(sides);
    await inBlocks(sides);
  } finally {
    await Promise.all(sides.map(({ world }) => world.stop()));
  }
  reportRatio('create p50', sides, ({ createMs }) => percentile(createMs, 0.5));
  reportRatio('block to CONFIRMING', sides, ({ detectMs }) => median(detectMs));
}

/** Gives a merchant so many open payments in ETH, with all the rows of a creation but the event and its deliveries.
 *  They are too young to be missed by what asks for workflows again: nothing of them is under way. */
async function holdOpen({ world, shop }: Side, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: world.stack.postgres.url });
  await client.connect();
  try {
    // Counted and guarded once for all of them, below, and not a million times.
    await client.query('SET session_replication_role = replica');
    await client.query('SET statement_timeout = 0');
    for (let from = 1; from <= count; from += chunk)
      await client.query(openRows, [shop.id, from, Math.min(count, from + chunk - 1)]);
    await client.query(`INSERT INTO payment_day SELECT d.* FROM (${recountSql}) d WHERE d.merchant_id = $1`, [shop.id]);
    await client.query('UPDATE merchant_counter SET open_payments = $2 WHERE merchant_id = $1', [shop.id, count]);
    // What PostgreSQL would do of itself in a while is not to be part of what is measured next.
    for (const table of ['payment', 'payment_event', 'address', 'payment_day', 'merchant_counter'])
      await client.query(`VACUUM (ANALYZE) ${table}`);
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}

/** $1: the merchant; $2, $3: the first number and the last one. An address is watched on each network where it is the
 *  same account, as `open_payment` writes it; the indexes are beyond those that are drawn. */
const openRows = `
  WITH made AS (
    INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
      tolerance_pct, underpaid_policy, currency, network, amount, quote_amount, commission_amount, network_fee_amount,
      fee_amount, net_amount, exchange_rate, native_rate, rate_id, quoted_at, quote_expires_at, required_confirmations,
      deposit_address, settlement_address, custody, expires_at, expires_in, created_at)
    SELECT lpad(to_hex(n), 24, '0'), $1, 'bench' || n, 'WAITING', 'api', 25, 'USD', 'merchant', 40, 1, 'hold', 'ETH',
           'ethereum', 0.0078125, 0.0078125, 0.00003125, 0.0001, 0.00013125, 0.00768125, r.value, 1, r.rate_id, now(),
           now() + interval '2 days', 3, '0x' || md5(n::text) || substr(md5('bench' || n), 1, 8),
           w.settlement_address, w.custody, now() + interval '2 days', 172800, now() + interval '1 hour'
      FROM generate_series($2::integer, $3::integer) n
      JOIN rate_latest r ON r.currency = 'ETH' AND r.fiat = 'USD'
      JOIN merchant_wallet w ON w.merchant_id = $1 AND w.currency = 'ETH' AND w.is_active
    RETURNING id, merchant_id, deposit_address, substr(slug, 6)::integer AS n),
  logged AS (
    INSERT INTO payment_event (payment_id, state_version, to_status, cause)
      SELECT id, 1, 'WAITING', 'created' FROM made)
  INSERT INTO address (network, address, role, key_index, currency, merchant_id, payment_id, is_elsewhere)
    SELECT o.network, m.deposit_address, 'deposit', 1000000 + m.n, 'ETH', m.merchant_id, m.id, o.network <> k.network
      FROM made m
      JOIN extended_key k ON k.network = 'ethereum' AND k.role = 'deposit'
      JOIN extended_key o ON o.sequence_of = k.sequence_of AND o.role = k.role`;

/** Creations for the merchant who has them all, one after the other. */
async function creations(sides: readonly Side[]): Promise<void> {
  for (let made = -turn; made < creates; made += turn)
    for (const { world, shop, createMs } of sides)
      for (let n = 0; n < turn; n += 1) {
        const start = performance.now();
        const answer = await world.call(shop, 'POST', '/api/v1/payments', { amount: 25, currency: 'BTC' });
        if (answer.status !== 201) throw new Error(`create: ${answer.status} ${JSON.stringify(answer.body)}`);
        // The first turn is none: connections have their plans after it.
        if (made >= 0) createMs.push(performance.now() - start);
      }
  for (const { world } of sides) await dispatched(world);
}

/** From the block that holds a payment to CONFIRMING, ms. */
async function inBlocks(sides: readonly Side[]): Promise<void> {
  for (let n = -warmUps; n < detections; n += 1)
    for (const { world, shop, detectMs } of sides) {
      const invoice = await world.invoice(shop, { amount: 25, currency: 'ETH' });
      await world.payer.pay('ETH', invoice.address, String(invoice.amount));
      const start = performance.now();
      await world.payer.mine('ETH', 1);
      while (await isWaiting(world, invoice.id)) await sleep(5);
      if (n >= 0) detectMs.push(performance.now() - start);
      await sleep(1000); // the sweeps of those before are no part of it
    }
}

async function isWaiting(world: World, id: string): Promise<boolean> {
  const rows = await world.db.query<Array<{ status: string }>>('SELECT status FROM payment WHERE id = $1', [id]);
  return rows[0]!.status === 'WAITING';
}

function reportRatio(what: string, [less, more]: readonly Side[], of: (side: Side) => number): void {
  const ratio = of(more!) / of(less!);
  report({
    name: `${what} with ${many.toLocaleString('en')} open payments ÷ with ${few.toLocaleString('en')}`,
    value: ratio,
    unit: '×',
    limit: '≤ 1.1',
    holds: ratio <= 1.1,
    detail: `${of(more!).toFixed(1)} ms against ${of(less!).toFixed(1)} ms`,
  });
}
