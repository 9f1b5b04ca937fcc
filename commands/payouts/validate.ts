import { freshUnitPrices } from '../../db/chains/fees';
import { keyOf } from '../../db/payouts/payouts';
import { pricesNow } from '../../db/pricing/pricing';
import type { Queryable } from '../../db/query';
import { DomainError } from '../../domain/errors';
import { type Asset, type NetworkId, assetOf, isByLightning, networkOf } from '../../domain/chains/assets';
import { givenAddress, type AddressReader } from '../../domain/chains/address';
import { unpacked } from '../../domain/chains/receivers';
import type { Destination } from '../../domain/chains/tags';
import { add, isAmount, trim } from '../../domain/money';
import { coinsFor } from '../treasury/coins-for';
import {
  type PayoutRow,
  type ValidatedBatch,
  assetIn,
  lightningReceiver,
  receiverIn,
  validateBatch,
} from '../../domain/payouts/payout';

export type Deps = Readonly<{
  codecs: Readonly<Record<NetworkId, AddressReader>>;
  rateMaxAgeSeconds: number;
  /** Present: money leaves by Lightning. */
  lightning?: object | undefined;
}>;

/** Validates rows by the facts of now. With `lock` the whitelist entries that let them pass stay until the transaction
 *  ends. */
export async function validateRows(
  tx: Queryable,
  { codecs, rateMaxAgeSeconds, lightning }: Deps,
  merchantId: string,
  rows: readonly PayoutRow[],
  lock = false,
): Promise<ValidatedBatch> {
  const byLightning = lightning !== undefined;
  const receiverOf = ({ currency, network }: Asset, given: Destination) =>
    isByLightning(currency) ? lightningReceiver(given) : unpackedOr(codecs[network], given);
  const spellings = new Map<string, string | null>();
  for (const row of rows) {
    const asset = assetIn(row, byLightning);
    const receiver = asset && receiverOf(asset, receiverIn(row));
    if (!receiver || typeof receiver === 'string') continue;
    const { address } = receiver;
    const spelt = isByLightning(asset.currency) ? address : givenAddress(codecs[asset.network], address);
    spellings.set(spellingKey(asset, address), spelt);
  }
  const addresses = [...new Set([...spellings.values()].filter((one) => one !== null))];
  const ours = new Set(
    (
      await tx.query<Array<{ address: string }>>(
        `SELECT DISTINCT address FROM address WHERE address = ANY($1) AND tag = ''`,
        [addresses],
      )
    ).map((row) => row.address),
  );
  const listed = new Set(
    (
      await tx.query<Array<{ currency: string; address: string; destination_tag: string | null }>>(
        `SELECT currency, address, destination_tag FROM whitelist_entry WHERE merchant_id = $1 AND type = 'wallet'
           AND address = ANY($2)
            AND active_at <= now() AND removed_at IS NULL ${lock ? 'FOR SHARE' : ''}`,
        [merchantId, addresses],
      )
    ).map(({ currency, address, destination_tag }) => keyOf(currency, address, destination_tag)),
  );
  const fees = await freshUnitPrices(tx);
  const prices = await pricesNow(tx, { merchantId: null, fiat: 'USD', maxAgeSeconds: rateMaxAgeSeconds });
  const balances = await tx.query<Array<{ asset: string; amount: string }>>(
    'SELECT asset, amount::text FROM balance WHERE account = $1',
    [`L:available:${merchantId}`],
  );
  const coins: Record<string, number> = {};
  for (const [currency, amount] of totalsOf(rows))
    if (fees.has(assetOf(currency).network)) coins[currency] = await coinsFor(tx, currency, amount);
  return validateBatch(rows, {
    byLightning,
    coins,
    priceOf(currency) {
      const unitPrice = fees.get(assetOf(currency).network);
      const nativeRate = networkOf(currency).native === currency ? '1' : prices.get(currency)?.nativeRate;
      return unitPrice === undefined || nativeRate === undefined ? undefined : { unitPrice, nativeRate };
    },
    receiverOf,
    normalise(asset, address) {
      const spelt = spellings.get(spellingKey(asset, address)) ?? null;
      return spelt === null || ours.has(spelt) ? null : spelt;
    },
    refusalOf: ({ network }, address) => codecs[network].refusalOf(address),
    isListed: (currency, address, tag) => listed.has(keyOf(currency, address, tag)),
    balances: Object.fromEntries(balances.map(({ asset, amount }) => [asset, trim(amount)])),
  });
}

/** Lightning's addresses are of no network. */
const spellingKey = ({ currency, network }: Asset, address: string): string =>
  `${isByLightning(currency) ? currency : network} ${address}`;

/** Whom a row names, or what is wrong with that. */
function unpackedOr(codec: AddressReader, given: Destination): Destination | string {
  try {
    return unpacked(codec, given);
  } catch (error) {
    if (error instanceof DomainError) return error.message;
    throw error;
  }
}

/** What the rows ask for of each currency of a UTXO network, as far as they can be read. By Lightning no coins are
 *  spent. */
function totalsOf(rows: readonly PayoutRow[]): Map<string, string> {
  const totals = new Map<string, string>();
  for (const row of rows) {
    const asset = assetIn(row, false);
    const amount = row.amount.trim();
    if (asset && networkOf(asset.currency).kind === 'utxo' && isAmount(amount))
      totals.set(asset.currency, add(totals.get(asset.currency) ?? '0', amount));
  }
  return totals;
}
