import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { adapterOf } from '../../chains/adapters';
import { registered } from '../../chains/codecs';
import type { ChainAdapter } from '../../domain/chains/chain';
import { parseConfig } from '../../domain/config';

/** What transfers take that leave one address is asked for each; what the address holds, once for all that are asked
 *  about at the same time. The node is played. */

let server: Server;
let node: ChainAdapter;
let asked: string[] = [];
/** null: it refuses to say. */
let held: bigint | null = 10n;
const balance = (): object =>
  held === null ? { error: { code: -32000, message: 'header not found' } } : { result: `0x${held.toString(16)}` };
beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method } = JSON.parse(Buffer.concat(chunks).toString()) as { method: string };
      asked.push(method);
      response.end(JSON.stringify(method === 'eth_getBalance' ? balance() : { result: '0x5208' }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  node = adapterOf(registered('ethereum'), parseConfig({ ETH_CHAIN_ID: '31337' }).chain, { url });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked = [];
  held = 10n;
});

const from = `0x${'11'.repeat(20)}`;
const answerTo = (units: bigint, address = from) =>
  node.estimateGas({
    from: address,
    to: `0x${'22'.repeat(20)}`,
    currency: 'ETH',
    units,
    ceiling: 100_000n,
  });
const count = (method: string): number => asked.filter((one) => one === method).length;

it('reads what an address holds once for transfers that are asked about together', async () => {
  const answers = await Promise.all([1n, 10n, 11n, 2n].map((units) => answerTo(units)));
  expect(answers.map((one) => one?.state)).toEqual(['done', 'done', 'short', 'done']);
  expect([count('eth_getBalance'), count('eth_estimateGas')]).toEqual([1, 3]);
});

it('reads it again for the next, and for another address', async () => {
  expect(await answerTo(10n)).toEqual({ state: 'done', gas: 21_000n });
  held = 9n;
  const [one, other] = await Promise.all([answerTo(10n), answerTo(10n, `0x${'33'.repeat(20)}`)]);
  expect([one?.state, other?.state]).toEqual(['short', 'short']);
  expect(count('eth_getBalance')).toBe(3);
});

it('forgets an answer that was none', async () => {
  held = null;
  const refused = await Promise.allSettled([answerTo(1n), answerTo(1n)]);
  expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  held = 10n;
  expect(await answerTo(10n)).toEqual({ state: 'done', gas: 21_000n });
});
