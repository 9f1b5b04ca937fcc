import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { endIntent, type IntentRow } from '../../db/txmanager/intents';
import { connectionsTo, freshDatabase } from '../setup/postgres';

/** An intent ends once: what is in a block or final stays, whoever ends it and whatever they believe of it. */

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
beforeAll(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

const open = ['planned', 'stored', 'sent'] as const;
const statuses: ReadonlyArray<IntentRow['status']> = [...open, 'mined', 'final', 'failed', 'dead'];

let last = 0;
async function anIntent(status: IntentRow['status']): Promise<string> {
  const [row] = await db.query<Array<{ id: string }>>(
    `INSERT INTO intent (kind, ref, network, currency, from_address, outputs, max_unit_price, fee_budget, status,
       owner_kind, owner_id)
     VALUES ('withdrawal', $1, 'ethereum', 'ETH', '0x1', '[]', 1, 1, $2, 'withdrawal', $1) RETURNING id`,
    [`w${(last += 1)}`, status],
  );
  return row!.id;
}
const statusOf = async (id: string): Promise<string> =>
  (await db.query<Array<{ status: string }>>('SELECT status FROM intent WHERE id = $1', [id]))[0]!.status;

it('ends what has one of the statuses asked for, and nothing that is in a block, final or over', () =>
  fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...statuses),
      fc.option(fc.subarray([...open]), { nil: undefined }),
      async (status, from) => {
        const id = await anIntent(status);
        const isEnded = await db.transaction((tx) => endIntent(tx, id, from));
        expect(isEnded).toBe((from ?? open).some((one) => one === status));
        expect(await statusOf(id)).toBe(isEnded ? 'dead' : status);
      },
    ),
    { numRuns: 60 },
  ));

it('ends it once, of two at the same time', async () => {
  const id = await anIntent('sent');
  const ended = await Promise.all([1, 2].map(() => db.transaction((tx) => endIntent(tx, id))));
  expect(ended.toSorted()).toEqual([false, true]);
});
