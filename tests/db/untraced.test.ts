import type { DataSource } from 'typeorm';
import type { Block, Traces } from '../../domain/chains/chain';
import { startCursor } from '../../db/chains/cursor';
import { advanceScan, nextOfScan, noteTraces } from '../../db/chains/untraced';
import { connectionsTo, freshDatabase } from '../setup/postgres';

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
beforeAll(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
  await startCursor(db.manager, 'ethereum', { height: 10, hash: 'h10' });
  for (const [index, address] of ['0xa', '0xb'].entries())
    await db.query(
      `INSERT INTO address (network, address, role, key_index, currency)
       VALUES ('ethereum', $1, 'deposit', $2, 'ETH')`,
      [address, index],
    );
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

function note(height: number, traces: Traces): Promise<void> {
  const block: Block = {
    height,
    hash: `h${height}`,
    parentHash: `h${height - 1}`,
    time: 1_700_000_000,
    transfers: [],
    txIds: [],
    spent: new Map(),
    traces,
  };
  return db.transaction((tx) => noteTraces(tx, 'ethereum', block));
}
const next = async (height: number): Promise<string[]> => (await nextOfScan(db, 'ethereum', height, 1))!.addresses;
const looked = (addresses: string[]): Promise<void> => db.transaction((tx) => advanceScan(tx, 'ethereum', addresses));

describe('B3: the scan by balance', () => {
  it('begins again where traces come back: it has passed addresses before blocks without traces', async () => {
    await note(11, { state: 'failed', reason: 'no state' });
    await db.query('UPDATE untraced_block SET tries = 3');
    expect(await next(11)).toEqual(['0xa']);
    await looked(['0xa']);
    expect(await next(11)).toEqual(['0xb']);
    await note(12, { state: 'off', reason: 'no such method' });
    await note(13, { state: 'read' });
    expect(await next(13)).toEqual(['0xa']);
    await looked(['0xa']);
    await looked(['0xb']);
    expect(await next(13)).toEqual([]);
    await looked([]);
    expect(await nextOfScan(db, 'ethereum', 13, 1)).toBeNull();
    expect(await db.query('SELECT kind FROM incident WHERE resolved_at IS NULL')).toEqual([]);
  });

  it('lets blocks go that it has covered, a day after they came', async () => {
    await note(14, { state: 'failed', reason: 'no state' });
    await db.query(`UPDATE untraced_block SET created_at = now() - interval '25 hours' WHERE height = 11`);
    await db.query('UPDATE untraced_block SET tries = 3 WHERE height = 14');
    expect(await next(14)).toEqual(['0xa']);
    await looked([]);
    expect(await db.query('SELECT height::int FROM untraced_block')).toEqual([{ height: 14 }]);
  });
});
