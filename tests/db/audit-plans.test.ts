import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { audit } from '../../db/audit/audit';
import { reconcileAssets } from '../../db/audit/reconciliation';
import type { ChainAdapter } from '../../domain/chains/chain';
import { newId } from '../../domain/ids';
import { connectionsTo, freshDatabase } from '../setup/postgres';
import { rowsRead } from './plans';

/** Audit and reconciliation look for our own addresses among those that transactions paid: once for each, and not
 *  through all addresses for each. */

const addresses = 20_000;
const transactions = 300;
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
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
       VALUES ('ethereum', 100, 'e100', 100, now())`,
  );
  await client.query(
    `INSERT INTO address (network, address, role, key_index, currency)
       SELECT 'ethereum', 'own' || n, CASE n WHEN 0 THEN 'treasury' ELSE 'deposit' END, n, 'ETH'
         FROM generate_series(0, $1::int - 1) n`,
    [addresses],
  );
  await client.query(
    `WITH i AS (INSERT INTO intent (max_unit_price, fee_budget, kind, ref, network, currency, from_address, outputs,
         status, owner_kind, owner_id, booked)
       SELECT 1, 300, 'leg', n, 'ethereum', 'ETH', 'own0', o.outputs, CASE WHEN n % 2 = 0 THEN 'final' ELSE 'planned'
         END, 'payout-batch', 'x', n % 4 = 0
         FROM generate_series(0, $1::int - 1) n CROSS JOIN LATERAL (SELECT jsonb_build_array(jsonb_build_object(
           'address', CASE WHEN n % 3 = 0 THEN 'own' ELSE 'theirs' END || n, 'units', '7')) AS outputs) o
       RETURNING id, ref, status, outputs)
     INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, unit_price, max_fee_units,
       moved_units, outputs, status, success, fee_units, height, sent_at)
     SELECT id, 1, 'ethereum', 'tx' || ref, '', 'own0', ref::int, 1, 300, 7, outputs, 'final', true, 200, 50, now()
       FROM i WHERE status = 'final'`,
    [transactions],
  );
  await client.query(
    `INSERT INTO payout_leg (id, batch_id, merchant_id, row_index, currency, network, address, amount, network_fee,
       net_amount, status, state_version, intent_id, tx_id, updated_at)
     SELECT lpad(to_hex(nonce::int), 24, '0'), $1, $1, nonce, 'ETH', 'ethereum', 'theirs' || nonce, 7e-18, 0, 7e-18,
       'completed', 1, intent_id, tx_id, now() FROM attempt WHERE nonce % 3 > 0`,
    [newId()],
  );
  await client.query('ANALYZE');
  await client.end();
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

const node = {
  network: 'ethereum',
  holding: () => Promise.resolve(0n),
} as Partial<ChainAdapter> as ChainAdapter;

it('of the reconciliation', async () => {
  let found: Awaited<ReturnType<typeof reconcileAssets>> | undefined;
  const read = await rowsRead(async () => (found = await reconcileAssets(db, [node], () => 3, 1)));
  // Half of those that pay an address of ours are final: nothing of them has left.
  const ether = found!.positions.find(({ currency }) => currency === 'ETH')!;
  expect(Number(ether.open)).toBeCloseTo(100 * 7e-18, 25);
  expect(read).toBeLessThan(addresses * 10);
});

it('of the audit', async () => {
  const read = await rowsRead(() => audit(db, { settleMs: 0 }));
  expect(read).toBeLessThan(addresses * 20);
});
