import { CryptoPayments } from '@crypto-payment-service/sdk';

const client = new CryptoPayments({ baseUrl: process.env.API_URL!, apiKey: process.env.API_KEY! });

const payment = await client.payments.create(
  { amount: 25, currency: 'BTC', merchantOrderId: 'order-1' },
  { idempotencyKey: 'order-1' },
);
console.log(payment.paymentId, payment.depositAddress);
