import type { DataSource } from 'typeorm';
import { newId } from '../../domain/ids';
import { firstStatuses, finalStatuses, legalMoves, paymentStatuses } from '../../domain/payments/payment';
import { connectionsTo, freshDatabase, type Database } from '../setup/postgres';
import { unguarded } from '../unguarded';
import { insertMerchant } from '../merchant-row';

/** The guard of PostgreSQL: a payment takes the moves of `legalMoves`, and no other. */

let database: Database;
let db: DataSource;
const merchantId = newId();
beforeAll(async () => {
  database = await freshDatabase();
  db = await connectionsTo(database.url).initialize();
  await insertMerchant(db, merchantId);
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

async function insert(to: Pick<DataSource, 'query'>, status: string): Promise<string> {
  const id = newId();
  await to.query(
    `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
       tolerance_pct, underpaid_policy, expires_at, expires_in)
     VALUES ($1, $2, $4, $3, 'api', 10, 'USD', 'merchant', 40, 1, 'hold', now(), 3600)`,
    [id, merchantId, status, id],
  );
  return id;
}
const statusOf = async (id: string): Promise<string> =>
  (await db.query('SELECT status FROM payment WHERE id = $1', [id]))[0].status;

it.each(paymentStatuses)('a payment may begin as %s only where a row begins so', async (status) => {
  if (firstStatuses.includes(status)) expect(await statusOf(await insert(db, status))).toBe(status);
  else await expect(insert(db, status)).rejects.toMatchObject({ code: 'CP012' });
});

const pairs = paymentStatuses.flatMap((from) => paymentStatuses.map((to) => [from, to] as const));
it.each(pairs)('%s to %s is allowed exactly where legalMoves says so', async (from, to) => {
  const id = await unguarded(db, (tx) => insert(tx, from));
  const moved = db.query('UPDATE payment SET status = $2, state_version = state_version + 1 WHERE id = $1', [id, to]);
  // The same status again is no move: other columns of the payment change.
  if (from === to || legalMoves[from].includes(to)) {
    await moved;
    expect(await statusOf(id)).toBe(to);
    return;
  }
  await expect(moved).rejects.toMatchObject({ code: finalStatuses.includes(from) ? 'CP010' : 'CP012' });
  expect(await statusOf(id)).toBe(from);
});
