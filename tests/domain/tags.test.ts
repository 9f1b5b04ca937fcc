/** @jest-environment node */
import { evmCodec } from '../../chains/evm/codec';
import { utxoCodec } from '../../chains/utxo/codec';
import { assetOf, networks, type EvmNetwork, type UtxoNetwork } from '../../domain/chains/assets';
import { faultOfTag, isCarried, normalTag, readTag, receiverOf } from '../../domain/chains/tags';
import { register, tagChain } from '../chain/registering';

/** Destination tags: what is a tag of an asset, and who refuses one. */

const asset = tagChain.assets[0];
const lost = { ...assetOf('USDC_ERC20'), currency: 'LOST', requiresDestinationTag: true };
let unregister: () => void;
beforeAll(() => {
  unregister = register(tagChain.assets, tagChain.network);
});
afterAll(() => unregister());

it.each([
  ['0', '0'],
  ['7', '7'],
  ['007', '7'],
  ['4294967295', '4294967295'],
  ['4294967296', null],
  ['99999999999999999999', null],
  ['999999999999999999999', null],
  ['-1', null],
  ['+5', null],
  ['5e3', null],
  ['4_2', null],
  ['7\n', null],
  ['7,8', null],
  ['', null],
  ['1.0', null],
  ['0x7', null],
  [' 7', null],
  ['٧', null],
  ['seven', null],
])('reads %s as %s', (typed, tag) => {
  expect(normalTag(asset, typed)).toBe(tag);
});

it('names what is wrong with a tag', () => {
  expect(faultOfTag(asset, '7')).toBeNull();
  expect(faultOfTag(asset, null)).toBe('TAG needs a destination tag');
  expect(faultOfTag(asset, '')).toBe('TAG needs a destination tag');
  expect(faultOfTag(asset, '4294967296')).toBe('a destination tag of TAG is a whole number up to 4294967295');
  expect(faultOfTag(assetOf('ETH'), '7')).toBe('ETH has no destination tags');
  expect(faultOfTag(assetOf('ETH'), null)).toBeNull();
  // Where an account has tags and need not have one.
  expect(faultOfTag({ ...asset, requiresDestinationTag: false }, null)).toBeNull();
  expect(faultOfTag({ ...asset, requiresDestinationTag: false }, '7')).toBeNull();
});

it('takes no asset whose tags nothing would carry', () => {
  expect([isCarried(asset), isCarried(assetOf('ETH')), isCarried(lost)]).toEqual([true, true, false]);
  expect(readTag(asset, '007')).toBe('7');
  expect(readTag(assetOf('ETH'), '')).toBeNull();
  expect(() => readTag(lost, '7')).toThrow(expect.objectContaining({ code: 'CURRENCY_NOT_AVAILABLE' }));
  expect(() => readTag(lost, null)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
});

it('tells receivers apart by their tags', () => {
  const all = [{ address: 'a' }, { address: 'a', tag: '7' }, { address: 'a', tag: '77' }].map(receiverOf);
  expect(new Set(all).size).toBe(3);
});

it('has no codec drop a tag', () => {
  const seed = new Uint8Array(64).fill(7);
  const evm = evmCodec(networks.ethereum as EvmNetwork, {
    chainId: 1,
    assets: new Map([['ETH', { decimals: 18, contract: null }]]),
  });
  const from = evm.derive(evm.extendedKey(seed, 'treasury'), 0);
  const prices = { nonce: 0, gasLimit: 21_000n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n };
  const key = { role: 'treasury', index: 0 } as const;
  const plan = { kind: 'account' as const, from, key, to: from, value: 1n, ...prices };
  expect(evm.sign(seed, plan).raw).toMatch(/^0x/);
  expect(() => evm.sign(seed, { ...plan, tag: '7' })).toThrow('A transaction of Ethereum has no destination tag');
  const network = networks.bitcoin as UtxoNetwork;
  const utxo = utxoCodec(network, network.chains.regtest!);
  const outputs = [{ address: utxo.derive(utxo.extendedKey(seed, 'treasury'), 0), units: 0n, tag: '7' }];
  expect(() => utxo.sign(seed, { kind: 'utxo', coins: [], outputs, feeUnits: 0n })).toThrow(
    'An output of Bitcoin has no destination tag',
  );
});
