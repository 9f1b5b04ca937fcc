import { CryptoPayments } from '@crypto-payment-service/sdk';

const { API_URL, API_KEY, ORDER_ID } = process.env;
const client = new CryptoPayments({ baseUrl: API_URL, apiKey: API_KEY });

const payment = await client.payments.create(
  { amount: 25, currency: 'BTC', merchantOrderId: ORDER_ID },
  { idempotencyKey: ORDER_ID },
);
console.log(JSON.stringify(payment));
