import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually, startHarness, type Harness } from './harness';

/** Whoever follows an invoice takes a slot, and gives it back however they leave. */

let h: Harness;
let path: string;
beforeAll(async () => {
  h = await startHarness();
  const shop = await h.shop();
  const made = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 25 } });
  path = `/invoice/${made.body.invoiceUrl.split('/').pop()}/events`;
});
const sockets = new Set<Socket>();
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
});
afterAll(() => h?.stop());

/** So many streams one address may have open. */
const perAddress = 30;
const slots = async (): Promise<number> => (await h.api.deps.metrics.streams.get()).values[0]?.value ?? 0;

async function untilSlots(wanted: number): Promise<void> {
  await eventually(async () => (await slots()) === wanted);
  expect(await slots()).toBe(wanted);
}

/** A socket on which `requests` were sent, and what came back so far. */
function sends(requests: string): Promise<{ socket: Socket; text: () => string; ended: Promise<void> }> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(h.url).port), '127.0.0.1');
    sockets.add(socket);
    let text = '';
    socket.on('data', (part) => (text += part.toString()));
    socket.on('error', () => undefined);
    const ended = new Promise<void>((done) => socket.once('close', () => done()));
    socket.on('connect', () => socket.write(requests, () => resolve({ socket, text: () => text, ended })));
  });
}
const ask = (method = 'GET', place = path): string => `${method} ${place} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;

/** As many streams as there may be, and no more: so nothing is taken that nobody has. */
async function allSlotsAreFree(): Promise<void> {
  await untilSlots(0);
  const open = await Promise.all(Array.from({ length: perAddress }, () => sends(ask())));
  await untilSlots(perAddress);
  expect((await h.call('GET', path)).status).toBe(429);
  for (const { socket } of open) socket.destroy();
  await untilSlots(0);
}

it('has none of those who hung up before they were answered', async () => {
  for (let n = 0; n < 150; n++) {
    const { socket } = await sends(ask());
    // From before the first query to after the first message.
    setTimeout(() => socket.destroy(), n % 30);
    if (n % 10 === 9) await pause(40);
  }
  await pause(500);
  await allSlotsAreFree();
});

it('has none of those who asked again on a socket that was still being answered', async () => {
  const { socket, text } = await sends(ask().repeat(5));
  await untilSlots(5);
  await eventually(async () => text().includes('text/event-stream'));
  socket.destroy();
  await allSlotsAreFree();
});

it('takes none for a look at its headers', async () => {
  const { text, ended } = await sends(ask('HEAD').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
  await Promise.race([ended, pause(30_000, undefined, { ref: false })]);
  expect(text()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(text()).toMatch(/Content-Type: text\/event-stream\r\n/i);
  expect(text().endsWith('\r\n\r\n')).toBe(true);
  expect(await slots()).toBe(0);
  const unknown = await sends(ask('HEAD', '/invoice/nope/events').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
  await Promise.race([unknown.ended, pause(30_000, undefined, { ref: false })]);
  expect(unknown.text()).toMatch(/^HTTP\/1\.1 404 /);
});

it('says once how things stand while the process drains, and sends the caller to another', async () => {
  const { lifecycle } = h.api.deps as { lifecycle: { isDraining: boolean } };
  lifecycle.isDraining = true;
  const { socket, text } = await sends(ask());
  await untilEnded(text);
  lifecycle.isDraining = false;
  expect(text()).toContain('"AWAITING_CURRENCY"');
  socket.destroy();
  await allSlotsAreFree();
});

/** Until the last chunk of an answer has come. */
async function untilEnded(text: () => string): Promise<void> {
  await eventually(async () => text().endsWith('0\r\n\r\n'));
  expect(text().endsWith('0\r\n\r\n')).toBe(true);
}
