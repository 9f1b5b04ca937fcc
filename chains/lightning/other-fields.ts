import { isPointCompressed } from 'tiny-secp256k1';
import { bytesIn, refused, type Words } from './words';

/** Fields of invoices that say nothing to us. Our node reads them, and refuses the invoice for one that is malformed:
 *  it is refused here instead, before any money is held for it. Source: `zpay32/decode.go` of lnd v0.20. */

/** Key, channel, two fees and blocks of each node on a way. */
const [keyBytes, hopBytes] = [33, 51];
/** Bytes of an address by its version; another version is of a future that nobody knows, and is passed over. */
const addressBytes: Readonly<Record<number, readonly number[]>> = { 0: [20, 32], 1: [32], 17: [20], 18: [20] };

function checkWay(words: Words): void {
  const bytes = bytesIn(words, 'r');
  const starts = Array.from({ length: bytes.length / hopBytes }, (_, n) => n * hopBytes);
  const isWay = bytes.length > 0 && bytes.length % hopBytes === 0;
  if (!isWay || !starts.every((at) => isPointCompressed(bytes.subarray(at, at + keyBytes))))
    throw refused('its way through another node is none');
}

function checkAddress(words: Words): void {
  const [version, ...rest] = words;
  const lengths = version === undefined ? undefined : addressBytes[version];
  if (!rest.length || (lengths && !lengths.includes(bytesIn(rest, 'f').length)))
    throw refused('its address of the chain is none');
}

const checks: Readonly<Record<number, (words: Words) => void>> = {
  3: checkWay,
  9: checkAddress,
  // Beside the secret that an invoice must have here it has no use, and lnd can fail of one.
  20: () => {
    throw refused('it names a blinded way beside its payment secret');
  },
  27: (words) => void bytesIn(words, 'm'),
};

/** Throws INVALID_ADDRESS where our node would refuse the invoice for it. */
export const checkOtherField = (type: number, words: Words): void => checks[type]?.(words);
