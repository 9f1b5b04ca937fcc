/** The demo login of a sandbox, from the link that its start prints. Code for the authenticator is made here, because
 *  nobody has the demo's phone. */

export type Demo = Readonly<{ email: string; password: string; totpSecret: string }>;

/** The names of its parts in the link. */
export const demoSecrets = ['email', 'password', 'totp'] as const;

/** Null where a part is missing. */
export const demoOf = (given: Readonly<Record<(typeof demoSecrets)[number], string>>): Demo | null =>
  given.email && given.password && given.totp
    ? { email: given.email, password: given.password, totpSecret: given.totp }
    : null;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function bytesOf(base32: string): Uint8Array<ArrayBuffer> {
  const bits = [...base32.toUpperCase().replaceAll('=', '')]
    .map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}

/** RFC 6238: SHA-1, 6 digits, 30 s. */
export async function codeNow(secret: string, now = Date.now()): Promise<string> {
  const key = await crypto.subtle.importKey('raw', bytesOf(secret), { name: 'HMAC', hash: 'SHA-1' }, false, ['sign']);
  const counter = new DataView(new ArrayBuffer(8));
  counter.setBigUint64(0, BigInt(Math.floor(now / 30_000)));
  const mac = new DataView(await crypto.subtle.sign('HMAC', key, counter));
  const at = mac.getUint8(mac.byteLength - 1) & 15;
  return String((mac.getUint32(at) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
