import { createAdapter } from '../../chains/adapters';
import { startAnvil } from '../../sandbox/parts/anvil';
import { mineEthereum } from '../../sandbox/chain-tools';
import { call } from '../../sandbox/parts/json-rpc';
import { freePort } from '../../sandbox/ports';
import { RpcProxy } from '../faults/rpc-proxy';
import { depth, FollowedChain, type Invoice } from './followed-chain';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A node that answers and stands still knows nothing of now. */

let chain: FollowedChain;
beforeAll(async () => {
  chain = await FollowedChain.start({ chainId: 1 });
});
afterAll(() => chain?.stop());
afterEach(async () => {
  chain.proxy.heal();
  await chain.db.query('DELETE FROM incident');
});

type Answer = { result?: unknown };
const answering = (result: unknown) => ({
  kind: 'rewrite' as const,
  answer: (body: unknown) => ({ ...(body as object), result, error: undefined }),
});
/** Every header is this much older than it is. */
const aged = (seconds: number) => ({
  kind: 'rewrite' as const,
  answer: (body: unknown): unknown => {
    const block = (body as Answer).result as { timestamp: string } | null;
    if (block) block.timestamp = `0x${(parseInt(block.timestamp, 16) - seconds).toString(16)}`;
    return body;
  },
});

const expire = ({ id }: Invoice): Promise<unknown> =>
  chain.db.query(
    'UPDATE payment SET expires_at = clock_timestamp(), quote_expires_at = clock_timestamp() WHERE id = $1',
    [id],
  );
const scannedThrough = async (): Promise<Date> =>
  (await chain.db.query('SELECT scanned_through AS at FROM chain_cursor'))[0].at;
const isDelayed = async ({ slug }: Invoice): Promise<boolean> =>
  (await chain.h.call('GET', `/getInvoiceStatus?invoiceId=${slug}`)).body.networkDelayed;
async function upToDate(): Promise<void> {
  chain.proxy.heal();
  await new Promise((resolve) => setTimeout(resolve, 2100));
  await chain.mine();
  await chain.look();
}

describe('B5: a node', () => {
  it.each([
    ['of which the head is old', ['eth_getBlockByNumber'], aged(7200)],
    ['without peers', ['net_peerCount'], answering('0x0')],
    ['that has headers ahead of its blocks', ['eth_syncing'], answering({ currentBlock: '0x1', highestBlock: '0x40' })],
  ] as const)('%s expires nothing, which is an incident until it is fresh', async (_what, methods, fault) => {
    await upToDate();
    const before = await scannedThrough();
    const invoice = await chain.invoice();
    await expire(invoice);
    chain.proxy.arm(fault, methods);
    await chain.look();
    expect(await scannedThrough()).toEqual(before);
    expect(await chain.advance(invoice)).toMatchObject({ status: 'WAITING' });
    expect(await chain.incidents()).toMatchObject([{ kind: 'node-stale', resolved_at: null }]);
    expect(await isDelayed(invoice)).toBe(true);

    await upToDate();
    expect(await chain.incidents()).toMatchObject([{ kind: 'node-stale', resolved_at: expect.any(Date) as Date }]);
    expect(await isDelayed(invoice)).toBe(false);
    expect(await chain.advance(invoice)).toMatchObject({ status: 'EXPIRED' });
  });

  it('that shows no mempool has scanned through the time of its head, and no further', async () => {
    await upToDate();
    const invoice = await chain.invoice();
    await expire(invoice);
    chain.proxy.arm(aged(60), ['eth_getBlockByNumber']);
    await chain.look();
    expect(await chain.incidents()).toEqual([]);
    expect(await chain.advance(invoice)).toMatchObject({ status: 'WAITING' });
    await upToDate();
    expect(await chain.advance(invoice)).toMatchObject({ status: 'EXPIRED' });
    const [head] = await chain.db.query(`SELECT block_time AS at FROM chain_block ORDER BY height DESC LIMIT 1`);
    expect(await scannedThrough()).toEqual(head.at);
  });

  it('that has lost its last blocks takes nothing back, and is an incident once they are many', async () => {
    await upToDate();
    const invoice = await chain.invoice();
    const snapshot = await call<string>(chain.node.url, 'evm_snapshot', []);
    await chain.payer.pay('ETH', invoice.address, invoice.amount);
    await chain.mine(depth);
    await chain.look();
    expect(await chain.advance(invoice)).toMatchObject({ status: 'CONFIRMED' });
    const found = await chain.deposits(invoice);
    const before = await scannedThrough();
    const state = await call<string>(chain.node.url, 'anvil_dumpState', [true]);
    await call(chain.node.url, 'evm_revert', [snapshot]);

    await chain.look();
    expect(await chain.deposits(invoice)).toEqual(found);
    expect(await chain.incidents()).toEqual([]);
    expect(await scannedThrough()).toEqual(before);
    await chain.db.query('UPDATE chain_cursor SET height = height + 15');
    await chain.look();
    expect(await chain.deposits(invoice)).toEqual(found);
    expect(await chain.incidents()).toMatchObject([
      {
        kind: 'node-stale',
        resolved_at: null,
        details: { reason: expect.stringMatching(/^The node is at block \d+, and was at \d+ before/) },
      },
    ]);
    expect(await scannedThrough()).toEqual(before);

    await chain.db.query('UPDATE chain_cursor SET height = height - 15');
    await call(chain.node.url, 'anvil_loadState', [state]);
    await upToDate();
    expect(await chain.deposits(invoice)).toEqual(found);
    expect(await chain.incidents()).toMatchObject([{ resolved_at: expect.any(Date) as Date }]);
  });

  it('of another chain is an incident, and nothing of ours is taken back', async () => {
    await upToDate();
    const invoice = await chain.invoice();
    await chain.payer.pay('ETH', invoice.address, invoice.amount);
    await chain.mine();
    await chain.look();
    const found = await chain.deposits(invoice);
    expect(found).toMatchObject([{ status: 'mined' }]);
    const swap = `translate(hash, 'abcdef', 'bcdefa')`;
    const back = `translate(hash, 'bcdefa', 'abcdef')`;
    const rename = async (to: string): Promise<void> => {
      await chain.db.query(`UPDATE chain_cursor SET hash = ${to}`);
      await chain.db.query(`UPDATE chain_block SET hash = ${to}`);
    };
    await rename(swap);
    await chain.look();
    expect(await chain.deposits(invoice)).toEqual(found);
    expect(await chain.incidents()).toMatchObject([
      { kind: 'node-stale', resolved_at: null, details: { reason: expect.stringContaining('none of the') } },
    ]);
    expect(await isDelayed(invoice)).toBe(true);
    await rename(back);
    await upToDate();
    expect(await chain.incidents()).toMatchObject([{ resolved_at: expect.any(Date) as Date }]);
  });

  it('of a local chain has blocks when somebody makes one: no check is on', async () => {
    const local = await FollowedChain.start();
    try {
      const invoice = await local.invoice();
      await local.db.query(`UPDATE payment SET expires_at = now() - interval '1 second' WHERE id = $1`, [invoice.id]);
      local.proxy.arm(answering('0x0'), ['net_peerCount']);
      local.proxy.arm(aged(7200), ['eth_getBlockByNumber']);
      await local.look();
      expect(await local.incidents()).toEqual([]);
      expect(await local.advance(invoice)).toMatchObject({ status: 'EXPIRED' });
    } finally {
      await local.stop();
    }
  });
});

describe('B5: two nodes of a network', () => {
  let dataDir: string;
  let other: Awaited<ReturnType<typeof startAnvil>>;
  let second: RpcProxy;
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-second-'));
    other = await startAnvil({ dataDir, port: await freePort(), chainId: 1 });
    second = await RpcProxy.before(chain.node.url);
  });
  afterAll(async () => {
    await second?.close();
    await other?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const with2 = (url: string): void =>
    chain.restart({ second: createAdapter('ethereum', { ...chain.config, ETH_RPC_URL: url }) });
  const open = async (): Promise<unknown[]> =>
    (await chain.incidents()).filter((one) => one.resolved_at === null).map((one) => one.kind);

  it('that agree say nothing, and one that does not answer stops nothing', async () => {
    with2(second.url);
    await upToDate();
    expect(await open()).toEqual([]);
    second.arm({ kind: 'dropBefore' });
    const before = await scannedThrough();
    await upToDate();
    second.heal();
    expect(await open()).toEqual([]);
    expect((await scannedThrough()).getTime()).toBeGreaterThan(before.getTime());
  });

  it('that have different blocks at a depth both have are an incident, and nothing expires', async () => {
    await mineEthereum(other.url, 40);
    await chain.mine(40);
    with2(other.url);
    const before = await scannedThrough();
    await chain.look();
    expect(await open()).toContain('nodes-disagree');
    expect(await scannedThrough()).toEqual(before);
    with2(second.url);
    await upToDate();
    expect(await open()).toEqual([]);
  });

  it('whose heads are too far apart are an incident; nothing expires where ours is behind', async () => {
    const at = async (ours: RpcProxy, blocks: number): Promise<void> => {
      const { number } = await head();
      const block = await header(number - blocks);
      ours.arm(answering(block), ['eth_getBlockByNumber'], 1);
    };
    const rpc = (method: string, params: unknown[]): Promise<{ number: string }> =>
      fetch(chain.node.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      }).then(async (response) => ((await response.json()) as { result: { number: string } }).result);
    const header = (height: number): Promise<{ number: string }> =>
      rpc('eth_getBlockByNumber', [`0x${height.toString(16)}`, false]);
    const head = async (): Promise<{ number: number }> => ({
      number: parseInt((await rpc('eth_getBlockByNumber', ['latest', false])).number, 16),
    });

    with2(second.url);
    await upToDate();
    // The other is behind: ours goes on.
    await at(second, 30);
    const before = await scannedThrough();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await chain.mine();
    await chain.look();
    expect(await open()).toEqual(['nodes-disagree']);
    expect((await scannedThrough()).getTime()).toBeGreaterThan(before.getTime());
    await upToDate();
    expect(await open()).toEqual([]);
    // Ours is behind.
    const last = await scannedThrough();
    await at(chain.proxy, 30);
    await chain.look();
    expect(await open()).toContain('nodes-disagree');
    expect(await scannedThrough()).toEqual(last);
  });
});
