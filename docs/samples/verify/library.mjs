// npm install standardwebhooks
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const { WEBHOOK_ID, WEBHOOK_TIMESTAMP, WEBHOOK_SIGNATURE, WEBHOOK_SECRET } = process.env;
const event = new Webhook(WEBHOOK_SECRET).verify(await text(process.stdin), {
  'webhook-id': WEBHOOK_ID,
  'webhook-timestamp': WEBHOOK_TIMESTAMP,
  'webhook-signature': WEBHOOK_SIGNATURE,
});
console.log(JSON.stringify(event));
