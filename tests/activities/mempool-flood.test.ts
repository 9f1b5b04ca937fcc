import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DataSource } from 'typeorm';
import { lookAtMempool, newPoolMemory, type PoolMemory } from '../../activities/chains/mempool';
import { Sieve } from '../../activities/chains/sieve';
import type { ChainAdapter, PoolLook, Transfer } from '../../domain/chains/chain';
import { utxoAdapter } from '../../chains/utxo/node';
import { networks, type UtxoNetwork } from '../../domain/chains/assets';
import { connectionsTo, freshDatabase } from '../setup/postgres';
import { listening, type Statement } from '../listening';
import { strangers } from '../strangers';

/** A mempool of Bitcoin that is nearly all strangers'. The node is played: it says what the test lets it say. */

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
beforeAll(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
  await db.query(
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
     VALUES ('bitcoin', 10, 'h10', 10, now())`,
  );
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

let made = 0;
async function address(): Promise<string> {
  made += 1;
  const text = `bcrt1qours${made}`;
  await db.query(`INSERT INTO address (network, address, role, key_index) VALUES ('bitcoin', $1, 'treasury', $2)`, [
    text,
    made,
  ]);
  return text;
}
const paying = (txId: string, to: string, inputs = [`in-${txId}:0`]): Transfer => ({
  txId,
  index: 0,
  to,
  currency: 'BTC',
  units: 100_000n,
  inputs,
});

const warnings: object[] = [];
/** A follower before a node with this pool. */
function follower(over: Partial<ChainAdapter>, on: DataSource = db) {
  const adapter = { network: 'bitcoin', pooledSince: async () => new Map(), ...over } as Partial<ChainAdapter>;
  const log = { info: () => undefined, warn: (fields: object) => void warnings.push(fields) };
  const deps = { db: on, adapter, log, config: {} } as unknown as Parameters<typeof lookAtMempool>[0];
  return (memory: PoolMemory, at = new Date()) => lookAtMempool(deps, memory, at);
}
/** All of it is read at once. */
const poolOf = (transfers: readonly Transfer[]): Pick<ChainAdapter, 'readMempool'> => ({
  readMempool: (known): Promise<PoolLook> => {
    const ids = new Set(transfers.map(({ txId }) => txId));
    const read = new Set([...ids].filter((id) => !known.has(id)));
    const found = transfers.filter(({ txId }) => read.has(txId));
    return Promise.resolve({ ids, read, failed: new Map(), transfers: found });
  },
});
const stored = async (txId: string): Promise<string | undefined> =>
  (await db.query<Array<{ status: string }>>('SELECT status FROM deposit WHERE tx_id = $1', [txId]))[0]?.status;

describe('B6: a mempool of strangers', () => {
  const look = async (transfers: readonly Transfer[]): Promise<readonly Statement[]> => {
    const { db: heard, said } = listening(db);
    await follower(poolOf(transfers), heard)(newPoolMemory('bitcoin'));
    return said;
  };

  it('costs the database the same, however many they are', async () => {
    await address();
    const few = await look(strangers(20, 'few'));
    const many = await look(strangers(5000, 'many'));
    expect(many.map(({ sql }) => sql)).toEqual(few.map(({ sql }) => sql));
    expect(many.length).toBeLessThanOrEqual(5);
    const sizeOf = (said: readonly Statement[]) => said.map(({ sent, rows }) => ({ sent, rows }));
    expect(sizeOf(many)).toEqual(sizeOf(few));
  });

  it('hides nothing that pays us, takes the coins of what paid us, or spends a coin of ours', async () => {
    const [early, late] = [await address(), await address()];
    const memory = newPoolMemory('bitcoin');
    await follower(poolOf([paying('flood-old', early, ['flood:0'])]))(memory);
    expect(await stored('flood-old')).toBe('pool');
    const isNew = await address();
    const flood = strangers(3000, 'hiding');
    const theirs = { ...paying('flood-theirs', 'bcrt1qtheirs', ['flood:0']), index: 1 };
    flood.splice(4000, 0, paying('flood-late', late), paying('flood-new', isNew), theirs);
    await follower(poolOf(flood))(memory);
    expect(await stored('flood-late')).toBe('pool');
    expect(await stored('flood-new')).toBe('pool');
    expect(await stored('flood-old')).toBe('replaced');
    expect(await stored(flood[0]!.txId)).toBeUndefined();
    // By a follower that has just started, too.
    await follower(poolOf([...flood, paying('flood-thief', 'bcrt1qtheirs', ['flood-late:0'])]))(
      newPoolMemory('bitcoin'),
    );
    expect(await db.query(`SELECT details->>'spender' AS by FROM incident`)).toEqual([{ by: 'flood-thief' }]);
  });

  it('passes a sieve that lets through next to nothing that was never put in', () => {
    const sieve = new Sieve(10_000);
    for (let n = 0; n < 10_000; n += 1) sieve.put(`in/${n}`);
    expect(Array.from({ length: 10_000 }, (_, n) => sieve.mayHave(`in/${n}`)).every(Boolean)).toBe(true);
    const wrong = Array.from({ length: 100_000 }, (_, n) => sieve.mayHave(`out/${n}`)).filter(Boolean).length;
    expect(wrong).toBeLessThan(20);
  });
});

describe('B6: a transaction that cannot be read', () => {
  it('is read again alone, and holds up the others not at all and the scanning only for a while', async () => {
    const to = await address();
    const asked: string[] = [];
    const ids = ['good-1', 'bad', 'good-2'];
    let fails = true;
    const read = follower({
      readMempool: (known) => {
        const left = ids.filter((id) => !known.has(id));
        asked.push(...left);
        const ok = left.filter((id) => id !== 'bad' || !fails);
        return Promise.resolve({
          ids: new Set(ids),
          read: new Set(ok),
          failed: new Map(left.filter((id) => !ok.includes(id)).map((id) => [id, 'cut off'])),
          transfers: ok.map((id) => paying(id, to)),
        });
      },
    });
    const memory = newPoolMemory('bitcoin');
    const now = jest.spyOn(Date, 'now');
    try {
      const start = new Date('2030-01-01').getTime();
      let at = start;
      now.mockImplementation(() => at);
      for (; at < start + 120_000 && memory.readAt === null; at += 500) await read(memory, new Date(at));
      expect(await stored('good-1')).toBe('pool');
      expect(await stored('good-2')).toBe('pool');
      expect(asked.filter((id) => id.startsWith('good'))).toEqual(['good-1', 'good-2']);
      expect(asked.filter((id) => id === 'bad')).toHaveLength(5);
      expect(warnings).toMatchObject([{ txId: 'bad', reason: 'cut off' }]);
      fails = false;
      for (const end = at + 120_000; at < end && !(await stored('bad')); at += 5000) await read(memory, new Date(at));
      expect(await stored('bad')).toBe('pool');
    } finally {
      now.mockRestore();
    }
  });

  it('fails by itself at the node, and reading ends in time', async () => {
    const ids = strangers(200, 'node').flatMap(({ txId, index }) => (index === 0 ? [txId] : []));
    let slowMs = 0;
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: string[] };
        const tx = { txid: params[0], vin: [], vout: [{ value: 0.1, n: 0, scriptPubKey: { hex: '51' } }] };
        const isBad = params[0] === ids[7];
        const answer =
          method === 'getrawmempool'
            ? { result: ids }
            : isBad
              ? { error: { code: -1, message: 'no' } }
              : { result: tx };
        setTimeout(() => response.end(JSON.stringify({ id, ...answer })), slowMs);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const login = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
      const network = networks.bitcoin as UtxoNetwork;
      const node = utxoAdapter(network, { login, chain: network.chains.regtest! });
      const whole = await node.readMempool(new Set());
      expect([...whole.failed.keys()]).toEqual([ids[7]]);
      expect(whole.read.size).toBe(199);
      slowMs = 20;
      const part = await node.readMempool(new Set(), 60);
      expect(part.ids.size).toBe(200);
      expect(part.read.size).toBeGreaterThan(0);
      expect(part.read.size).toBeLessThan(100);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
