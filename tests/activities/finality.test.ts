import { mature } from '../../activities/chains/mature';
import { createAdapter } from '../../chains/adapters';
import { reconcileAssets } from '../../db/audit/reconciliation';
import { rewind } from '../../db/chains/rewind';
import { RpcProxy } from '../faults/rpc-proxy';
import {
  adapter,
  config,
  db,
  endShop,
  follow,
  freshShop,
  mine,
  rpc,
  sent,
  startChain,
  stopChain,
  withdrawal,
} from './laned-chain';

/** A transaction of ours is done where it is deep enough, and where the network itself calls its block final. */

let proxy: RpcProxy;
beforeAll(async () => {
  await startChain();
  proxy = await RpcProxy.before(config.ETH_RPC_URL);
}, 120_000);
afterAll(async () => {
  await proxy?.close();
  await stopChain();
});
beforeEach(freshShop);
afterEach(async () => {
  proxy.heal();
  await endShop();
});

type Asked = { params: unknown[] };
/** The node says this of its newest final block. */
const finalIs = (answer: object): unknown =>
  proxy.arm(
    { kind: 'rewrite', answer: (body, asked) => ((asked as Asked).params[0] === 'finalized' ? answer : body) },
    ['eth_getBlockByNumber'],
  );
const blockAt = (height: number) => ({ jsonrpc: '2.0', id: 1, result: { number: `0x${height.toString(16)}` } });

/** A withdrawal in a block, as the follower has found it; the block's height. */
async function mined(): Promise<{ intentId: string; height: number }> {
  const { intentId } = await sent(await withdrawal('5'));
  await mine(1);
  const [{ tx_id }] = await db.query('SELECT tx_id FROM attempt WHERE intent_id = $1', [intentId]);
  const receipt = await rpc<{ blockHash: string; blockNumber: string }>('eth_getTransactionReceipt', [tx_id]);
  const height = parseInt(receipt.blockNumber, 16);
  await db.query(`UPDATE attempt SET status = 'mined', height = $2, block_hash = $3 WHERE intent_id = $1`, [
    intentId,
    height,
    receipt.blockHash,
  ]);
  return { intentId, height };
}
/** What the follower says after a look at a head of the chain. */
async function look(intentId: string): Promise<string> {
  await follow();
  const behind = createAdapter('ethereum', { ...config, ETH_RPC_URL: proxy.url });
  const log = { info: () => undefined, warn: () => undefined };
  const { height, hash } = await adapter.head();
  await mature({ db, adapter: behind, config, log }, { height, hash }, () => undefined);
  const [{ status }] = await db.query('SELECT status FROM attempt WHERE intent_id = $1', [intentId]);
  return status;
}

it('waits for depth, and then for finality', async () => {
  const { intentId, height } = await mined();
  finalIs(blockAt(height));
  expect(await look(intentId)).toBe('mined');
  proxy.heal();
  await mine(20);
  finalIs(blockAt(height - 1));
  expect(await look(intentId)).toBe('mined');
  proxy.heal();
  finalIs(blockAt(height));
  expect(await look(intentId)).toBe('final');
});

it('tells what it took while only finality is missing, and forgets it with its block', async () => {
  const outcome = async (intentId: string) => {
    const [row] = await db.query('SELECT status, success, fee_units AS fee FROM attempt WHERE intent_id = $1', [
      intentId,
    ]);
    return row as { status: string; success: boolean | null; fee: string | null };
  };
  const { intentId, height } = await mined();
  const ofMined = { status: 'mined', success: null, fee: null };
  finalIs(blockAt(height - 1));
  await look(intentId);
  expect(await outcome(intentId)).toEqual(ofMined);
  proxy.heal();
  await mine(20);
  finalIs(blockAt(height - 1));
  await look(intentId);
  const [{ tx_id }] = await db.query('SELECT tx_id FROM attempt WHERE intent_id = $1', [intentId]);
  const receipt = await rpc<{ gasUsed: string; effectiveGasPrice: string }>('eth_getTransactionReceipt', [tx_id]);
  const fee = (BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)).toString();
  expect(await outcome(intentId)).toEqual({ status: 'mined', success: true, fee });
  // That nothing is final does not keep books and chain from being compared.
  expect((await reconcileAssets(db, [adapter], () => 12)).unknown).toEqual([]);
  const [cursor] = await db.query(`SELECT height::int, hash FROM chain_cursor WHERE network = 'ethereum'`);
  await db.transaction((tx) => rewind(tx, 'ethereum', cursor, { height: height - 1, hash: 'before' }));
  expect(await outcome(intentId)).toEqual({ status: 'sent', success: null, fee: null });
});

it.each([
  ['knows of no final block', { jsonrpc: '2.0', id: 1, result: null }],
  ['does not know the word', { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'invalid argument 0' } }],
])('is nothing where the node %s', async (_, answer) => {
  const { intentId } = await mined();
  await mine(20);
  finalIs(answer);
  expect(await look(intentId)).toBe('mined');
  proxy.heal();
  expect(await look(intentId)).toBe('final');
});
