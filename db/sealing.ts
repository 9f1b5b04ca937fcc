import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  randomInt,
  timingSafeEqual,
} from 'node:crypto';
import { isId } from '../domain/ids';
import { keysIn } from '../domain/secrets-key';

/** Secrets at rest under SECRETS_KEY: what must be read again is sealed (AES-256-GCM), what is only compared is hashed
 *  (HMAC). Where it holds several keys, the first one seals and hashes, and what any of them has made is known. */

/** Keys for their own purpose, so that no two uses share one. Outside production any text serves as a key. */
function keyFor(secretsKey: string, purpose: string): Buffer {
  const master = /^[0-9a-f]{64}$/.test(secretsKey)
    ? Buffer.from(secretsKey, 'hex')
    : createHash('sha256').update(secretsKey).digest();
  return Buffer.from(hkdfSync('sha256', master, '', `crypto-payments/${purpose}`, 32));
}

type Keys = readonly [first: Buffer, ...earlier: Buffer[]];
const cached = new Map<string, Keys>();
function keysOf(secretsKey: string, purpose: string): Keys {
  const name = `${purpose}/${secretsKey}`;
  const known = cached.get(name);
  if (known) return known;
  const [first, ...earlier] = keysIn(secretsKey);
  const keys: Keys = [keyFor(first, purpose), ...earlier.map((one) => keyFor(one, purpose))];
  cached.set(name, keys);
  return keys;
}

/** `secret`, readable again only with the same key: `v1.<nonce>.<tag>.<text>`, base64url. */
export function seal(secretsKey: string, secret: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keysOf(secretsKey, 'sealing')[0], nonce);
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return ['v1', ...[nonce, cipher.getAuthTag(), text].map((part) => part.toString('base64url'))].join('.');
}

/** What `seal` was given. Throws where the text was changed or no key is the one that sealed it. */
export const openSealed = (secretsKey: string, sealed: string): string =>
  opened(keysOf(secretsKey, 'sealing'), sealed).secret;

/** What was sealed, under the first key; null where that has sealed it already. Throws as `openSealed`. */
export function sealedAnew(secretsKey: string, sealed: string): string | null {
  const keys = keysOf(secretsKey, 'sealing');
  const { secret, by } = opened(keys, sealed);
  return by === keys[0] ? null : seal(secretsKey, secret);
}

/** A secret, and which of the keys has sealed it. */
function opened([key, ...earlier]: Keys, sealed: string): Readonly<{ secret: string; by: Buffer }> {
  try {
    return { secret: openWith(key, sealed), by: key };
  } catch (error) {
    const [next, ...others] = earlier;
    if (!next) throw error;
    return opened([next, ...others], sealed);
  }
}

function openWith(key: Buffer, sealed: string): string {
  const [version, nonce, tag, text] = sealed.split('.');
  if (version !== 'v1' || !nonce || !tag || text === undefined) throw new Error('Not a sealed secret');
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), { authTagLength: 16 });
  decipher.setAuthTag(Buffer.from(tag, 'base64url'));
  return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()]).toString('utf8');
}

const hashWith = (key: Buffer, token: string): string => createHmac('sha256', key).update(token).digest('hex');

/** Keyed hash of a random token: the same token, the same hash; useless without the key. */
export const tokenHash = (secretsKey: string, token: string): string =>
  hashWith(keysOf(secretsKey, 'tokens')[0], token);

/** What a token may be kept as: its hash by each key, that of the first one first. */
export const tokenHashes = (secretsKey: string, token: string): string[] =>
  keysOf(secretsKey, 'tokens').map((key) => hashWith(key, token));

/** Tells keys apart in the database, and nothing about them: of the first one. */
export const keyMark = (secretsKey: string): string => keysOf(secretsKey, 'mark')[0].toString('hex').slice(0, 8);

const proofDigits = 40;
const proofOf = (key: Buffer, purpose: string, id: string): string =>
  hashWith(key, `${purpose}/${id}`).slice(0, proofDigits);

/** The secret part of a link about `id`: 64 hex digits, made from our key and kept nowhere, so that who reads the
 *  database cannot make one. */
export const linkToken = (secretsKey: string, purpose: string, id: string): string =>
  id + proofOf(keysOf(secretsKey, 'tokens')[0], purpose, id);

/** The id in a token of `linkToken` with this purpose; null for all others. */
export function idInLink(secretsKey: string, purpose: string, token: string): string | null {
  const [id, proof] = [token.slice(0, 24), token.slice(24)];
  if (!isId(id) || !/^[0-9a-f]+$/.test(proof) || proof.length !== proofDigits) return null;
  const isOf = (key: Buffer): boolean => timingSafeEqual(Buffer.from(proof), Buffer.from(proofOf(key, purpose, id)));
  return keysOf(secretsKey, 'tokens').some(isOf) ? id : null;
}

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** `length` random base62 characters, each equally likely. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    // 248 = 62 × 4: bytes above it would favour some letters
    for (const byte of randomBytes(length)) if (byte < 248 && text.length < length) text += letters[byte % 62];
  }
  return text;
}

/** `length` random decimal digits, each equally likely. */
export const randomDigits = (length: number): string => Array.from({ length }, () => randomInt(10)).join('');

/** Keys for tokens of our own: the first one signs, all verify. */
export const signingKeys = (secretsKey: string): readonly [Uint8Array, ...Uint8Array[]] =>
  keysOf(secretsKey, 'session tokens');
