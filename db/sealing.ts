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

/** Secrets at rest under SECRETS_KEY: what must be read again is sealed (AES-256-GCM), what is only compared is hashed
 *  (HMAC). */

/** Keys for their own purpose, so that no two uses share one. Outside production any text serves as a key. */
function keyFor(secretsKey: string, purpose: string): Buffer {
  const master = /^[0-9a-f]{64}$/.test(secretsKey)
    ? Buffer.from(secretsKey, 'hex')
    : createHash('sha256').update(secretsKey).digest();
  return Buffer.from(hkdfSync('sha256', master, '', `crypto-payments/${purpose}`, 32));
}

const cached = new Map<string, Buffer>();
function keyOf(secretsKey: string, purpose: string): Buffer {
  const name = `${purpose}/${secretsKey}`;
  let key = cached.get(name);
  if (!key) cached.set(name, (key = keyFor(secretsKey, purpose)));
  return key;
}

/** `secret`, readable again only with the same key: `v1.<nonce>.<tag>.<text>`, base64url. */
export function seal(secretsKey: string, secret: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keyOf(secretsKey, 'sealing'), nonce);
  const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return ['v1', ...[nonce, cipher.getAuthTag(), text].map((part) => part.toString('base64url'))].join('.');
}

/** What `seal` was given. Throws where the text was changed or the key is another. */
export function openSealed(secretsKey: string, sealed: string): string {
  const [version, nonce, tag, text] = sealed.split('.');
  if (version !== 'v1' || !nonce || !tag || text === undefined) throw new Error('Not a sealed secret');
  const decipher = createDecipheriv('aes-256-gcm', keyOf(secretsKey, 'sealing'), Buffer.from(nonce, 'base64url'), {
    authTagLength: 16,
  });
  decipher.setAuthTag(Buffer.from(tag, 'base64url'));
  return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()]).toString('utf8');
}

/** Keyed hash of a random token: the same token, the same hash; useless without the key. */
export const tokenHash = (secretsKey: string, token: string): string =>
  createHmac('sha256', keyOf(secretsKey, 'tokens')).update(token).digest('hex');

const proofDigits = 40;
const proofOf = (secretsKey: string, purpose: string, id: string): string =>
  tokenHash(secretsKey, `${purpose}/${id}`).slice(0, proofDigits);

/** The secret part of a link about `id`: 64 hex digits, made from our key and kept nowhere, so that who reads the
 *  database cannot make one. */
export const linkToken = (secretsKey: string, purpose: string, id: string): string =>
  id + proofOf(secretsKey, purpose, id);

/** The id in a token of `linkToken` with this purpose; null for all others. */
export function idInLink(secretsKey: string, purpose: string, token: string): string | null {
  const [id, proof] = [token.slice(0, 24), token.slice(24)];
  if (!isId(id) || !/^[0-9a-f]+$/.test(proof) || proof.length !== proofDigits) return null;
  return timingSafeEqual(Buffer.from(proof), Buffer.from(proofOf(secretsKey, purpose, id))) ? id : null;
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

/** A key for signing tokens of our own. */
export const signingKey = (secretsKey: string): Uint8Array => keyOf(secretsKey, 'session tokens');
