import { bech32 } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getAddress, keccak256, type Hex } from 'viem';
import { adapterOf } from '../../chains/adapters';
import { codecOf, type Registered } from '../../chains/codecs';
import { evmCodec } from '../../chains/evm/codec';
import type { ChainSettings } from '../../domain/chains/assets';
import { toUnits } from '../../domain/money';
import { mineEthereum, reorgEthereum } from '../../sandbox/chain-tools';
import { startAnvil } from '../../sandbox/parts/anvil';
import { call } from '../../sandbox/parts/json-rpc';
import { startLitecoind } from '../../sandbox/parts/litecoind';
import { freePort } from '../../sandbox/ports';
import { deploySweeper, deployTokens } from '../../sandbox/tokens';
import { chainContract, type Fixture } from './contract';
import { evmChain, litecoin } from './registering';

/** A second network of each family, with parameters and a node of its own: no code of chains/ knows them. */

const nobody: ChainSettings = { chainNames: {}, chainIds: {}, tokenContracts: {}, sweepers: {} };
const hashed = (name: string, data: Uint8Array): Buffer => createHash(name).update(data).digest();
const segwit = (prefix: string, program: Uint8Array): string =>
  bech32.encode(prefix, [0, ...bech32.toWords(program)], 200);
const seed = mnemonicToSeedSync(`${'abandon '.repeat(11)}about`);

const path = process.env.LITECOIND_PATH ?? '/usr/bin/litecoind';
const isThere = existsSync(path);
if (!isThere && process.env.CI) throw new Error('No litecoind: set LITECOIND_PATH, or install the litecoind package');
const withLitecoin = isThere ? describe : describe.skip;

withLitecoin('a second UTXO network: Litecoin', () => {
  const settings: ChainSettings = { ...nobody, chainNames: { [litecoin.network.id]: 'regtest' } };
  const login = { user: 'u', password: 'secret' };
  let ask: <T>(method: string, ...params: unknown[]) => Promise<T>;
  let fixture: Fixture;

  async function start(): Promise<Fixture> {
    const dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-litecoin-'));
    const node = await startLitecoind({ dataDir, port: await freePort(), ...login });
    ask = (method, ...params) => call(node.url, method, params, `${login.user}:${login.password}`);
    await ask('createwallet', 'payer');
    const payer = await ask<string>('getnewaddress', '', 'bech32');
    const mine = (blocks: number): Promise<unknown> => ask('generatetoaddress', blocks, payer);
    await mine(120);
    const at = (url: string) => adapterOf(litecoin, settings, { url, ...login });
    fixture = {
      adapter: at(node.url),
      url: node.url,
      at,
      addressOf: (publicKey) => segwit('rltc', hashed('ripemd160', hashed('sha256', publicKey))),
      respell: (given) => [given.toUpperCase()],
      notAddresses: [
        segwit('ltc', randomBytes(20)), // of the main network
        segwit('bcrt', randomBytes(20)), // of Bitcoin
        'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu',
        '2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc',
        '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
        segwit('tmweb', randomBytes(66)), // of the extension blocks, which we do not read
        payer.replace(/.$/, (last) => (last === 'q' ? 'p' : 'q')),
      ],
      // From one address, whose coins the change returns to.
      async pay(_currency, to, amount) {
        const raw = await ask<string>('createrawtransaction', [], { [to]: amount });
        const funded = await ask<{ hex: string }>('fundrawtransaction', raw, { changeAddress: payer, feeRate: 0.0001 });
        const signed = await ask<{ hex: string }>('signrawtransactionwithwallet', funded.hex);
        return ask<string>('sendrawtransaction', signed.hex);
      },
      payer: () => payer,
      mine,
      // To another address: otherwise the same second would bring the same block again.
      async reorg(depth) {
        const height = await ask<number>('getblockcount');
        await ask('invalidateblock', await ask<string>('getblockhash', height - depth + 1));
        await ask('generatetoaddress', depth + 1, await ask<string>('getnewaddress', '', 'bech32'));
      },
      unknownId: randomBytes(32).toString('hex'),
      async stop() {
        await node.stop();
        rmSync(dataDir, { recursive: true, force: true });
      },
    };
    return fixture;
  }

  chainContract(litecoin.network.id, start, litecoin);

  it('takes addresses of every kind that its node gives out', async () => {
    for (const kind of ['legacy', 'p2sh-segwit', 'bech32']) {
      const address = await ask<string>('getnewaddress', '', kind);
      expect([kind, fixture.adapter.normalise(address)]).toEqual([kind, address]);
    }
  });

  it('asks for no less than its own least price', async () => {
    expect(await fixture.adapter.estimateFee()).toEqual({ unitPrice: '2', tipPrice: '0' });
  });
});

describe('Litecoin without a node', () => {
  const codec = (name: string) => codecOf(litecoin, { ...nobody, chainNames: { [litecoin.network.id]: name } });

  it('has its own coin type, prefixes and URI scheme', () => {
    const main = codec('mainnet');
    const address = main.derive(main.extendedKey(seed, 'deposit'), 3);
    const { publicKey } = HDKey.fromMasterSeed(seed).derive("m/84'/2'/0'/0/3");
    expect(address).toBe(segwit('ltc', hashed('ripemd160', hashed('sha256', publicKey!))));
    expect(main.normalise(address)).toBe(address);
    expect(main.normalise('1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2')).toBeNull();
    expect(main.paymentUri(address, 'LTC', '0.5')).toBe(`litecoin:${address}?amount=0.5`);
    expect(codec('regtest').normalise(address)).toBeNull();
  });

  it('is not made for a chain that nobody has described', () => {
    expect(() => codec('signet')).toThrow(`Litecoin has no chain 'signet'`);
  });
});

describe('a second EVM chain', () => {
  const chainId = 98_761;
  const settingsOf = (tokens: Readonly<Record<string, string>>, sweeper?: string): ChainSettings => ({
    ...nobody,
    chainIds: { ethereum: 1, [evmChain.network.id]: chainId },
    tokenContracts: tokens,
    // Ethereum's contract is not this chain's.
    sweepers: { ethereum: `0x${'e'.repeat(40)}`, ...(sweeper ? { [evmChain.network.id]: sweeper } : {}) },
  });
  let url = '';
  let token = '';

  async function start(): Promise<Fixture> {
    const dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-second-evm-'));
    chmodSync(dataDir, 0o711);
    const anvil = await startAnvil({ dataDir, port: await freePort(), chainId });
    url = anvil.url;
    token = (await deployTokens(url)).USDT_ERC20!;
    const settings = settingsOf({ USDT_OTHER: token });
    const at = (there: string) => adapterOf(evmChain, settings, { url: there });
    const [payer] = await call<Hex[]>(url, 'eth_accounts', []);
    const send = (transaction: object): Promise<string> =>
      call(url, 'eth_sendTransaction', [{ from: payer, ...transaction }]);
    return {
      adapter: at(url),
      url,
      at,
      addressOf: (publicKey) =>
        getAddress(`0x${keccak256(secp256k1.Point.fromBytes(publicKey).toBytes(false).slice(1)).slice(-40)}`),
      respell: (address) => [address.toLowerCase()],
      notAddresses: [`0x${'0'.repeat(40)}`, token, token.toLowerCase(), 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu'],
      pay: (currency, to, amount) => {
        if (currency === 'OTH') return send({ to, value: `0x${toUnits(amount, 18).toString(16)}` });
        const word = (value: bigint): string => value.toString(16).padStart(64, '0');
        return send({ to: token, data: `0xa9059cbb${word(BigInt(to))}${word(toUnits(amount, 6))}` });
      },
      payer: () => getAddress(payer!),
      mine: (blocks) => mineEthereum(url, blocks),
      reorg: (depth) => reorgEthereum(url, depth),
      unknownId: `0x${randomBytes(32).toString('hex')}`,
      async stop() {
        await anvil.stop();
        rmSync(dataDir, { recursive: true, force: true });
      },
    };
  }

  chainContract(evmChain.network.id, start, evmChain);

  const codecWith = (sweeper?: string) => codecOf(evmChain, settingsOf({ USDT_OTHER: token }, sweeper));
  const batch = (codec: ReturnType<typeof codecWith>) => {
    const addressAt = (role: 'gas' | 'deposit', index: number): string =>
      codec.derive(codec.extendedKey(seed, role), index);
    return {
      kind: 'account' as const,
      from: addressAt('gas', 0),
      key: { role: 'gas' as const, index: 0 },
      nonce: 0,
      to: addressAt('gas', 0),
      value: 0n,
      gasLimit: 500_000n,
      maxFeePerGas: 1n,
      maxPriorityFeePerGas: 1n,
      batch: {
        currency: 'USDT_OTHER',
        to: addressAt('deposit', 9),
        accounts: [
          { address: addressAt('deposit', 0), key: { role: 'deposit' as const, index: 0 }, nonce: 0, units: 1n },
        ],
      },
    };
  };

  it('batches through its own sweeper contract, and not through that of another chain', async () => {
    const without = codecWith();
    expect(() => without.sign(seed, batch(without))).toThrow('No sweeper contract is configured for Other chain');
    const sweeper = await deploySweeper(url, without.derive(without.extendedKey(seed, 'gas'), 0));
    const codec = codecWith(sweeper);
    const { raw } = codec.sign(seed, batch(codec));
    expect(raw.toLowerCase()).toContain(sweeper.slice(2).toLowerCase());
    expect(raw.toLowerCase()).not.toContain('e'.repeat(40));
  });

  it('signs for its own chain id: another chain refuses the same plan', async () => {
    const codec = codecWith();
    const other = evmCodec(evmChain.network, {
      chainId: 1,
      assets: new Map([['OTH', { decimals: 18, contract: null }]]),
    });
    const { batch: _, ...plan } = batch(codec);
    await call(url, 'anvil_setBalance', [plan.from, '0x8ac7230489e80000']);
    const adapter = adapterOf(evmChain, settingsOf({}), { url });
    const price = BigInt((await adapter.estimateFee())!.unitPrice);
    const priced = { ...plan, gasLimit: 23_000n, value: 1n, maxFeePerGas: price, maxPriorityFeePerGas: price };
    expect((await adapter.broadcast(other.sign(seed, priced).raw)).outcome).toBe('refused');
    expect((await adapter.broadcast(codec.sign(seed, priced).raw)).outcome).toBe('accepted');
  });

  it('offers at least its own least tip', async () => {
    const { tipPrice } = (await adapterOf(evmChain, settingsOf({}), { url }).estimateFee())!;
    expect(BigInt(tipPrice)).toBeGreaterThanOrEqual(30_000_000_000n);
  });

  it('does not believe a node of another chain', async () => {
    const settings = { ...settingsOf({}), chainIds: { [evmChain.network.id]: 5 } };
    await expect(adapterOf(evmChain, settings, { url }).head()).rejects.toThrow(`is on chain ${chainId}`);
  });

  it('has payment URIs with its own id', () => {
    const address = getAddress(`0x${'1'.repeat(40)}`);
    expect(codecWith().paymentUri(address, 'OTH', '1')).toBe(`ethereum:${address}@${chainId}?value=${10n ** 18n}`);
  });

  it('is not made without a chain id', () => {
    expect(() => codecOf(evmChain as Registered, nobody)).toThrow('No chain id is configured for Other chain');
  });
});
