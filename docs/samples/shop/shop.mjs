// A small shop: an order, the hosted checkout, and a verified webhook that marks the order paid, once.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { CryptoPayments, webhooks } from '@crypto-payment-service/sdk';

const { API_URL, API_KEY, CHECKOUT_URL, WEBHOOK_SECRET, SHOP_URL, PORT } = process.env;
const client = new CryptoPayments({ baseUrl: API_URL, apiKey: API_KEY });
const paid = ['CONFIRMED', 'SWEEP_QUEUED', 'SETTLED'];
const orders = new Map(); // a shop keeps both in its database,
const seen = new Set(); // and changes them in one transaction

async function buy() {
  const order = { id: randomUUID(), price: 25, status: 'open', stateVersion: 0, deliveries: 0 };
  orders.set(order.id, order);
  const payment = await client.payments.create(
    {
      amount: order.price,
      merchantOrderId: order.id,
      ipnCallbackUrl: `${SHOP_URL}/webhooks`,
      invoiceCallbackUrl: `${SHOP_URL}/orders/${order.id}`,
    },
    { idempotencyKey: order.id },
  );
  order.paymentId = payment.paymentId;
  return CHECKOUT_URL + payment.invoiceUrl;
}

function take(event) {
  if (seen.has(event.id)) return; // a repeat
  seen.add(event.id);
  if (!event.type.startsWith('payment.')) return;
  const { _id, stateVersion, merchantOrderId, status } = event.data;
  const order = orders.get(merchantOrderId);
  if (order?.paymentId !== _id) return; // a late or second deposit is a payment of its own
  if (stateVersion < order.stateVersion) return; // overtaken by a later change
  order.stateVersion = stateVersion;
  if (order.status === 'paid' || !paid.includes(status)) return;
  order.status = 'paid';
  order.deliveries += 1; // what must happen once for an order
}

async function answer({ method, url, headers }, body) {
  if (method === 'POST' && url === '/orders') return [303, '', { Location: await buy() }];
  if (method === 'POST' && url === '/webhooks') {
    take(await webhooks.unwrap(body, headers, WEBHOOK_SECRET));
    return [204, ''];
  }
  const order = orders.get(url.slice('/orders/'.length));
  return order ? [200, JSON.stringify(order)] : [404, 'No such order'];
}

const server = createServer(async (request, response) => {
  try {
    const [status, text, headers] = await answer(request, await buffer(request));
    response.writeHead(status, headers).end(text);
  } catch (error) {
    console.error(error.message);
    response.writeHead(error.name === 'WebhookVerificationError' ? 400 : 500).end();
  }
});
server.listen(Number(PORT ?? 4000), () => console.log(`listening on ${server.address().port}`));
