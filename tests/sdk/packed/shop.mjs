import { ApiError, CryptoPayments, webhooks } from '@crypto-payment-service/sdk';

// What a shop does, with the packed SDK as ES modules: tests/sdk/stack.test.ts runs it on each version of Node.
const { API_URL, API_KEY, ORDER_ID, WEBHOOK_SECRET, WEBHOOK } = process.env;
const client = new CryptoPayments({ baseUrl: API_URL, apiKey: API_KEY });

const payment = await client.payments.create({ amount: 25, currency: 'BTC', merchantOrderId: ORDER_ID });
const refusal = await client.payments.get('f'.repeat(24)).catch((error) => error);
const { body, headers } = JSON.parse(WEBHOOK);
const event = await webhooks.unwrap(Buffer.from(body, 'base64'), headers, WEBHOOK_SECRET);

const told = refusal instanceof ApiError && refusal.is('PAYMENT_NOT_FOUND') ? refusal.code : String(refusal);
console.log(JSON.stringify({ version: process.version, paymentId: payment.paymentId, told, type: event.type }));
