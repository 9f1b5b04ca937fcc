import { ObjectId } from 'bson';
import { randomBytes } from 'node:crypto';

/** A 24-hex id, ordered by time. */
export const newId = (): string => new ObjectId().toHexString();
/** An id counts seconds from 1970 to 2106. */
const lastSecond = 0xffff_ffff;
/** The smallest id that is made at this time or later. */
export const firstIdOf = (ms: number): string =>
  ObjectId.createFromTime(Math.min(Math.max(Math.floor(ms / 1000), 0), lastSecond)).toHexString();
export const isId = (text: unknown): text is string => typeof text === 'string' && /^[0-9a-f]{24}$/.test(text);

const alphabet = '23456789abcdefghjkmnpqrstuvwxyz';
/** The public id of an invoice: 20 characters, about 99 bits, never the shape of a 24-hex id. */
export function newSlug(): string {
  let slug = '';
  while (slug.length < 20) {
    // 248 = 31 × 8: bytes above it would favour some letters
    for (const byte of randomBytes(24)) if (byte < 248 && slug.length < 20) slug += alphabet[byte % 31];
  }
  return slug;
}
export const isSlug = (text: unknown): text is string =>
  typeof text === 'string' && /^[23456789a-hjkmnp-z]{20}$/.test(text);
