import { hash160 } from '@scure/btc-signer/utils.js';
import {
  classicAddressToXAddress,
  decodeAccountID,
  encodeAccountID,
  xAddressToClassicAddress,
} from 'ripple-address-codec';
import type { Destination } from '../../domain/chains/tags';
import { DomainError } from '../../domain/errors';
import { largestUint32, type XrplChain } from './chain';

/** Addresses that nobody has the key of (xrpl.org: addresses, special addresses). */
const lost = new Set([
  'rrrrrrrrrrrrrrrrrrrrrhoLvTp',
  'rrrrrrrrrrrrrrrrrrrrBZbvji',
  'rrrrrrrrrrrrrrrrrNAMEtxvNvQ',
  'rrrrrrrrrrrrrrrrrrrn5RM1rHd',
]);

/** The classic address of a compressed secp256k1 key. */
export const addressOf = (publicKey: Uint8Array): string => encodeAccountID(hash160(publicKey));

/** A classic address, or null where its checksum or form is wrong, or where nobody has its key. The networks share one
 *  form: only X-addresses tell test networks from the main one. */
export function normalise(address: string): string | null {
  try {
    const own = encodeAccountID(decodeAccountID(address));
    return own === address && !lost.has(own) ? own : null;
  } catch {
    return null; // another length, letter or checksum
  }
}

type Packed = Readonly<{ address: string; tag: string | null; isTest: boolean }>;

/** What an X-address holds (XLS-5), or null where it is none. `tag` null: its receiver wants none. */
function unpack(text: string): Packed | null {
  try {
    const { classicAddress, tag, test } = xAddressToClassicAddress(text);
    // The library ignores bytes after the tag, so one receiver would have many spellings.
    if (classicAddressToXAddress(classicAddress, tag, test) !== text) return null;
    return { address: classicAddress, tag: tag === false ? null : String(tag), isTest: test };
  } catch {
    return null; // no X-address, or one with a tag of 64 bits
  }
}

/** Digits without leading zeros. Throws VALIDATION_ERROR where it is no destination tag. */
function readTag(tag: string): string {
  const value = /^\d{1,20}$/.test(tag) ? BigInt(tag) : null;
  if (value === null || value > BigInt(largestUint32))
    throw new DomainError('VALIDATION_ERROR', `A destination tag of XRP is a whole number up to ${largestUint32}`);
  return value.toString();
}

const kindOf = (isTest: boolean): string => (isTest ? 'a test network' : 'the main network');

/** Why an address that is right by itself cannot be paid here. null: nothing is known against it. */
export function refusalOf(chain: XrplChain, text: string): string | null {
  const packed = unpack(text);
  if (!packed) return lost.has(text) ? `Nobody has the key of ${text}: what is sent there is lost` : null;
  if (packed.isTest !== chain.isTest)
    return `This X-address is of ${kindOf(packed.isTest)}, and this is ${kindOf(chain.isTest)}`;
  const tag = packed.tag === null ? 'without a tag' : `with the tag ${packed.tag}`;
  return `This X-address stands for ${packed.address} ${tag}`;
}

/** The receiver that a person names: a classic address with a tag beside it or without one, or an X-address, which has
 *  the tag in it. Throws INVALID_ADDRESS; VALIDATION_ERROR for a tag that is none, or another than the X-address
 *  has. */
export function readDestination(chain: XrplChain, text: string, beside?: string): Destination {
  const tag = beside === undefined ? null : readTag(beside);
  const packed = unpack(text);
  if (packed && packed.isTest !== chain.isTest) throw new DomainError('INVALID_ADDRESS', refusalOf(chain, text)!);
  if (packed && tag !== null && tag !== packed.tag) {
    const held = packed.tag === null ? 'says that its receiver has no tag' : `has the tag ${packed.tag} in it`;
    throw new DomainError(
      'VALIDATION_ERROR',
      `The X-address ${held}, and ${tag} was given beside it: give one of them`,
    );
  }
  const address = normalise(packed?.address ?? text);
  if (address === null)
    throw new DomainError(
      'INVALID_ADDRESS',
      refusalOf(chain, packed?.address ?? text) ?? 'Not an address of the XRP Ledger: copy it again',
    );
  const own = packed ? packed.tag : tag;
  return own === null ? { address } : { address, tag: own };
}

/** The X-address of a receiver, for people to copy: it cannot be copied without its tag. */
export const xAddressOf = (chain: XrplChain, { address, tag }: Destination): string =>
  classicAddressToXAddress(address, tag === undefined ? false : parseInt(readTag(tag), 10), chain.isTest);
