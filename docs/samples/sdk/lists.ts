import { CryptoPayments } from '@crypto-payment-service/sdk';

const client = new CryptoPayments({ baseUrl: process.env.API_URL!, apiKey: process.env.API_KEY! });

// part: read
const { items, total } = await client.payments.list({ status: 'WAITING' });
console.log(`${items.length} of ${total}`);
for await (const payment of client.payments.list({ status: 'WAITING' })) console.log(payment._id);
// end
