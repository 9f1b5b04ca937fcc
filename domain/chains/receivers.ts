import { readAddress, type AddressReader } from './address';
import type { Asset } from './assets';
import { readTag, tagIn, type Destination } from './tags';

/** Receivers that people name, at every door that takes them: an address with its tag in it, or beside it. */

/** What an address with a tag in it stands for; every other as it was given. Throws INVALID_ADDRESS, and
 *  VALIDATION_ERROR where another tag is given beside it. */
export function unpacked(codec: AddressReader, given: Destination): Destination {
  const { readDestination } = codec;
  // A codec refuses such an address as one that is not taken apart, and says what it stands for.
  const isPacked = codec.refusalOf(given.address) !== null;
  return readDestination && isPacked ? readDestination(given.address, given.tag) : given;
}

/** A receiver as its network spells it, with the tag that is stored. Throws as `unpacked`, `readAddress` and
 *  `readTag`. */
export function readReceiver(
  codec: AddressReader,
  asset: Asset,
  given: Readonly<{ address: string; destinationTag?: string }>,
): Readonly<{ address: string; destinationTag: string | null }> {
  const own = unpacked(codec, { address: given.address, ...tagIn({ tag: given.destinationTag || undefined }) });
  return { address: readAddress(codec, own.address), destinationTag: readTag(asset, own.tag) };
}
