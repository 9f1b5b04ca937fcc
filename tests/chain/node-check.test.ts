import { checkEvmNode } from '../../chains/evm/node-check';
import { RpcError, type Rpc } from '../../chains/json-rpc';
import { sweeperOf } from '../../chains/evm/sweeper';
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

describe('A5: the sweeper contract', () => {
  const gasWallet = `0x${'11'.repeat(20)}`;
  const operatorIs = (answer: unknown) => ({
    eth_chainId: '0x1',
    eth_getBlockByNumber: { number: '0x10', hash: '0xab' },
    debug_traceBlockByHash: [],
    eth_getCode: '0x60',
    eth_call: answer,
  });
  const found = async (sweeper: string, answer: unknown) =>
    (await checkEvmNode(ethereum, { chainId: 1, sweeper, assets: new Map() }, node(operatorIs(answer)))).at(-1);
  const padded = (address: string): string => `0x${'0'.repeat(24)}${address.slice(2)}`;

  it('is the one of this release where its address follows from its code and its wallet', async () => {
    expect(await found(sweeperOf(gasWallet).address, padded(gasWallet))).toMatchObject({ state: 'good' });
    expect(await found(sweeperOf(gasWallet).address.toLowerCase(), padded(gasWallet))).toMatchObject({ state: 'good' });
  });

  it.each([
    ['it is at another address', `0x${'22'.repeat(20)}`, padded(gasWallet)],
    ['it obeys another wallet', sweeperOf(gasWallet).address, padded(`0x${'33'.repeat(20)}`)],
    ['it knows no wallet', sweeperOf(gasWallet).address, '0x'],
    ['it refuses the question', sweeperOf(gasWallet).address, new Error('execution reverted')],
  ])('is told where %s', async (_what, sweeper, answer) => {
    expect(await found(sweeper, answer)).toMatchObject({
      state: 'fault',
      what: expect.stringContaining('is not the sweeper of this release'),
      fix: expect.stringContaining('deploy-sweeper'),
    });
  });
});
