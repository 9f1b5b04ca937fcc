/** The demo login of a sandbox, from the link that its start prints. It is in the fragment, which no server sees; the
 *  page that reads it takes it out of the address. Code for the authenticator is made here, because nobody has the
 *  demo's phone. */

export type Demo = Readonly<{ email: string; password: string; totpSecret: string }>;

export function readDemo(): Demo | null {
  const given = new URLSearchParams(window.location.hash.slice(1));
  const [email, password, totpSecret] = ['email', 'password', 'totp'].map((name) => given.get(name));
  if (!email || !password || !totpSecret) return null;
  window.history.replaceState(window.history.state, '', window.location.pathname);
  return { email, password, totpSecret };
}

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
