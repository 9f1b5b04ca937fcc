import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, CryptoPayments } from '@crypto-payment-service/sdk';

const { API_URL, API_KEY, FROM, TO, AMOUNT, CONVERSION_REFERENCE } = process.env;
const client = new CryptoPayments({ baseUrl: API_URL, apiKey: API_KEY });
const pair = { fromCurrency: FROM, toCurrency: TO };

/** Executes a quote that the user has accepted; undefined where the market has moved too far for that. */
async function execute(quote) {
  try {
    return await client.conversions.execute({
      ...pair,
      fromAmount: quote.fromAmountStr,
      quotedRate: quote.exchangeRate,
      quotedToAmount: quote.toAmountStr,
      idempotencyKey: CONVERSION_REFERENCE,
    });
  } catch (error) {
    if (!(error instanceof ApiError && error.is('RATE_DRIFT'))) throw error;
    // Was it executed by an earlier request, whose answer was lost?
    const { items } = await client.conversions.list({ idempotencyKey: CONVERSION_REFERENCE });
    if (items.length > 0) return items[0];
    console.error(`RATE_DRIFT: you would now get ${error.data.newQuote.toAmountStr} ${TO}. Ask the user again.`);
    return undefined;
  }
}

const quote = await client.conversions.quote({ ...pair, fromAmount: AMOUNT });
let conversion = await execute(quote);
if (!conversion) process.exit(1);
while (['initializing', 'pending', 'processing'].includes(conversion.status)) {
  await sleep(2000);
  conversion = await client.conversions.get(conversion._id);
}
console.log(JSON.stringify(conversion));
