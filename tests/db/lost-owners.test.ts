import type { DataSource } from 'typeorm';
import { createDataSource } from '../../db/data-source';
import { migrate } from '../../db/migrate';
import { LostOwners1799000910000 } from '../../db/migrations/1799000910000-lost-owners';
import { emptyDatabase, type Database } from '../setup/postgres';

/** The owner of a lost intent, as the migration finds it and as the database keeps it. */

let database: Database;
let db: DataSource;
beforeAll(async () => {
  database = await emptyDatabase();
  await migrate(database.url);
  db = await createDataSource(database.url, { pool: 2, name: 'test' }).initialize();
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const add = (kind: string, ref: string, more: Readonly<Record<string, string>>): Promise<unknown> => {
  const row = {
    ...{ kind, ref, network: 'ethereum', currency: 'ETH', from_address: '0x01', outputs: '[]', status: 'sent' },
    ...{ max_unit_price: '1', fee_budget: '1' },
    ...more,
  };
  const names = Object.keys(row);
  return db.query(
    `INSERT INTO intent (${names.join(', ')}) VALUES (${names.map((_, n) => `$${n + 1}`).join(', ')})`,
    Object.values(row),
  );
};
const aLost = { owner_kind: 'lost', owner_id: 'refund/r1', lost: '{}' };

it('fills what was lost before, by the one text that it had', async () => {
  const migration = new LostOwners1799000910000();
  const runner = db.createQueryRunner();
  await migration.down(runner);
  await add('lost', 'refund/r1', aLost);
  await add('lost', 'consolidate/a/b', { ...aLost, owner_id: 'consolidate/a/b' });
  await add('refund', 'r2', { owner_kind: 'refund', owner_id: 'r2' });
  await migration.up(runner);
  await runner.release();
  expect(await db.query('SELECT ref, lost_owner_kind, lost_owner_id, owner_id FROM intent ORDER BY id')).toEqual([
    { ref: 'refund/r1', lost_owner_kind: 'refund', lost_owner_id: 'r1', owner_id: 'refund/r1' },
    { ref: 'consolidate/a/b', lost_owner_kind: 'consolidate', lost_owner_id: 'a/b', owner_id: 'consolidate/a/b' },
    { ref: 'r2', lost_owner_kind: null, lost_owner_id: null, owner_id: 'r2' },
  ]);
});

it('takes a lost intent with an owner of a known kind alone, and such an owner of no other', async () => {
  const owner = (kind: string) => ({ lost_owner_kind: kind, lost_owner_id: 'r3' });
  await add('lost', 'refund/r3', { ...aLost, ...owner('refund') });
  const wrong: Array<Record<string, string>> = [{}, { lost_owner_kind: 'refund' }, { lost_owner_id: 'r3' }];
  for (const more of [...wrong, owner('payment'), owner('lost')])
    await expect(add('lost', 'refund/r4', { ...aLost, ...more })).rejects.toThrow('intent_lost_owner');
  await expect(add('refund', 'r5', { owner_kind: 'refund', owner_id: 'r5', ...owner('refund') })).rejects.toThrow(
    'intent_lost_owner',
  );
});
