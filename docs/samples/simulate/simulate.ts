import { CryptoPayments } from '@crypto-payment-service/sdk';

const client = new CryptoPayments({ baseUrl: process.env.API_URL!, apiKey: process.env.API_KEY! });
const paymentId = process.env.PAYMENT_ID!;

// part: simulate
const { txId } = await client.testMode.simulate(paymentId, { scenario: 'paid' });
// end
console.log(txId);
