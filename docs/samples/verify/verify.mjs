import { createHmac, timingSafeEqual } from 'node:crypto';
import { buffer } from 'node:stream/consumers';

/** The event, or an error. `body` is a Buffer of the body as it came; of the headers three are read. */
export function verify(body, headers, secret) {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) throw new Error('Too old, or from ahead');
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  if (key.length < 24) throw new Error('WEBHOOK_SECRET is missing, or no secret');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  const isOurs = (headers['webhook-signature'] ?? '').split(' ').some((entry) => {
    const [version, signature = ''] = entry.split(',');
    const given = Buffer.from(signature, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!isOurs) throw new Error('No signature fits');
  return JSON.parse(body.toString('utf8'));
}

const { WEBHOOK_ID, WEBHOOK_TIMESTAMP, WEBHOOK_SIGNATURE, WEBHOOK_SECRET } = process.env;
const headers = {
  'webhook-id': WEBHOOK_ID,
  'webhook-timestamp': WEBHOOK_TIMESTAMP,
  'webhook-signature': WEBHOOK_SIGNATURE,
};
console.log(JSON.stringify(verify(await buffer(process.stdin), headers, WEBHOOK_SECRET)));
