import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { deliveriesOf, type DeliveryFilter } from '../../db/webhooks/deliveries';
import { eventsAfter, eventsBefore } from '../../db/webhooks/events';
import { newId } from '../../domain/ids';
import { connectionsTo, freshDatabase } from '../setup/postgres';
import { rowsRead } from './plans';

/** Delivery log and events cost the same in an old database as in a new one, whatever is asked for. */

const many = 100_000;
const limit = 50;
const [ours, others] = [newId(), newId()];
const [busy, rare] = [newId(), newId()];
let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;

beforeAll(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query('SET session_replication_role = replica'); // what is made up here needs no checks
  await client.query(
    `INSERT INTO event (id, merchant_id, seq, type, entity_id, state_version, data)
     SELECT lpad(to_hex(n), 24, '0'), CASE WHEN n % 2 = 0 THEN $1 ELSE $2 END, n, 'payment.settled',
       lpad(to_hex(n / 8), 24, '0'), n % 8, '{}'
       FROM generate_series(1, $3::int) n`,
    [ours, others, many],
  );
  await client.query('INSERT INTO merchant_counter (merchant_id, event_seq) VALUES ($1, $2)', [ours, many]);
  // The newest are of the busy endpoint, and well.
  await client.query(
    `INSERT INTO delivery (id, event_id, merchant_id, endpoint, url, status)
     SELECT lpad(to_hex(n), 24, '0'), lpad(to_hex(n), 24, '0'), CASE WHEN n % 2 = 0 THEN $1 ELSE $2 END, CASE
       WHEN n < 1000 THEN $4 ELSE $3 END, 'https://x',
            CASE WHEN n < 1000 AND n % 4 = 0 THEN 'failed' ELSE 'succeeded' END FROM generate_series(1, $5::int) n
              ORDER BY n`,
    [ours, others, busy, rare, many],
  );
  await client.query('ANALYZE');
  await client.end();
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

const hex = (n: number): string => n.toString(16).padStart(24, '0');
it.each<[string, DeliveryFilter, number]>([
  ['everything', {}, limit],
  ['a page of it', { cursor: String(many / 2) }, limit],
  ['a busy endpoint', { endpoint: busy }, limit],
  ['an endpoint that had its last delivery long ago', { endpoint: rare }, limit],
  ['what failed', { status: 'failed' }, limit],
  ['what failed at an endpoint', { status: 'failed', endpoint: rare }, limit],
  ['what never is', { status: 'cancelled' }, 0],
  ['an event', { eventId: hex(4000) }, 1],
  ['a payment', { entityId: hex(500) }, 4],
])('of %s reads what it shows', async (_, filter, found) => {
  let deliveries: unknown;
  const read = await rowsRead(async () => (deliveries = await deliveriesOf(db, ours, filter, limit)));
  expect(deliveries).toHaveLength(found);
  expect(read).toBeLessThan(1000);
});

it.each(['*', 'payment.*', 'payment.settled'])('of events of %s reads what it shows', async (type) => {
  const types = [type];
  const read = await rowsRead(async () => {
    for (const after of ['0', '5000', String(many - 1000)])
      expect((await eventsAfter(db, ours, { after, types, limit })).events).toHaveLength(limit);
    for (const before of [null, '5000'])
      expect(await eventsBefore(db, ours, { before, types, limit })).toHaveLength(limit);
  });
  expect(read).toBeLessThan(1000);
});
