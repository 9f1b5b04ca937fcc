// Takes webhooks at /webhooks. A shop keeps what is in these three in its database.
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { webhooks } from '@crypto-payment-service/sdk';

const seen = new Set();
const newest = new Map();
const delivered = new Set();
const paid = ['CONFIRMED', 'SWEEP_QUEUED', 'SETTLED'];

function take(event) {
  if (seen.has(event.id)) return; // a repeat
  seen.add(event.id);
  if (!event.type.startsWith('payment.')) return;
  const { _id, parentPaymentId, stateVersion, merchantOrderId, status } = event.data;
  if (stateVersion < (newest.get(_id) ?? 0)) return; // overtaken by a later change
  newest.set(_id, stateVersion);
  if (parentPaymentId) return; // a late or second deposit, of any amount: it pays no order by itself
  console.log(`${merchantOrderId} is ${status}`);
  if (!paid.includes(status) || delivered.has(merchantOrderId)) return;
  delivered.add(merchantOrderId);
  console.log(`paid ${merchantOrderId}`);
}

const server = createServer(async (request, response) => {
  try {
    const body = await buffer(request);
    take(await webhooks.unwrap(body, request.headers, process.env.WEBHOOK_SECRET));
    response.writeHead(204).end();
  } catch (error) {
    console.error(error.message);
    response.writeHead(400).end();
  }
});
server.listen(Number(process.env.PORT ?? 4000), () => console.log(`listening on ${server.address().port}`));
