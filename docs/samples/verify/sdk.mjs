import { buffer } from 'node:stream/consumers';
import { webhooks } from '@crypto-payment-service/sdk';

const { WEBHOOK_ID, WEBHOOK_TIMESTAMP, WEBHOOK_SIGNATURE, WEBHOOK_SECRET } = process.env;
const headers = {
  'webhook-id': WEBHOOK_ID,
  'webhook-timestamp': WEBHOOK_TIMESTAMP,
  'webhook-signature': WEBHOOK_SIGNATURE,
};
const event = await webhooks.unwrap(await buffer(process.stdin), headers, WEBHOOK_SECRET);
console.log(JSON.stringify(event));
