import { buffer } from 'node:stream/consumers';
// part: take
import type { IncomingHttpHeaders } from 'node:http';
import { webhooks, type PaymentEvent } from '@crypto-payment-service/sdk';

const paid: readonly string[] = ['CONFIRMED', 'SWEEP_QUEUED', 'SETTLED'];

/** What your server does with a webhook: its body as it came, and its headers. */
async function take(rawBody: Uint8Array, headers: IncomingHttpHeaders): Promise<void> {
  const event = await webhooks.unwrap(rawBody, headers, process.env.WEBHOOK_SECRET!);
  if (!event.type.startsWith('payment.')) return;
  const { merchantOrderId, parentPaymentId, status } = (event as PaymentEvent).data;
  if (paid.includes(status) && !parentPaymentId) console.log('paid', merchantOrderId);
}
// end

const { WEBHOOK_ID, WEBHOOK_TIMESTAMP, WEBHOOK_SIGNATURE } = process.env;
await take(await buffer(process.stdin), {
  'webhook-id': WEBHOOK_ID,
  'webhook-timestamp': WEBHOOK_TIMESTAMP,
  'webhook-signature': WEBHOOK_SIGNATURE,
});
