import { createBase58check, hex } from '@scure/base';
import { createHash } from 'node:crypto';
import { keccak256 } from 'viem';

/** Addresses: one byte 0x41 and the last 20 bytes of a public key's Keccak-256. The network writes them in base58check
 *  (`T…`) or in hex (`41…`); inside this service they are base58. Accounts and keys, developers.tron.network. */

export const sha256 = (data: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(data).digest());
const base58check = createBase58check(sha256);

const prefix = 0x41;
const length = 21;

/** Whether a text is spelled as nodes spell addresses, without a checksum. */
export const isHex = (text: string): boolean => /^41[0-9a-f]{40}$/i.test(text);

/** The 21 bytes of an address in either spelling; null where it is none: length, prefix or checksum. */
function bytesIn(text: string): Uint8Array | null {
  if (isHex(text)) return hex.decode(text.toLowerCase());
  if (!/^T[1-9A-HJ-NP-Za-km-z]{33}$/.test(text)) return null;
  try {
    const bytes = base58check.decode(text);
    return bytes.length === length && bytes[0] === prefix ? bytes : null;
  } catch {
    return null; // the decoder throws for a wrong checksum, and for nothing else here
  }
}

/** An address of either spelling in base58, or null. */
export function base58Of(text: string): string | null {
  const bytes = bytesIn(text);
  return bytes && base58check.encode(bytes);
}

/** The 21 bytes of an address. Throws where it is none. */
export function addressBytes(address: string): Uint8Array {
  const bytes = bytesIn(address);
  if (!bytes) throw new Error(`Not an address of TRON: ${address}`);
  return bytes;
}

/** As nodes write it: 41 and 40 hexadecimal digits. */
export const hexOf = (address: string): string => hex.encode(addressBytes(address));

/** As contracts know it: 20 bytes with 0x. */
export const evmAddress = (address: string): `0x${string}` => `0x${hexOf(address).slice(2)}`;

/** Of 20 bytes in hex, as logs and call data have them. */
export const fromEvm = (digits: string): string => base58check.encode(hex.decode(`41${digits.toLowerCase()}`));

/** Of 21 bytes. Throws where they are no address. */
export function fromBytes(bytes: Uint8Array): string {
  const address = base58Of(hex.encode(bytes));
  if (!address) throw new Error(`Not an address of TRON: ${hex.encode(bytes)}`);
  return address;
}

/** `publicKey`: uncompressed, 65 bytes. */
export const addressOfKey = (publicKey: Uint8Array): string => fromEvm(keccak256(publicKey.subarray(1)).slice(26));

/** Nobody has its key. */
export const zeroAddress = fromEvm('00'.repeat(20));
