import { CryptoPayments } from '@crypto-payment-service/sdk';

const { API_URL, API_KEY, PAYMENT_ID, REFUND_REFERENCE } = process.env;
const client = new CryptoPayments({ baseUrl: API_URL, apiKey: API_KEY });

// What would it take and cost? Nothing happens yet.
const preview = await client.refunds.preview(PAYMENT_ID, { type: 'full' });
console.log(JSON.stringify(preview));

// Without an address the refund has `claimUrl`: send this link to the payer, who names the address there.
const refund = await client.refunds.create(
  PAYMENT_ID,
  { type: 'full', reference: REFUND_REFERENCE },
  { idempotencyKey: REFUND_REFERENCE },
);
console.log(JSON.stringify(refund));
