import { buffer } from 'node:stream/consumers';
// part: take
import type { IncomingHttpHeaders } from 'node:http';
import { webhooks } from '@crypto-payment-service/sdk';

/** What your server does with a webhook: its body as it came, and its headers. */
async function take(rawBody: Uint8Array, headers: IncomingHttpHeaders): Promise<void> {
  const event = await webhooks.unwrap(rawBody, headers, process.env.WEBHOOK_SECRET!);
  if (event.type === 'payment.settled') console.log('paid', event.data.merchantOrderId);
}
// end

const { WEBHOOK_ID, WEBHOOK_TIMESTAMP, WEBHOOK_SIGNATURE } = process.env;
await take(await buffer(process.stdin), {
  'webhook-id': WEBHOOK_ID,
  'webhook-timestamp': WEBHOOK_TIMESTAMP,
  'webhook-signature': WEBHOOK_SIGNATURE,
});
