import { CryptoPayments } from '@crypto-payment-service/sdk';

const { API_URL, API_KEY } = process.env;
const client = new CryptoPayments({ baseUrl: API_URL, apiKey: API_KEY });

for await (const { _id, status, amount, currency, txId } of client.withdrawals.list())
  console.log('withdrawal', _id, status, amount, currency, txId ?? '');
for await (const { _id, status, label } of client.massPayouts.list()) {
  console.log('mass payout', _id, status, label ?? '');
  for await (const leg of client.massPayouts.listLegs(_id))
    console.log('  row', leg.rowIndex, leg.status, leg.amount, leg.currency, leg.address);
}
