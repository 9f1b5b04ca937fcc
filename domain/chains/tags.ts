import { DomainError } from '../errors';
import { isByLightning, networks, type Asset, type DestinationTags, type NetworkId } from './assets';

/** Destination tags tell the receivers behind one address apart: money that comes without its tag is lost. */

type Tagged = Pick<Asset, 'currency' | 'network' | 'requiresDestinationTag'>;

const tagsOf = ({ network }: Tagged): DestinationTags | undefined => networks[network].destinationTags;

/** Do payments of the network share one account of ours, told apart by tags? It is the treasury's own: what comes there
 *  is where it will be spent, and no sweep moves it. docs/decisions/0076-one-account-for-all.md */
export const sharesAccount = (network: NetworkId): boolean => networks[network].destinationTags !== undefined;

/** The tag of money that operators bring to such an account themselves; null: there is none. No payment gets it, and
 *  what comes without any tag may be a payer's. */
export const capitalTag = (network: NetworkId): string | null => networks[network].destinationTags?.largest ?? null;

/** Can the asset be received and sent? Not where it requires a tag that its network's transactions would not carry. */
export const isCarried = (asset: Tagged): boolean => !asset.requiresDestinationTag || tagsOf(asset) !== undefined;

/** A tag as it is stored and compared: digits without leading zeros. null: it is no tag of the asset's network. */
export function normalTag(asset: Tagged, tag: string): string | null {
  const rules = tagsOf(asset);
  if (!rules || !/^\d{1,20}$/.test(tag)) return null;
  const value = BigInt(tag);
  return value > BigInt(rules.largest) ? null : value.toString();
}

/** What is wrong with an address of the asset that is given with this tag, or without one; null: nothing. */
export function faultOfTag(asset: Tagged, tag: string | null | undefined): string | null {
  const { currency, requiresDestinationTag } = asset;
  if (!tag) return requiresDestinationTag ? `${currency} needs a destination tag` : null;
  const rules = tagsOf(asset);
  if (!rules) return requiresDestinationTag ? null : `${currency} has no destination tags`;
  return normalTag(asset, tag) === null
    ? `a destination tag of ${currency} is a whole number up to ${rules.largest}`
    : null;
}

/** The tag of an address that people give, as it is stored; null: the asset has none. Throws VALIDATION_ERROR for a tag
 *  that its network would lose, for one that it does not have, and for an address that needs one and has none;
 *  CURRENCY_NOT_AVAILABLE where nothing would carry it. */
export function readTag(asset: Tagged, tag: string | null | undefined): string | null {
  const fault = faultOfTag(asset, tag);
  if (fault) throw new DomainError('VALIDATION_ERROR', `destinationTag: ${fault}`);
  checkCarried(asset);
  return tag ? normalTag(asset, tag) : null;
}

/** Refuses an address of the merchant's own to settle to, where it has a tag, which sweeps do not carry, or where no
 *  sweep brings anything there. Throws as `readTag`. */
export function checkSettlement(asset: Tagged, tag: string | null | undefined): void {
  if (!isByLightning(asset.currency) && readTag(asset, tag) === null) return;
  throw new DomainError('VALIDATION_ERROR', `settlementAddress: ${asset.currency} settles to the service alone`);
}

/** Refuses an asset that would be received or sent without the tag that it requires. Throws CURRENCY_NOT_AVAILABLE. */
export function checkCarried(asset: Tagged): void {
  if (!isCarried(asset)) throw new DomainError('CURRENCY_NOT_AVAILABLE');
}

/** A receiver: an address, and the tag behind it where its asset has tags. */
export type Destination = Readonly<{ address: string; tag?: string }>;

/** The receiver that a row names. */
export const destinationOf = (row: Readonly<{ address: string; destination_tag: string | null }>): Destination => ({
  address: row.address,
  ...(row.destination_tag === null ? {} : { tag: row.destination_tag }),
});

/** The same receiver with the tag of another shape, absent where there is none. */
export const tagIn = ({ tag }: Readonly<{ tag?: string | undefined }>): Readonly<{ tag?: string }> =>
  tag === undefined ? {} : { tag };

/** One text for each receiver. */
export const receiverOf = ({ address, tag }: Destination): string =>
  tag === undefined ? address : `${address}:${tag}`;
