import { reorgEthereum } from '../../sandbox/chain-tools';
import { call } from '../../sandbox/parts/json-rpc';
import { listening, type Statement } from '../listening';
import { FollowedChain, depth } from './followed-chain';

/** Blocks that do not concern us cost the database next to nothing, however fast a chain makes them. */

let chain: FollowedChain;
beforeAll(async () => {
  chain = await FollowedChain.start();
});
afterAll(() => chain?.stop());

const heightNow = async (): Promise<number> =>
  (await chain.db.query<Array<{ height: number }>>('SELECT height::int AS height FROM chain_cursor'))[0]!.height;
const rowsAbove = async (height: number): Promise<number> =>
  (await chain.db.query<unknown[]>('SELECT FROM chain_block WHERE height > $1', [height])).length;

it('cost as many statements, a thousand or ten', async () => {
  const { db, said } = listening(chain.db);
  chain.restart({ db });
  const costOf = async (blocks: number) => {
    await chain.mine(blocks);
    const before = await heightNow();
    said.length = 0;
    await chain.look();
    expect(await heightNow()).toBe(before + blocks);
    return { said: [...said] as readonly Statement[], rows: await rowsAbove(before) };
  };
  await costOf(1);
  const few = await costOf(10);
  const many = await costOf(1000);
  expect(many.said.length).toBeLessThanOrEqual(2 * few.said.length);
  expect(few.rows).toBe(10);
  expect(many.rows).toBeLessThanOrEqual(40);
  const most = ({ said: all }: { said: readonly Statement[] }, of: (one: Statement) => number): number =>
    Math.max(...all.map(of));
  expect(most(many, ({ rows }) => rows)).toBeLessThanOrEqual(most(few, ({ rows }) => rows));
  expect(most(many, ({ sent }) => sent)).toBeLessThanOrEqual(5 * most(few, ({ sent }) => sent));
});

it('hide no payment among them, and none is lost or counted twice by a reorganisation', async () => {
  const invoices = [await chain.invoice(), await chain.invoice()];
  const mined: number[] = [];
  for (const [n, invoice] of invoices.entries()) {
    await chain.mine(100);
    if (n === 0) await chain.payer.pay('ETH', invoice.address, '1');
    else await chain.payer.payThroughContract(invoice.address, '1');
    await chain.mine();
    mined.push(parseInt(await call<string>(chain.node.url, 'eth_blockNumber', []), 16));
  }
  await chain.mine(45); // more than the reorganisation takes, and fewer than anvil keeps the states of
  await chain.look();
  for (const [n, invoice] of invoices.entries()) {
    expect(await chain.deposits(invoice)).toEqual([
      { status: 'confirmed', amount: '1', foundBy: 'transfer', height: mined[n] },
    ]);
    expect(await chain.advance(invoice)).toMatchObject({ status: 'CONFIRMED', amountPaid: 1 });
  }
  await reorgEthereum(chain.node.url, 40);
  await chain.mine(depth);
  await chain.look();
  for (const invoice of invoices) {
    expect(await chain.deposits(invoice)).toMatchObject([{ status: 'confirmed', amount: '1' }]);
    expect(await chain.advance(invoice)).toMatchObject({ status: 'CONFIRMED' });
  }
});
