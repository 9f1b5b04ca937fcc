import { CryptoPayments } from '@crypto-payment-service/sdk';

const client = new CryptoPayments({ baseUrl: process.env.API_URL!, apiKey: process.env.API_KEY! });
const pair = { fromCurrency: 'ETH', toCurrency: 'USDT_ERC20' };
const quote = await client.conversions.quote({ ...pair, fromAmount: '0.5' });
const order = { ...pair, fromAmount: quote.fromAmountStr, quotedRate: quote.exchangeRate };

// part: catch
import { ApiError } from '@crypto-payment-service/sdk';

try {
  await client.conversions.execute(order);
} catch (error) {
  if (error instanceof ApiError && error.is('RATE_DRIFT')) console.log(error.data.newQuote.toAmountStr);
  else throw error;
}
// end
