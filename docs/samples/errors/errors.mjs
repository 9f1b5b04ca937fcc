import { ApiError, CryptoPayments, NotFoundError } from '@crypto-payment-service/sdk';

const { API_URL, API_KEY } = process.env;
const client = new CryptoPayments({ baseUrl: API_URL, apiKey: API_KEY });

try {
  await client.payments.get('ffffffffffffffffffffffff');
} catch (error) {
  if (error instanceof NotFoundError) console.log(error.code, error.requestId !== undefined);
  else throw error;
}
try {
  await client.conversions.quote({ fromCurrency: 'BTC', toCurrency: 'BTC', fromAmount: '1' });
} catch (error) {
  if (error instanceof ApiError && error.is('SAME_CURRENCY')) console.log(error.code, error.status);
  else throw error;
}
