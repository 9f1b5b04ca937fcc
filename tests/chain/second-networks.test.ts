/** @jest-environment node */
import { bech32, createBase58check, hex } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { createHash, randomBytes } from 'node:crypto';
import { getAddress } from 'viem';
import { adapterOf } from '../../chains/adapters';
import { codecOf, type Registered } from '../../chains/codecs';
import { evmCodec } from '../../chains/evm/codec';
import type { ChainSettings } from '../../domain/chains/assets';
import { call } from '../../sandbox/parts/json-rpc';
import { sweeperOf } from '../../chains/evm/sweeper';
import { deploySweeper } from '../../sandbox/tokens';
import { chainContract, type Fixture } from './contract';
import { evmFixture } from './evm-fixture';
import { evmChain, otherCoin } from './registering';

/** A second network of each family, with parameters and a node of its own: no code of chains/ knows them. */

const nobody: ChainSettings = { chainNames: {}, chainIds: {}, tokenContracts: {}, sweepers: {} };
const hashed = (name: string, data: Uint8Array): Buffer => createHash(name).update(data).digest();
const segwit = (prefix: string, program: Uint8Array): string =>
  bech32.encode(prefix, [0, ...bech32.toWords(program)], 200);
/** The version of an address, and what follows it. */
const base58check = (address: string): [version: number, payload: string] => {
  const [version = -1, ...payload] = createBase58check((data: Uint8Array) => hashed('sha256', data)).decode(address);
  return [version, hex.encode(Uint8Array.from(payload))];
};
const seed = mnemonicToSeedSync(`${'abandon '.repeat(11)}about`);

describe('a second UTXO network', () => {
  const codec = (name: string) => codecOf(otherCoin, { ...nobody, chainNames: { [otherCoin.network.id]: name } });

  it('has its own coin type, prefixes and URI scheme', () => {
    const main = codec('mainnet');
    const address = main.derive(main.extendedKey(seed, 'deposit'), 3);
    const { publicKey } = HDKey.fromMasterSeed(seed).derive("m/84'/7777'/0'/0/3");
    expect(address).toBe(segwit('ocn', hashed('ripemd160', hashed('sha256', publicKey!))));
    expect(main.normalise(address)).toBe(address);
    expect(main.normalise('1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2')).toBeNull();
    expect(main.paymentUri(address, 'OCN', '0.5')).toBe(`othercoin:${address}?amount=0.5`);
    expect(codec('regtest').normalise(address)).toBeNull();
  });

  it('writes a script address of another version with its own', () => {
    const given = '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy';
    const own = codec('mainnet').normalise(given)!;
    expect(base58check(own)).toEqual([0x16, base58check(given)[1]]);
    expect(codec('mainnet').normalise(own)).toBe(own);
    expect(codec('regtest').normalise(given)).toBeNull();
  });

  it('says why an address of a kind that it cannot pay is refused', () => {
    const hidden = segwit('ocnhidden', randomBytes(66));
    const main = codec('mainnet');
    expect([main.normalise(hidden), main.refusalOf(hidden)]).toEqual([null, 'Hidden addresses cannot be paid']);
    expect(main.refusalOf(hidden.toUpperCase())).toBe('Hidden addresses cannot be paid');
    expect(main.refusalOf('ocnhiddeN1')).toBe('Hidden addresses cannot be paid');
    expect(codec('regtest').refusalOf(hidden)).toBeNull();
    for (const other of ['', 'ocn1', 'ocnhidde', segwit('ltcmweb', randomBytes(66))])
      expect([other, main.refusalOf(other)]).toEqual([other, null]);
  });

  it('is not made for a chain that nobody has described', () => {
    expect(() => codec('signet')).toThrow(`Other coin has no chain 'signet'`);
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
    const made = await evmFixture(evmChain, chainId, (own) => settingsOf({ USDT_OTHER: own }));
    ({ token } = made);
    url = made.fixture.url;
    return made.fixture;
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

  it('A5: signs no delegation to a contract that is not its own code, or that obeys another wallet', async () => {
    const without = codecWith();
    const others = sweeperOf(without.derive(without.extendedKey(seed, 'gas'), 1)).address;
    for (const sweeper of [others, `0x${'ab'.repeat(20)}`]) {
      const codec = codecWith(sweeper);
      expect(() => codec.sign(seed, batch(codec))).toThrow("is not this release's sweeper of");
    }
  });

  it('gives no part of what an account holds to a destination that is not there, nor more than it holds', async () => {
    const codec = codecWith(sweeperOf(codecWith().derive(codecWith().extendedKey(seed, 'gas'), 0)).address);
    const plan = batch(codec);
    const sharing = (restUnits: bigint, restTo?: string) => ({
      ...plan,
      batch: { ...plan.batch, ...(restTo ? { restTo } : {}), accounts: [{ ...plan.batch.accounts[0]!, restUnits }] },
    });
    expect(() => codec.sign(seed, sharing(1n))).toThrow('has no destination');
    expect(() => codec.sign(seed, sharing(2n, plan.from))).toThrow('has no destination');
    expect(codec.sign(seed, sharing(1n, plan.from)).raw).toMatch(/^0x04/);
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
