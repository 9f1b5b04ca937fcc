import type pg from 'pg';
import { newId, newSlug } from '../../domain/ids';
import type { Shop, World } from '../world';

/** What a creation is compared with: its rows, and its workflow, without the service. */

/** Where `bareInsert` takes the indexes of its addresses from. */
export const createIndexes = (pool: pg.Pool): Promise<unknown> => pool.query('CREATE SEQUENCE bench_index');

/** The same rows without the service: what PostgreSQL alone takes, a transaction per payment. Too young to be missed
 *  by the reconciler. */
export async function bareInsert(pool: pg.Pool, shop: Shop): Promise<void> {
  const id = newId();
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query(
      `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
         tolerance_pct, underpaid_policy, currency, network, amount, exchange_rate, expires_at, expires_in, created_at)
       VALUES ($1, $2, $3, 'WAITING', 'api', 25, 'USD', 'merchant', 40, 1, 'hold', 'BTC', 'bitcoin', 0.0004, 64000,
         now() + interval '1 hour', 3600, now() + interval '1 hour')`,
      [id, shop.id, newSlug()],
    );
    await client.query(
      `INSERT INTO address (network, address, role, key_index, currency, merchant_id, payment_id)
       VALUES ('bench', $1::text, 'deposit', nextval('bench_index'), 'BTC', $2, $1::text)`,
      [id, shop.id],
    );
    await client.query(
      `INSERT INTO payment_event (payment_id, state_version, to_status, cause) VALUES ($1, 1, 'WAITING', 'bench')`,
      [id],
    );
    await client.query('COMMIT');
  } finally {
    client.release();
  }
}

/** A workflow that nobody works on. */
export const bareStart = (world: World): Promise<unknown> =>
  world.temporal.workflow.start('nothing', { workflowId: `bench/${newId()}`, taskQueue: 'bench-nobody', args: [] });
