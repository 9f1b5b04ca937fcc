import { bech32, bech32m } from '@scure/base';
import { generateMnemonic, mnemonicToSeedSync } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { Transaction } from '@scure/btc-signer';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adapterOf, createCodec } from '../../chains/adapters';
import { registered } from '../../chains/codecs';
import type { Coin } from '../../domain/chains/chain';
import { reorgBitcoin } from '../../sandbox/chain-tools';
import { bitcoinCall, mineBitcoin } from '../../sandbox/miner';
import { startBtcd } from '../../sandbox/parts/btcd';
import { Payer } from '../../sandbox/payer';
import { freePort } from '../../sandbox/ports';
import { payerBitcoinKey } from '../../sandbox/secrets';
import { RpcProxy } from '../faults/rpc-proxy';
import { chainContract, type Fixture } from './contract';

const chain = { chainNames: { bitcoin: 'regtest' }, chainIds: {}, tokenContracts: {}, sweepers: {} } as const;
const login = { user: 'u', password: 'secret' };
const at = (url: string) => adapterOf(registered('bitcoin'), chain, { url, ...login });
const hashed = (name: string, data: Uint8Array): Buffer => createHash(name).update(data).digest();
const words = (data: Uint8Array): number[] => bech32.toWords(data);

let fixture: Fixture;
let payer: Payer;
let rpcUrl: string;

async function start(): Promise<Fixture> {
  const dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-bitcoin-'));
  chmodSync(dataDir, 0o711);
  const mnemonic = generateMnemonic(wordlist);
  const { address } = payerBitcoinKey(mnemonic);
  const btcd = await startBtcd({
    dataDir,
    port: await freePort(),
    ...login,
    miningAddress: address,
  });
  rpcUrl = btcd.url.replace('://', `://${login.user}:${login.password}@`);
  payer = new Payer({ btcRpcUrl: rpcUrl, ethRpcUrl: 'http://127.0.0.1:1' }, {}, mnemonic);
  await payer.fund();
  fixture = {
    adapter: at(btcd.url),
    url: btcd.url,
    at,
    addressOf: (publicKey) => bech32.encode('bcrt', [0, ...words(hashed('ripemd160', hashed('sha256', publicKey)))]),
    respell: (given) => [given.toUpperCase()],
    notAddresses: [
      'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu', // other networks
      'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
      '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2',
      '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy',
      '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
      address.replace(/.$/, (last) => (last === 'q' ? 'p' : 'q')), // checksums
      'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfm',
      `Bcrt${address.slice(4)}`, // both cases at once
      bech32m.encode('bcrt', [0, ...words(randomBytes(20))]), // version 0 with the checksum of version 1
      bech32.encode('bcrt', [1, ...words(randomBytes(32))]),
      bech32.encode('bcrt', [0, ...words(randomBytes(19))]),
    ],
    pay: async (currency, to, amount) => (await payer.pay(currency, to, amount)).txId,
    payer: () => address,
    mine: (blocks) => mineBitcoin(rpcUrl, blocks),
    reorg: (depth) => reorgBitcoin(rpcUrl, depth),
    unknownId: randomBytes(32).toString('hex'),
    async stop() {
      await btcd.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return fixture;
}

chainContract('bitcoin', start);

const seed = mnemonicToSeedSync(`${'abandon '.repeat(11)}about`);
const ours = (index: number): string => fixture.adapter.derive(fixture.adapter.extendedKey(seed, 'deposit'), index);
const newestBlock = async () => (await fixture.adapter.readBlock((await fixture.adapter.head()).height))!;
async function coins(count: number): Promise<Coin[]> {
  for (let index = 0; index < count; index += 1) await payer.pay('BTC', ours(index), '0.01');
  await payer.mine('BTC');
  const { transfers } = await newestBlock();
  return Array.from({ length: count }, (_, index) => {
    const { txId, index: vout, units, to } = transfers.find((transfer) => transfer.to === ours(index))!;
    return { txId, vout, units, address: to, key: { role: 'deposit', index } };
  });
}

it('names every owner of what a transaction spends, once, and nobody for a block’s reward', async () => {
  const spent = [...(await coins(2)), ...(await coins(1))];
  const units = spent.reduce((sum, coin) => sum + coin.units, 0n);
  const plan = {
    kind: 'utxo',
    coins: spent,
    outputs: [{ address: ours(9), units: units - 2000n }],
    feeUnits: 2000n,
  } as const;
  const { txId, raw } = fixture.adapter.sign(seed, plan);
  await fixture.adapter.broadcast(raw);
  expect(await fixture.adapter.sources({ txId, index: 0 })).toEqual([ours(0), ours(1)]);
  await payer.mine('BTC');
  expect(await fixture.adapter.sources({ txId, index: 0 })).toEqual([ours(0), ours(1)]);
  const [reward] = (await newestBlock()).txIds;
  expect(await fixture.adapter.sources({ txId: reward!, index: 0 })).toEqual([]);
});

it('derives the addresses that BIP 84 publishes', () => {
  const codec = createCodec('bitcoin', { ...chain, chainNames: { bitcoin: 'mainnet' } });
  const account = codec.extendedKey(seed, 'deposit');
  expect([0, 1].map((index) => codec.derive(account, index))).toEqual([
    'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
    'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g',
  ]);
});

it('takes addresses of every kind that a wallet may show', () => {
  const kinds = [
    'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn',
    '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc',
    bech32.encode('bcrt', [0, ...words(randomBytes(32))]),
    bech32m.encode('bcrt', [
      1,
      ...words(Buffer.from('79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798', 'hex')),
    ]),
  ];
  expect(kinds.map((kind) => fixture.adapter.normalise(kind))).toEqual(kinds);
});

it('sees each output of a transaction as a transfer of its own, and every coin that it spends', async () => {
  const from = await coins(2);
  const outputs = [ours(5), ours(6), ours(5)].map((address, index) => ({ address, units: 100_000n + BigInt(index) }));
  const sum = from.reduce((total, coin) => total + coin.units, 0n);
  const plan = { kind: 'utxo', coins: from, outputs, feeUnits: sum - 300_003n } as const;
  const { txId, raw } = fixture.adapter.sign(seed, plan);
  expect(await fixture.adapter.broadcast(raw)).toEqual({ outcome: 'accepted' });
  await payer.mine('BTC');
  const block = await newestBlock();
  const inputs = from.map((coin) => `${coin.txId}:${coin.vout}`);
  expect(block.transfers.filter((transfer) => transfer.txId === txId)).toEqual(
    outputs.map(({ address, units }, index) => ({ txId, index, to: address, currency: 'BTC', units, inputs })),
  );
  expect(inputs.map((input) => block.spent.get(input))).toEqual([txId, txId]);
  expect(await fixture.adapter.lookUp(txId)).toMatchObject({ feeUnits: plan.feeUnits });
  expect(await Promise.all([0, 1, 2, 3].map((vout) => fixture.adapter.unspent(txId, vout)))).toEqual([
    ...[true, true, true],
    false,
  ]);
});

it('weighs a transaction before it is signed', async () => {
  const all = await coins(3);
  for (let inputs = 1; inputs <= 3; inputs += 1) {
    for (const count of [1, 2, 4]) {
      const from = all.slice(0, inputs);
      const outputs = Array.from({ length: count }, () => ({ address: ours(9), units: 10_000n }));
      const feeUnits = from.reduce((sum, coin) => sum + coin.units, 0n) - BigInt(count) * 10_000n;
      const { raw } = fixture.adapter.sign(seed, { kind: 'utxo', coins: from, outputs, feeUnits });
      const size = Number(fixture.adapter.sizeOf({ inputs, outputs: count, currency: 'BTC' }));
      const { vsize } = Transaction.fromRaw(Buffer.from(raw, 'hex'));
      expect(size).toBeGreaterThanOrEqual(vsize);
      expect(size).toBeLessThanOrEqual(vsize + inputs + 1);
    }
  }
});

it('is told that a fee is too low, not that a coin is gone', async () => {
  const [coin] = await coins(1);
  const plan = {
    kind: 'utxo',
    coins: [coin!],
    outputs: [{ address: ours(1), units: coin!.units }],
    feeUnits: 0n,
  } as const;
  const { raw } = fixture.adapter.sign(seed, plan);
  expect(await fixture.adapter.broadcast(raw)).toMatchObject({ outcome: 'refused', why: 'fee' });
});

it('is told that a coin does not exist', async () => {
  const [coin] = await coins(1);
  const gone = { ...coin!, txId: fixture.unknownId };
  const plan = {
    kind: 'utxo',
    coins: [gone],
    outputs: [{ address: ours(1), units: coin!.units - 2000n }],
    feeUnits: 2000n,
  } as const;
  expect(await fixture.adapter.broadcast(fixture.adapter.sign(seed, plan).raw)).toMatchObject({ outcome: 'conflict' });
});

it.each([
  [-26, 'mempool full', 'other'],
  [-26, 'non-BIP68-final', 'other'],
  [-32603, 'internal error', 'other'],
  [-26, 'min relay fee not met, 100 < 141', 'fee'],
  [-26, 'txn-mempool-conflict', 'conflict'],
  [-26, 'insufficient fee, rejecting replacement abc; new feerate 0.1 <= old feerate 0.2', 'conflict'],
  [-25, 'bad-txns-inputs-missingorspent', 'conflict'],
  [-25, 'TX rejected: orphan transaction abc references outputs of unknown or fully-spent transaction', 'conflict'],
])('tells by %s, %s, whether its coins are taken', async (code, message, what) => {
  const proxy = await RpcProxy.before(rpcUrl);
  try {
    proxy.arm({ kind: 'rewrite', answer: () => ({ result: null, error: { code, message } }) }, ['sendrawtransaction']);
    const said = await at(proxy.url).broadcast('00');
    expect(said.outcome === 'refused' ? said.why : said.outcome).toBe(what);
  } finally {
    await proxy.close();
  }
});

it('comes back to the pool with a reorganisation, and is lost to a payment that takes its coin', async () => {
  const payment = await payer.pay('BTC', ours(7), '0.02');
  await payer.mine('BTC');
  const { hash } = await newestBlock();
  await bitcoinCall(rpcUrl, 'invalidateblock', [hash]);
  expect(await fixture.adapter.lookUp(payment.txId)).toEqual({ state: 'pool' });
  const other = await payer.replace(payment, { address: ours(8), fee: 9000n });
  await payer.mine('BTC', 2);
  expect(await fixture.adapter.lookUp(payment.txId)).toEqual({ state: 'unknown' });
  expect(await fixture.adapter.lookUp(other.txId)).toMatchObject({ state: 'mined', confirmations: 2 });
  expect(await fixture.adapter.verify({ txId: payment.txId, index: 0, to: ours(7), currency: 'BTC' }, hash)).toBeNull();
});

it('does not get past the login of a node', async () => {
  const stranger = adapterOf(registered('bitcoin'), chain, { ...login, url: fixture.url, password: 'wrong' });
  await expect(stranger.head()).rejects.toThrow(expect.objectContaining({ code: 'NODE_UNREACHABLE' }) as Error);
});
