import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { assetsOn, type NetworkId } from '../domain/chains/assets';
import { playMoney } from './play-money';

type Prices = Readonly<{
  takenAt: string;
  /** Of a whole coin, by currency. */
  USD: Readonly<Record<string, string>>;
  /** Of a dollar. */
  fiat: Readonly<Record<string, string>>;
}>;
const fresh: Prices = { takenAt: 'now', USD: {}, fiat: { EUR: '0.92', GBP: '0.79', JPY: '151' } };

/** The file that RATE_SOURCE=file reads; whoever edits it changes the prices of the sandbox. What it lacks of the
 *  assets of these networks is put in. */
export function pricesOf(dataDir: string, networks: readonly NetworkId[]): string {
  const file = join(dataDir, 'prices.json');
  const isThere = existsSync(file);
  const known = isThere ? (JSON.parse(readFileSync(file, 'utf8')) as Prices) : fresh;
  const own = assetsOn(networks);
  if (isThere && own.every(({ currency }) => currency in known.USD)) return file;
  const usual = Object.fromEntries(own.map((asset) => [asset.currency, playMoney(asset).usd]));
  writeFileSync(file, `${JSON.stringify({ ...known, USD: { ...usual, ...known.USD } }, null, 2)}\n`);
  return file;
}
