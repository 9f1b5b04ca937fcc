import { setTimeout as sleep } from 'node:timers/promises';
import { CryptoPayments } from '@crypto-payment-service/sdk';

const { API_URL, API_KEY, REFUND_ID } = process.env;
const client = new CryptoPayments({ baseUrl: API_URL, apiKey: API_KEY });

let refund = await client.refunds.get(REFUND_ID);
// Payers and approvers take their time: a shop waits for the webhook, and does not ask every few seconds.
while (!['completed', 'failed', 'cancelled'].includes(refund.status)) {
  await sleep(2000);
  refund = await client.refunds.get(REFUND_ID);
}
console.log(JSON.stringify(refund));
