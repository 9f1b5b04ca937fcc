import { createHmac } from 'node:crypto';
import { DomainError } from '../../domain/errors';
import { hashOf } from './answers';

/** Preimages of our invoices. None is stored: each follows from a key, which only the process that speaks to the node
 *  has, and from the id of the invoice's row. See docs/decisions/0061-preimages-are-derived.md. */

/** 32 bytes as hex. The first makes new preimages; those after it have made the preimages of open invoices. */
export type PreimageKeys = readonly [first: string, ...earlier: string[]];

export type Preimage = Readonly<{ preimage: string; hash: string }>;

/** Reads the keys as they are configured: hex, parted by commas. Throws where one is no key. */
export function preimageKeysIn(text: string): PreimageKeys {
  const [first, ...earlier] = text.split(',').map((one) => one.trim());
  for (const one of [first!, ...earlier])
    if (!/^[0-9a-f]{64}$/.test(one)) throw new Error('A key of Lightning preimages is 32 bytes as lower-case hex');
  return [first!, ...earlier];
}

function preimageBy(key: string, invoiceId: string): Preimage {
  const preimage = createHmac('sha256', Buffer.from(key, 'hex'))
    .update(`crypto-payments/lightning preimage/${invoiceId}`)
    .digest('hex');
  return { preimage, hash: hashOf(preimage) };
}

/** The preimage of an invoice that has no hash yet. */
export const newPreimage = ([first]: PreimageKeys, invoiceId: string): Preimage => preimageBy(first, invoiceId);

/** The hashes that an invoice would have by earlier keys. */
export const earlierHashes = ([, ...earlier]: PreimageKeys, invoiceId: string): string[] =>
  earlier.map((key) => preimageBy(key, invoiceId).hash);

/** The preimage of the hash that an invoice was given. Throws INTENT_MISMATCH where no key has made it. */
export function preimageOf(keys: PreimageKeys, invoiceId: string, hash: string): Preimage {
  const found = keys.map((key) => preimageBy(key, invoiceId)).find((one) => one.hash === hash);
  if (!found)
    throw new DomainError('INTENT_MISMATCH', `No key of ours made the hash of Lightning invoice ${invoiceId}`);
  return found;
}
