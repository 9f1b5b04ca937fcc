import type { ChainAdapter, Transfer } from '../../domain/chains/chain';
import { lookAtMempool, newPoolMemory } from '../../activities/chains/mempool';
import { listening } from '../listening';
import { connectionsTo } from '../setup/postgres';
import { strangers } from '../strangers';
import type { World } from '../world';
import { median, report } from './measure';

const rounds = 9;
const addresses = 100_000;

/** What a look at a mempool full of strangers costs the database, against one with a hundredth of them; beside open
 *  payments with so many addresses. */
export async function mempool(world: World): Promise<void> {
  const db = connectionsTo(world.stack.postgres.url);
  await db.initialize();
  try {
    await db.query(
      `INSERT INTO address (network, address, role, key_index)
       SELECT 'bitcoin', 'bcrt1q' || substr(encode(sha256(n::text::bytea), 'hex'), 1, 38), 'deposit', 1000000 + n
         FROM generate_series(1, $1) n`,
      [addresses],
    );
    const { db: heard, said } = listening(db);
    const memory = newPoolMemory('bitcoin');
    const look = async (transfers: readonly Transfer[]): Promise<{ databaseMs: number; wholeMs: number }> => {
      const ids = new Set(transfers.map(({ txId }) => txId));
      const adapter: Partial<ChainAdapter> = {
        network: 'bitcoin',
        readMempool: () => Promise.resolve({ ids, read: ids, failed: new Map(), transfers }),
        pooledSince: () => Promise.resolve(new Map()),
      };
      const start = performance.now();
      await lookAtMempool(deps(heard, adapter), memory, new Date());
      const databaseMs = said.splice(0).reduce((sum, { ms }) => sum + ms, 0);
      return { databaseMs, wholeMs: performance.now() - start };
    };
    const first = await look([]);
    const few: number[] = [];
    const many: number[] = [];
    const whole: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      few.push((await look(strangers(1000, `few/${round}`))).databaseMs);
      const flood = await look(strangers(100_000, `many/${round}`));
      many.push(flood.databaseMs);
      whole.push(flood.wholeMs);
    }
    const ratio = median(many) / median(few);
    report({
      name: "database time for 100,000 strangers' transactions ÷ for 1,000",
      value: ratio,
      unit: '×',
      limit: '≤ 2',
      holds: ratio <= 2,
      detail:
        `${median(many).toFixed(1)} ms against ${median(few).toFixed(1)}, of ${median(whole).toFixed(0)} in all; ` +
        `${first.wholeMs.toFixed(0)} ms once for ${addresses.toLocaleString('en')} addresses`,
    });
  } finally {
    await db.destroy();
  }
}

type Deps = Parameters<typeof lookAtMempool>[0];
const deps = (db: Deps['db'], adapter: Partial<ChainAdapter>): Deps => ({
  db,
  adapter: adapter as ChainAdapter,
  config: {} as Deps['config'],
  log: { info: () => undefined, warn: (fields) => console.warn(fields) },
});
