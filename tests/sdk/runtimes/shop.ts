import {
  ApiError,
  CryptoPayments,
  webhooks,
  WebhookVerificationError,
  type Event,
  type Payment,
} from '@crypto-payment-service/sdk';

/** What a shop writes, read by the compiler alone: with the types of Node, Deno, Bun and Workers. */

const client = new CryptoPayments({
  baseUrl: 'https://pay.example',
  apiKey: 'svc_live_x',
  fetch: (url, init) => fetch(url, init),
});

async function open(signal: AbortSignal): Promise<string> {
  const made = await client.payments.create({ amount: 25, currency: 'BTC' }, { signal });
  for await (const payment of client.payments.list({ status: 'SETTLED' })) {
    const row: Payment = payment;
    if (row._id === made.paymentId) break;
  }
  return made.invoiceUrl;
}

/** One request to the shop: an order, or a webhook. */
export async function serve(request: Request): Promise<Response> {
  try {
    if (!request.url.endsWith('/webhooks')) return Response.json({ checkout: await open(request.signal) });
    const body = new Uint8Array(await request.arrayBuffer());
    const event: Event = await webhooks.unwrap(body, request.headers, 'whsec_x');
    if (event.type === 'payment.settled') console.log(event.data._id);
    return new Response(null, { status: 204 });
  } catch (error) {
    if (error instanceof WebhookVerificationError) return new Response(error.reason, { status: 400 });
    if (error instanceof ApiError && error.is('RATE_DRIFT')) return Response.json(error.data.driftPct);
    throw error;
  }
}

// @ts-expect-error -- a payment has no such status
client.payments.list({ status: 'PAID' });
