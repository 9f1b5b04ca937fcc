import { CryptoPaymentsError } from './errors.js';
import type { Event } from './generated/resources.js';

/** Webhooks by the Standard Webhooks scheme: verified first, parsed afterwards. */

export class WebhookVerificationError extends CryptoPaymentsError {
  constructor(
    readonly reason: 'missing_header' | 'bad_timestamp' | 'too_old' | 'too_new' | 'bad_signature' | 'bad_body',
    message: string,
  ) {
    super(message);
  }
}

type HeaderBag = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export type UnwrapOptions = Readonly<{
  /** How far the timestamp may be from this clock; 300 seconds unless given. */
  toleranceSeconds?: number;
  /** This clock, in milliseconds. */
  now?: number;
}>;

/** The event of a webhook. `rawBody` is the body as it came, before any parser. `secret` is the endpoint's `whsec_…`;
 *  of several, any may fit. Throws WebhookVerificationError: answer 400, and do nothing else. */
export async function unwrap(
  rawBody: string | Uint8Array,
  headers: HeaderBag,
  secret: string | readonly string[],
  options: UnwrapOptions = {},
): Promise<Event> {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  checkTimestamp(timestamp, options);
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody;
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(head.length + body.length);
  signed.set(head);
  signed.set(body, head.length);
  const secrets = typeof secret === 'string' ? [secret] : (secret ?? []); // programs without types may give none
  if (!secrets.length) throw new TypeError('The secret of the webhook is missing');
  const isOurs = (await Promise.all(secrets.map((one) => fits(one, signatures, signed)))).includes(true);
  if (!isOurs) throw new WebhookVerificationError('bad_signature', 'No signature of this webhook fits its secret');
  return eventOf(body, id);
}

function checkTimestamp(text: string, { toleranceSeconds = 300, now = Date.now() }: UnwrapOptions): void {
  if (!/^\d{1,12}$/.test(text)) throw new WebhookVerificationError('bad_timestamp', 'webhook-timestamp is no time');
  const age = Math.floor(now / 1000) - Number(text);
  if (age > toleranceSeconds) throw new WebhookVerificationError('too_old', `The webhook is ${age} seconds old`);
  if (age < -toleranceSeconds)
    throw new WebhookVerificationError('too_new', `The webhook is from ${-age} seconds ahead: check this clock`);
}

/** Whether one of the `v1` signatures was made with the secret. Compared by WebCrypto, in constant time. */
async function fits(secret: string, signatures: string, signed: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const bytes = bytesOf(secret.replace(/^whsec_/, ''));
  if (!bytes || bytes.length === 0) throw new TypeError('The secret of a webhook is whsec_ and base64');
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
  const given = signatures
    .split(' ')
    .filter((entry) => entry.startsWith('v1,'))
    .map((entry) => bytesOf(entry.slice(3)));
  const checks = given.map((one) => (one ? crypto.subtle.verify('HMAC', key, one, signed) : false));
  return (await Promise.all(checks)).includes(true);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined; // no base64: fits nothing
  }
}

function headerOf(headers: HeaderBag, name: string): string {
  const found =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  const value = Array.isArray(found) ? (found as readonly string[])[0] : (found as string | null | undefined);
  if (!value) throw new WebhookVerificationError('missing_header', `The request has no ${name}`);
  return value;
}

function eventOf(body: Uint8Array, id: string): Event {
  let event: unknown;
  try {
    event = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(body));
  } catch {
    throw new WebhookVerificationError('bad_body', 'The body of the webhook is no JSON');
  }
  if (typeof event !== 'object' || event === null || (event as { id?: unknown }).id !== id)
    throw new WebhookVerificationError('bad_body', 'The body of the webhook is no event of this id');
  return event as Event;
}
