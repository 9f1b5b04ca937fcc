/** @jest-environment node */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NetworkId } from '../../domain/chains/assets';
import { pricesOf } from '../../sandbox/prices';
import { evmChain, register } from '../chain/registering';

/** The price file of a sandbox. */

let dataDir: string;
beforeEach(() => (dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-prices-'))));
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));
type Prices = Readonly<{ takenAt: string; USD: Record<string, string>; fiat: Record<string, string> }>;
const read = (...networks: NetworkId[]): Prices =>
  JSON.parse(readFileSync(pricesOf(dataDir, networks), 'utf8')) as Prices;

it('has the assets of the networks that are on, one coin alike on all of them', () => {
  const { USD, ...more } = read('ethereum', 'base');
  expect(USD).toEqual({
    ...{ ETH: '3200', ETH_BASE: '3200' },
    ...{ USDT_ERC20: '1', USDC_ERC20: '1', USDC_BASE: '1' },
  });
  expect(more).toEqual({ takenAt: 'now', fiat: { EUR: '0.92', GBP: '0.79', JPY: '151' } });
});

it('keeps what somebody wrote, and puts in what is missing', () => {
  read('bitcoin');
  const own = { takenAt: '2026-01-01T00:00:00Z', USD: { BTC: '7' }, fiat: { EUR: '0.5' } };
  writeFileSync(join(dataDir, 'prices.json'), JSON.stringify(own));
  expect(read('bitcoin')).toEqual(own);
  expect(read('bitcoin', 'litecoin')).toEqual({ ...own, USD: { BTC: '7', LTC: '80' } });
});

it('has the coins of a network that the registry alone knows, and says where a new coin is missing', () => {
  const [native, token] = evmChain.assets;
  const id = evmChain.network.id;
  let leave = register([{ ...native, asset: 'ETH' }, token], evmChain.network);
  try {
    expect(read(id).USD).toEqual({ OTH: '3200', USDT_OTHER: '1' });
  } finally {
    leave();
  }
  leave = register(evmChain.assets, evmChain.network);
  try {
    rmSync(join(dataDir, 'prices.json'));
    expect(() => read(id)).toThrow('No price and no float of OTH (sandbox/play-money.ts)');
  } finally {
    leave();
  }
});
