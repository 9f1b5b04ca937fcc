import { generateMnemonic, mnemonicToSeedSync } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFunctionData, erc20Abi, getAddress, keccak256, parseAbi, parseEther, type Hex } from 'viem';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { adapterOf } from '../../chains/adapters';
import { registered } from '../../chains/codecs';
import type { Block, TransactionPlan, Transfer } from '../../domain/chains/chain';
import { mineEthereum, reorgEthereum } from '../../sandbox/chain-tools';
import { startAnvil } from '../../sandbox/parts/anvil';
import { call } from '../../sandbox/parts/json-rpc';
import { Payer } from '../../sandbox/payer';
import { freePort } from '../../sandbox/ports';
import { deploy, deployTokens } from '../../sandbox/tokens';
import { RpcProxy } from '../faults/rpc-proxy';
import { chainContract, type Fixture } from './contract';

const mnemonic = generateMnemonic(wordlist);
const seed = mnemonicToSeedSync(`${'abandon '.repeat(11)}about`);
const forwarderAbi = parseAbi(['function forward(address to) payable', 'function pretend(address to) payable']);

let fixture: Fixture;
let payer: Payer;
let tokens: Record<string, string>;
let make: (url: string, warn?: (text: string) => void) => Fixture['adapter'];

const localChain = { chainNames: {}, chainIds: { ethereum: 31337 }, sweepers: {} };

async function start(): Promise<Fixture> {
  const dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-ethereum-'));
  chmodSync(dataDir, 0o711);
  const anvil = await startAnvil({ dataDir, port: await freePort() });
  tokens = await deployTokens(anvil.url);
  const chain = { ...localChain, tokenContracts: tokens };
  make = (url, warn) => adapterOf(registered('ethereum'), chain, { url }, warn);
  payer = new Payer({ ethRpcUrl: anvil.url, btcRpcUrl: 'http://127.0.0.1:1' }, tokens, mnemonic);
  fixture = {
    adapter: make(anvil.url),
    url: anvil.url,
    at: (url) => make(url),
    addressOf(publicKey) {
      const whole = secp256k1.Point.fromBytes(publicKey).toBytes(false);
      return getAddress(`0x${keccak256(whole.slice(1)).slice(-40)}`);
    },
    respell: (address) => [address.toLowerCase(), `0x${address.slice(2).toUpperCase()}`],
    notAddresses: [
      `0x${'0'.repeat(40)}`,
      '0x9858EfFD232B4033E47d90003D41EC34EcaEdA94', // one letter's case is wrong
      '9858EfFD232B4033E47d90003D41EC34EcaEda94',
      '0X9858EfFD232B4033E47d90003D41EC34EcaEda94',
      '0x9858EfFD232B4033E47d90003D41EC34EcaEda9g',
      'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
      '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
      ...Object.values(tokens).flatMap((contract) => [contract, getAddress(contract)]),
    ],
    pay: async (currency, to, amount) => (await payer.pay(currency, to, amount)).txId,
    payer: async () => getAddress((await call<Hex[]>(anvil.url, 'eth_accounts', []))[0]!),
    mine: (blocks) => mineEthereum(anvil.url, blocks),
    reorg: (depth) => reorgEthereum(anvil.url, depth),
    unknownId: `0x${randomBytes(32).toString('hex')}`,
    async stop() {
      await anvil.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return fixture;
}

chainContract('ethereum', start);

let used = 1;
const ours = (index = used++): string => fixture.adapter.derive(fixture.adapter.extendedKey(seed, 'deposit'), index);
const newestBlock = async (): Promise<Block> =>
  (await fixture.adapter.readBlock((await fixture.adapter.head()).height))!;
async function mined(): Promise<Block> {
  await mineEthereum(fixture.url);
  return newestBlock();
}
const to = (block: Block, address: string): Transfer[] => block.transfers.filter((transfer) => transfer.to === address);
const verified = (
  transfer: Transfer,
  block: Block,
  currency = transfer.currency ?? 'ETH',
): ReturnType<typeof fixture.adapter.verify> => fixture.adapter.verify({ ...transfer, currency }, block.hash);
/** From the node's second account, which pays nothing else here. */
async function send(transaction: Record<string, string>): Promise<string> {
  const [, from] = await call<string[]>(fixture.url, 'eth_accounts');
  return call(fixture.url, 'eth_sendTransaction', [{ from, gas: '0x30d40', ...transaction }]);
}
/** A contract that hands its call and value on to each of `targets`, does not mind when one fails, and may fail itself
 *  at the end. */
async function handOn(targets: readonly string[], end: 'stop' | 'revert' = 'stop'): Promise<string> {
  const calls = targets.map((target) => `60006000366000347f${'0'.repeat(24)}${target.slice(2)}5af150`);
  const code = `366000600037${calls.join('')}${end === 'stop' ? '00' : '60006000fd'}`;
  const length = (code.length / 2).toString(16).padStart(4, '0');
  const txId = await send({ data: `0x61${length}600e60003961${length}6000f3${code}` });
  await mineEthereum(fixture.url);
  return (await call<{ contractAddress: string }>(fixture.url, 'eth_getTransactionReceipt', [txId])).contractAddress;
}
const forwarding = (name: 'forward' | 'pretend', address: string): Hex =>
  encodeFunctionData({ abi: forwarderAbi, functionName: name, args: [address as Hex] });

it('derives the address that every wallet gives to the best known mnemonic', () => {
  expect(ours(0)).toBe('0x9858EfFD232B4033E47d90003D41EC34EcaEda94');
});

describe('value that contracts send', () => {
  it('is found exactly once, and verified where it was found', async () => {
    const address = ours();
    const { txId } = await payer.payThroughContract(address, '0.25');
    const block = await mined();
    expect(to(block, address)).toEqual([
      { txId, index: -2, to: address, currency: 'ETH', units: parseEther('0.25'), inputs: [] },
    ]);
    expect(await fixture.adapter.sources(to(block, address)[0]!)).toEqual([await fixture.payer()]);
    // What the contract itself was sent is another transfer of the transaction.
    expect(block.transfers.filter((transfer) => transfer.txId === txId).map(({ index }) => index)).toEqual([-1, -2]);
    expect(await verified(to(block, address)[0]!, block)).toBe(parseEther('0.25'));
    for (const index of [-1, -3, 0]) expect(await verified({ ...to(block, address)[0]!, index }, block)).toBeNull();
    expect(await fixture.adapter.readBlock(block.height)).toEqual(block);
    await reorgEthereum(fixture.url, 1);
    expect(await verified(to(block, address)[0]!, block)).toBeNull();
  });

  it('is found through contracts that call contracts', async () => {
    const address = ours();
    const between = await handOn([await deploy(fixture.url, 'Forwarder')]);
    const txId = await send({ to: between, value: '0x5', data: forwarding('forward', address) });
    const block = await mined();
    expect(to(block, address)).toMatchObject([{ txId, index: -3, units: 5n }]);
    expect(await verified(to(block, address)[0]!, block)).toBe(5n);
  });

  it('is not found where a call inside took it back, though the transaction succeeded', async () => {
    const address = ours();
    const between = await handOn([await deploy(fixture.url, 'Forwarder')]);
    const txId = await send({ to: between, value: '0x5', data: forwarding('pretend', address) });
    const block = await mined();
    expect(await fixture.adapter.lookUp(txId)).toMatchObject({ state: 'mined', success: true });
    expect(await fixture.adapter.holding(address, 'ETH', block.height)).toBe(0n);
    expect(block.transfers.map((transfer) => transfer.to)).toEqual([getAddress(between)]);
    for (const index of [-2, -3])
      expect(await verified({ txId, index, to: address, currency: 'ETH', units: 5n, inputs: [] }, block)).toBeNull();
  });

  it('is found once where a first try inside was taken back', async () => {
    const address = ours();
    const forwarder = await deploy(fixture.url, 'Forwarder');
    const top = await handOn([await handOn([forwarder], 'revert'), forwarder]);
    const txId = await send({ to: top, value: '0x5', data: forwarding('forward', address) });
    const block = await mined();
    expect(await fixture.adapter.holding(address, 'ETH', block.height)).toBe(5n);
    // Calls that were taken back have their positions too: the try and the two calls in it, the forwarder, the address.
    expect(to(block, address)).toMatchObject([{ txId, index: -6, units: 5n }]);
    expect(await verified(to(block, address)[0]!, block)).toBe(5n);
  });
});

describe('a transaction that reverts', () => {
  it('transfers nothing, and is told from one that succeeded', async () => {
    const address = ours();
    const txId = await payer.payReverted(address, '0.25');
    const block = await mined();
    expect(block.txIds).toEqual([txId]);
    expect(block.transfers).toEqual([]);
    expect(await fixture.adapter.lookUp(txId)).toMatchObject({ state: 'mined', success: false, confirmations: 1 });
    const tx = await call<{ to: Hex }>(fixture.url, 'eth_getTransactionByHash', [txId]);
    for (const [index, receiver] of [
      [-1, getAddress(tx.to)],
      [-2, address],
    ] as const) {
      const transfer = { txId, index, to: receiver, currency: 'ETH', units: parseEther('0.25'), inputs: [] };
      expect(await verified(transfer, block)).toBeNull();
    }
  });

  it('transfers no token that its sender does not have', async () => {
    const address = ours();
    const txId = await payer.sendToken(tokens.USDC_ERC20!, address, 10n ** 30n);
    const block = await mined();
    expect(block).toMatchObject({ txIds: [txId], transfers: [] });
    expect(await fixture.adapter.lookUp(txId)).toMatchObject({ state: 'mined', success: false });
  });
});

describe('tokens', () => {
  it.each(['DollarToken', 'FeeToken', 'LyingToken'])('of nobody we know have no currency (%s)', async (name) => {
    const contract = await deploy(fixture.url, name, name === 'LyingToken' ? [] : ['Tether USD', 'USDT', 10n ** 12n]);
    const address = ours();
    await payer.sendToken(contract, address, 7_000_000n);
    const block = await mined();
    expect(to(block, address)).toMatchObject([{ index: 0, currency: null, units: 7_000_000n }]);
    for (const currency of ['ETH', 'USDT_ERC20', 'USDC_ERC20'])
      expect(await verified(to(block, address)[0]!, block, currency)).toBeNull();
    expect(await fixture.adapter.holding(address, 'USDT_ERC20', block.height)).toBe(0n);
  });

  it('have no holding where no contract is', async () => {
    const { height } = await fixture.adapter.head();
    const nowhere = `0x${randomBytes(20).toString('hex')}`;
    const chain = { ...localChain, tokenContracts: { ...tokens, USDT_ERC20: nowhere } };
    const astray = adapterOf(registered('ethereum'), chain, { url: fixture.url });
    expect(await astray.holding(ours(), 'USDT_ERC20', height)).toBe(0n);
    expect(await fixture.adapter.holding(ours(), 'USDT_ERC20', height)).toBe(0n);
  });

  it('keep the key of a transfer when a reorganisation moves its log in the block', async () => {
    const from = ours();
    const address = ours();
    await payer.pay('ETH', from, '1');
    await payer.pay('USDT_ERC20', from, '10');
    await mined();
    const { unitPrice } = (await fixture.adapter.estimateFee())!;
    const plan: TransactionPlan = {
      kind: 'account',
      from,
      key: { role: 'deposit', index: used - 2 },
      nonce: 0,
      to: address,
      value: 0n,
      token: { currency: 'USDT_ERC20', to: address, units: 10_000_000n },
      gasLimit: fixture.adapter.sizeOf({ inputs: 1, outputs: 1, currency: 'USDT_ERC20' }),
      maxFeePerGas: BigInt(unitPrice),
      maxPriorityFeePerGas: 1_000_000n,
    };
    const { txId, raw } = fixture.adapter.sign(seed, plan);
    const logIndex = async (): Promise<string | undefined> => {
      type Receipt = { logs: Array<{ logIndex: string }> };
      return (await call<Receipt>(fixture.url, 'eth_getTransactionReceipt', [txId])).logs[0]?.logIndex;
    };
    await fixture.adapter.broadcast(raw);
    const before = await mined();
    expect(await logIndex()).toBe('0x0');
    expect(to(before, address)).toMatchObject([{ txId, index: 0, currency: 'USDT_ERC20', units: 10_000_000n }]);

    await reorgEthereum(fixture.url, 1);
    expect(await fixture.adapter.lookUp(txId)).toEqual({ state: 'unknown' });
    const [rich] = await call<string[]>(fixture.url, 'eth_accounts');
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [ours() as Hex, 1n] });
    const first = { from: rich, to: tokens.USDC_ERC20, data, gas: '0x186a0', gasPrice: '0xe8d4a51000' };
    await call(fixture.url, 'eth_sendTransaction', [first]); // at a better price: it comes first
    await fixture.adapter.broadcast(raw);
    const after = await mined();
    expect(after.hash).not.toBe(before.hash);
    expect(await logIndex()).toBe('0x1');
    expect(to(after, address)).toEqual(to(before, address));
    expect(await verified(to(after, address)[0]!, after)).toBe(10_000_000n);
    expect(await fixture.adapter.holding(from, 'USDT_ERC20', after.height)).toBe(0n);
  });
});

describe('nodes that offer less, or something else', () => {
  const refuse = (proxy: RpcProxy, method: string): void => {
    const error = { code: -32601, message: `the method ${method} does not exist` };
    proxy.arm({ kind: 'rewrite', answer: () => ({ error }) }, [method]);
  };

  it('are read without traces, which is said once', async () => {
    const proxy = await RpcProxy.before(fixture.url);
    try {
      refuse(proxy, 'debug_traceBlockByHash');
      const said: string[] = [];
      const adapter = make(proxy.url, (text) => said.push(text));
      const [direct, through] = [ours(), ours()];
      await payer.pay('ETH', direct, '0.5');
      await payer.payThroughContract(through, '0.5');
      const { height } = await mined();
      const block = (await adapter.readBlock(height))!;
      await adapter.readBlock(height);
      expect([to(block, direct), to(block, through)]).toMatchObject([[{ index: -1 }], []]);
      expect(said).toEqual([expect.stringContaining('docs/adding-a-network.md')]);
      expect(proxy.hits).toHaveLength(1);
    } finally {
      await proxy.close();
    }
  });

  it('are read receipt by receipt where they have no receipts of a block', async () => {
    await payer.pay('USDT_ERC20', ours(), '1');
    await payer.pay('ETH', ours(), '1');
    const block = await mined();
    const proxy = await RpcProxy.before(fixture.url);
    try {
      refuse(proxy, 'eth_getBlockReceipts');
      expect(await make(proxy.url).readBlock(block.height)).toEqual(block);
      expect(proxy.hits).toEqual(['eth_getBlockReceipts']);
    } finally {
      await proxy.close();
    }
  });

  it('are not believed when they keep the receipt of a block that they left', async () => {
    const address = ours();
    const { txId } = await payer.pay('USDT_ERC20', address, '0.5');
    const block = await mined();
    const receipt = await call(fixture.url, 'eth_getTransactionReceipt', [txId]);
    await reorgEthereum(fixture.url, 1);
    const proxy = await RpcProxy.before(fixture.url);
    try {
      const answer = (body: unknown): unknown => ({ ...(body as object), result: receipt });
      proxy.arm({ kind: 'rewrite', answer }, ['eth_getTransactionReceipt']);
      const [transfer] = to(block, address);
      expect(await make(proxy.url).verify({ ...transfer!, currency: 'USDT_ERC20' }, block.hash)).toBeNull();
      expect(await make(proxy.url).lookUp(txId)).toEqual({ state: 'unknown' });
      expect(proxy.hits).toHaveLength(2);
    } finally {
      await proxy.close();
    }
  });

  it('are not believed when they are on another chain', async () => {
    const proxy = await RpcProxy.before(fixture.url);
    try {
      proxy.arm({ kind: 'rewrite', answer: (body) => ({ ...(body as object), result: '0x1' }) }, ['eth_chainId']);
      const wrong = expect.objectContaining({ code: 'NODE_UNREACHABLE' }) as Error;
      await expect(make(proxy.url).head()).rejects.toThrow(wrong);
    } finally {
      await proxy.close();
    }
  });
});

describe('what a node says to a broadcast', () => {
  const plan = async (from: string, over: Partial<Extract<TransactionPlan, { kind: 'account' }>>) => {
    const { unitPrice } = (await fixture.adapter.estimateFee())!;
    return fixture.adapter.sign(seed, {
      kind: 'account',
      from,
      key: { role: 'deposit', index: used - 1 },
      nonce: 0,
      to: ours(0),
      value: 1n,
      gasLimit: 21_000n,
      maxFeePerGas: BigInt(unitPrice),
      maxPriorityFeePerGas: 1_000_000n,
      ...over,
    });
  };

  it.each([
    ['txpool is full', 'other'],
    ['internal error', 'other'],
    ['exceeds block gas limit', 'other'],
    ['insufficient funds for gas * price + value', 'funds'],
    ['transaction underpriced', 'fee'],
    ['nonce too low: next nonce 5, tx nonce 4', 'conflict'],
    ['OldNonce', 'conflict'],
    ['replacement transaction underpriced', 'conflict'],
    ['could not replace existing tx', 'conflict'],
  ])('tells by "%s" whether its nonce is taken', async (message, what) => {
    const proxy = await RpcProxy.before(fixture.url);
    try {
      proxy.arm({ kind: 'rewrite', answer: () => ({ error: { code: -32000, message } }) }, ['eth_sendRawTransaction']);
      const said = await make(proxy.url).broadcast('0x00');
      expect(said.outcome === 'refused' ? said.why : said.outcome).toBe(what);
    } finally {
      await proxy.close();
    }
  });

  it('tells want of funds from a low price, and both from a conflict', async () => {
    const poor = await plan(ours(), {});
    expect(await fixture.adapter.broadcast(poor.raw)).toMatchObject({ outcome: 'refused', why: 'funds' });
    const rich = ours();
    await payer.pay('ETH', rich, '1');
    await mined();
    const underpaid = await plan(rich, { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n });
    expect(await fixture.adapter.broadcast(underpaid.raw)).toMatchObject({ outcome: 'refused', why: 'fee' });
    const good = await plan(rich, {});
    expect(await fixture.adapter.broadcast(good.raw)).toEqual({ outcome: 'accepted' });
    await mined();
    expect(await fixture.adapter.lookUp(good.txId)).toMatchObject({ success: true });
  });
});
