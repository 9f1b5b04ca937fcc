import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { find } from '../../commands/operators/find';
import { createMerchant, listMerchants } from '../../db/access/merchants';
import { listIncidents } from '../../db/operators/incidents';
import { allActs } from '../../db/operators/acts';
import { listRegistrations } from '../../db/operators/registrations';
import { listScreens } from '../../db/operators/screenings';
import { readIntents, readLanes, readOutgoing, readUnconfirmed } from '../../db/readings/sending';
import { readBooks, readChains, readRates, readWaiting } from '../../db/readings/service';
import { listOrders } from '../../db/operators/swap-orders';
import { backlog, networkStates, openIncidents, volumesSince } from '../../db/operators/overview';
import { firstIdOf, newId } from '../../domain/ids';
import { idOfMany, manyPayments, slugOfMany } from '../many-payments';
import { secretsKey } from '../api/harness';
import { connectionsTo, freshDatabase } from '../setup/postgres';
import { rowsRead } from './plans';

/** The search and the overview of operators cost the same in an old database as in a new one. */

const many = 50_000;
const everyMerchant = { name: null, status: null, approval: null, cursor: null, limit: 50 } as const;
const everyRegistration = { inviteCodeId: null, cursor: null, limit: 50 } as const;
let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
const actor = { kind: 'user', id: newId(), name: 'ann', ip: '127.0.0.1', requestId: newId() } as const;
/** Stands for a codec: whatever begins so is an address of its network. */
const codecs = {
  bitcoin: { network: 'bitcoin', normalise: (text: string) => (text.startsWith('address') ? text : null) },
} as const;
/** 64 hex digits: the shape of a transaction. */
const hash = (n: number): string => n.toString(16).padStart(64, '0');

beforeAll(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
  const merchant = await createMerchant(db, { secretsKey, name: 'Shop' });
  await manyPayments(database.url, [{ id: merchant.id, series: 3 }], many);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query('SET session_replication_role = replica'); // what is made up here needs no checks
  await client.query(`UPDATE deposit SET tx_id = lpad(to_hex(substr(tx_id, 5)::int), 64, '0')`);
  await client.query(
    `INSERT INTO event (id, merchant_id, seq, type, entity_id, state_version, data)
     SELECT 'e' || lpad(to_hex(n), 23, '0'), $1, n, 'payment.settled',
            lpad(to_hex(3), 8, '0') || lpad(to_hex(n / 4), 16, '0'),
            n % 4, '{}' FROM generate_series(1, $2::int) n`,
    [merchant.id, many],
  );
  await client.query(
    `INSERT INTO delivery (id, event_id, merchant_id, endpoint, url, status)
     SELECT 'd' || lpad(to_hex(n), 23, '0'), 'e' || lpad(to_hex(n), 23, '0'), $1, 'ipn', 'https://x', 'succeeded'
       FROM generate_series(1, $2::int) n`,
    [merchant.id, many],
  );
  await client.query(
    `INSERT INTO intent (kind, ref, network, currency, from_address, outputs, max_unit_price, fee_budget, status,
       payment_id, merchant_id, owner_kind, owner_id, booked)
     SELECT 'sweep', id || '/1', 'bitcoin', 'BTC', deposit_address, '[]', 1, 1, 'final', id, merchant_id, 'sweep', id,
            true FROM payment`,
  );
  await client.query(
    `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, unit_price, max_fee_units, moved_units,
       outputs, status, block_hash, height, success)
     SELECT id, 1, network, 'a' || lpad(to_hex(id), 63, '0'), '', from_address, 1, 1, 1, '[]', 'final', 'h', 1,
            true FROM intent`,
  );
  await client.query(`INSERT INTO journal (key, content_hash) SELECT 'sweep/' || id, 'x' FROM intent`);
  await client.query(
    `INSERT INTO incident (kind, key, subject_kind, subject_id, details, resolved_at)
     SELECT 'sweep-overdue', 'sweep-overdue/' || n, 'payment', 'p' || n, '{}', CASE WHEN n % 10000 > 0 THEN now() END
       FROM generate_series(1, $1::int) n`,
    [many],
  );
  await client.query(
    `INSERT INTO merchant (id, name, ipn_secret_sealed, publishable_key)
     SELECT 'c' || lpad(to_hex(n), 23, '0'), 'Merchant ' || n, '', 'pk' || n FROM generate_series(1, $1::int) n`,
    [many],
  );
  await client.query(
    `INSERT INTO audit_log (merchant_id, actor_kind, actor_id, actor_name, action, ip, request_id)
     SELECT $1, 'user', 'u' || n % 1000, 'u' || n % 1000 || '@x',
            CASE WHEN n % 5000 = 0 THEN 'rare' ELSE 'often' END, '', ''
       FROM generate_series(1, $2::int) n`,
    [merchant.id, many],
  );
  await client.query(
    `INSERT INTO aml_screen (payment_id, cause, status, risk_score, risk_band, severity)
     SELECT id, 'credit', CASE WHEN n % 5000 = 0 THEN 'flagged' ELSE 'clear' END, 1, 'low', 'low'
       FROM (SELECT id, row_number() OVER () AS n FROM payment) p`,
  );
  await client.query(
    `INSERT INTO conversion (id, merchant_id, body_hash, status, execution_mode, from_currency, to_currency,
       from_amount)
     SELECT 'b' || lpad(to_hex(n), 23, '0'), $1, 'x', CASE WHEN n % 5000 = 0 THEN 'initializing' ELSE 'failed' END,
            'external', 'ETH', 'BTC', 1 FROM generate_series(1, $2::int) n`,
    [merchant.id, many],
  );
  await client.query(
    `INSERT INTO swap_order (conversion_id, provider, payout_address, refund_address, amount, state)
     SELECT id, 'now', 'p', 'r', 1, CASE WHEN status = 'failed' THEN 'refused' ELSE 'worse' END FROM conversion`,
  );
  await client.query(`UPDATE merchant SET status = 'suspended', approval = 'waiting' WHERE id LIKE 'c%00'`);
  await client.query('ANALYZE');
  await client.end();
}, 120_000);
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

describe('10: a search reads what it shows', () => {
  const n = 4000;
  const id = idOfMany(3, n);
  it.each([
    ['an id', id],
    ['a slug', slugOfMany(3, n)],
    ['an order', `o${n}`],
    ['the order of a merchant', `m${n}`],
    ['an address', `address3/${n}`],
    ['a deposit', hash(n)],
    ['an event', `e${n.toString(16).padStart(23, '0')}`],
    ['a delivery', `d${n.toString(16).padStart(23, '0')}`],
    ['an intent', String(n)],
    ['a transaction of ours', `a${n.toString(16).padStart(63, '0')}`],
  ])('for %s', async (_, text) => {
    let records: number | undefined;
    const read = await rowsRead(async () => {
      records = (await find(db, codecs, text, actor)).records.length;
    });
    expect(records).toBe(1);
    expect(read).toBeLessThan(1000);
  });

  it.each([
    ['that names nothing', 'nothing at all'],
    ['of a person', 'nobody@example.com'],
  ])('%s', async (_, text) => {
    expect(await rowsRead(() => find(db, codecs, text, actor))).toBeLessThan(100);
  });
});

describe('10: the overview and its lists read what they show', () => {
  it.each<[string, () => Promise<unknown>, number]>([
    ['open incidents', () => openIncidents(db), 100],
    ['networks', () => networkStates(db, ['bitcoin', 'ethereum']), 100],
    ['metrics of networks', () => readChains(db, ['bitcoin', 'ethereum']), 100],
    ['metrics of intents', () => readIntents(db), 100],
    ['metrics of the pools', () => readUnconfirmed(db), 100],
    ['metrics of wallets', () => readLanes(db, ['bitcoin', 'ethereum']), 100],
    ['metrics of limits and conversions', () => readOutgoing(db), 100],
    ['metrics of what waits', () => readWaiting(db), 100],
    ['metrics of prices', () => readRates(db, ['BTC', 'ETH']), 100],
    ['metrics of the books', () => readBooks(db), 100],
    ['volumes', () => volumesSince(db, firstIdOf(Date.now() - 7 * 86_400_000)), 100],
    ['a page of incidents', () => listIncidents(db, { state: null, kind: null, cursor: null, limit: 50 }), 100],
    [
      'open incidents, the newest',
      () => listIncidents(db, { state: 'open', kind: null, cursor: null, limit: 50 }),
      100,
    ],
    ['acts of everybody', () => allActs(db, { limit: 50 }), 400],
    ['acts of one person', () => allActs(db, { actor: 'u7@x', limit: 50 }), 400],
    ['acts of a rare kind', () => allActs(db, { action: 'rare', limit: 50 }), 400],
    ['screening hits', () => listScreens(db, { status: 'flagged', severity: null, cursor: null, limit: 50 }), 400],
    ['screenings', () => listScreens(db, { status: null, severity: null, cursor: null, limit: 50 }), 400],
    ['swap orders', () => listOrders(db, { state: null, isOpen: false, cursor: null, limit: 50 }), 400],
    [
      'swap orders in a rare state',
      () => listOrders(db, { state: 'worse', isOpen: false, cursor: null, limit: 50 }),
      400,
    ],
    ['swap orders under way', () => listOrders(db, { state: null, isOpen: true, cursor: null, limit: 50 }), 400],
    ['registrations', () => listRegistrations(db, { ...everyRegistration, approval: null }), 400],
    ['registrations that wait', () => listRegistrations(db, { ...everyRegistration, approval: 'waiting' }), 1000],
    ['merchants by name', () => listMerchants(db, { ...everyMerchant, name: 'merchant 4999' }), 1000],
    ['merchants that wait', () => listMerchants(db, { ...everyMerchant, approval: 'waiting' }), 1000],
  ])('%s', async (_, ask, most) => {
    expect(await rowsRead(ask)).toBeLessThan(most);
  });

  it('what waits, one row a merchant', async () => {
    expect(await rowsRead(() => backlog(db))).toBeLessThan(1000);
  });
});
