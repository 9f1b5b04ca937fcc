import type { DataSource } from 'typeorm';
import { restartActivities } from '../../activities/temporal/restart';
import { parseConfig } from '../../domain/config';
import { newId, newSlug } from '../../domain/ids';
import { workflowIds } from '../../domain/workflow-ids';
import { connectionsTo, freshDatabase } from '../setup/postgres';
import { unguarded } from '../unguarded';
import { insertMerchant } from '../merchant-row';

/** The search for open payments whose workflow is lost, where many payments wait: each look costs the same. */

const merchantId = newId();
let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;

beforeAll(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
  await insertMerchant(db, merchantId);
});
beforeEach(async () => {
  await unguarded(db, (tx) => tx.query('DELETE FROM payment'));
  await db.query('DELETE FROM temporal_request');
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

/** Ids of payments of these statuses that are two minutes old, in the order of their ids. */
async function payments(...statuses: string[]): Promise<string[]> {
  const ids = statuses.map(() => newId()).sort();
  for (const [n, id] of ids.entries())
    await unguarded(db, (tx) =>
      tx.query(
        `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
           tolerance_pct, underpaid_policy, expires_at, expires_in, created_at)
         VALUES ($1, $2, $3, $4, 'api', 10, 'USD', 'merchant', 40, 1, 'hold', now() + interval '1 day', 3600,
           now() - interval '2 minutes')`,
        [id, merchantId, newSlug(), statuses[n]],
      ),
    );
  return ids;
}

/** What each of so many looks asks Temporal for; `isAlive` says what runs. */
async function looks(count: number, isAlive: (workflowId: string) => boolean): Promise<string[][]> {
  const asked: string[][] = [];
  const { reconcile } = restartActivities({
    db,
    config: parseConfig({}),
    log: { warn: () => undefined },
    waitingInOneLook: 3,
    running: (ids) => {
      asked.at(-1)!.push(...ids);
      return Promise.resolve(new Set(ids.filter(isAlive)));
    },
  });
  for (let n = 0; n < count; n += 1) {
    asked.push([]);
    await reconcile();
  }
  return asked;
}

const requested = async (): Promise<string[]> =>
  (await db.query<Array<{ id: string }>>(`SELECT workflow_id AS id FROM temporal_request ORDER BY workflow_id`)).map(
    ({ id }) => id,
  );

it('looks at some of those that wait, then at those after them, and begins anew at the end', async () => {
  const ids = (await payments('WAITING', 'AWAITING_CURRENCY', 'WAITING', 'WAITING', 'AWAITING_CURRENCY')).map(
    workflowIds.payment,
  );
  expect(await looks(3, () => true)).toEqual([ids.slice(0, 3), ids.slice(3), ids.slice(0, 3)]);
  expect(await requested()).toEqual([]);
});

it('begins anew where a look has ended exactly at the last one', async () => {
  const ids = (await payments('WAITING', 'WAITING', 'WAITING')).map(workflowIds.payment);
  expect(await looks(3, () => true)).toEqual([ids, [], ids]);
});

it('looks at every payment with money each time', async () => {
  const statuses = ['CONFIRMING', 'CONFIRMED', 'SWEEP_QUEUED', 'PARTIALLY_PAID', 'CROSS_CHAIN_PENDING'];
  const ids = (await payments(...statuses)).map(workflowIds.payment);
  expect(await looks(2, () => true)).toEqual([ids, ids]);
});

it('asks again for each that is lost, once, and for none that runs or has ended', async () => {
  const waiting = (await payments('WAITING', 'WAITING', 'WAITING', 'WAITING')).map(workflowIds.payment);
  const withMoney = (await payments('CONFIRMING', 'CONFIRMED')).map(workflowIds.payment);
  await payments('EXPIRED', 'CANCELLED', 'FAILED', 'SETTLED');
  const lost = [waiting[1]!, waiting[3]!, withMoney[1]!];
  await looks(2, (id) => !lost.includes(id));
  expect(await requested()).toEqual([...lost].sort());
  await looks(2, (id) => !lost.includes(id));
  expect(await requested()).toEqual([...lost].sort());
});

it('looks at ten times as many after a look that has found one that was lost', async () => {
  const ids = (await payments(...Array<string>(40).fill('WAITING'))).map(workflowIds.payment);
  expect(await looks(4, (id) => id !== ids[4])).toEqual([
    ids.slice(0, 3),
    ids.slice(3, 6),
    ids.slice(6, 36),
    ids.slice(36, 39),
  ]);
});
