import { checkEvmNode } from '../../chains/evm/node-check';
import { RpcError, type Rpc } from '../../chains/json-rpc';
import { checkUtxoNode } from '../../chains/utxo/node-check';
import { networks, type EvmNetwork, type UtxoNetwork } from '../../domain/chains/assets';

/** What is said of nodes that no part of the tests can be: pruned, without an index, without traces. */

const bitcoin = networks.bitcoin as UtxoNetwork;
const ethereum = networks.ethereum as EvmNetwork;
type Answers = Readonly<Record<string, unknown>>;

/** A node that answers as it is told; `Error` as an answer is a refusal. */
const node =
  (answers: Answers): Rpc =>
  <T>(method: string): Promise<T> => {
    const answer = answers[method];
    if (answer instanceof Error) return Promise.reject(new RpcError(-32601, answer.message, method));
    return Promise.resolve(answer as T);
  };
const ofBitcoin = {
  getblockchaininfo: { chain: 'main', blocks: 900_000, pruned: false },
  getblockhash: '00'.repeat(32),
  getblock: { tx: ['ab'.repeat(32)] },
  getrawtransaction: '01',
};

it('takes Bitcoin Core on its main chain with an index of transactions', async () => {
  const found = await checkUtxoNode(bitcoin, 'mainnet', node(ofBitcoin));
  expect(found.map(({ state }) => state)).toEqual(['good', 'good']);
});

it('tells a pruned node, and one without an index of transactions', async () => {
  const pruned = await checkUtxoNode(
    bitcoin,
    'mainnet',
    node({ ...ofBitcoin, getblockchaininfo: { chain: 'main', blocks: 900_000, pruned: true } }),
  );
  expect(pruned[1]).toMatchObject({ state: 'fault', what: 'The node throws old blocks away (prune)' });
  const bare = await checkUtxoNode(
    bitcoin,
    'mainnet',
    node({ ...ofBitcoin, getrawtransaction: new Error('No such mempool transaction. Use -txindex') }),
  );
  expect(bare[1]).toMatchObject({
    state: 'fault',
    what: expect.stringContaining('Use -txindex'),
    fix: expect.stringContaining('txindex=1'),
  });
});

it('asks a new chain for no transaction, because it has none', async () => {
  const found = await checkUtxoNode(
    bitcoin,
    'regtest',
    node({ ...ofBitcoin, getblockchaininfo: { chain: 'regtest', blocks: 0 }, getblock: new Error('no block') }),
  );
  expect(found).toMatchObject([{ state: 'good' }]);
});

it('warns where blocks are not traced, and where tokens are swept one by one', async () => {
  const answers = {
    eth_chainId: '0x1',
    eth_getBlockByNumber: { number: '0x10', hash: '0xab' },
    debug_traceBlockByHash: new Error('the method debug_traceBlockByHash does not exist'),
  };
  const found = await checkEvmNode(ethereum, { chainId: 1, assets: new Map() }, node(answers));
  expect(found.map(({ state, what }) => [state, what.split(':')[0]])).toEqual([
    ['good', 'The node is on chain 1, block 16'],
    ['warning', 'It does not trace blocks'],
    ['good', 'It knows which blocks are final'],
    ['warning', 'No sweeper contract is set'],
  ]);
});
