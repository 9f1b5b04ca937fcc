import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inParallel, jsonRpc, RpcError } from '../../chains/json-rpc';

/** How a node is spoken to. The node is played. */

let server: Server;
let url: string;
let connections = 0;
let asked: Array<{ method: string; authorization?: string }> = [];
let answer: (response: ServerResponse, method: string) => void;
const says = (response: ServerResponse, body: unknown, status = 200): void => {
  response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
};

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method } = JSON.parse(Buffer.concat(chunks).toString());
      asked.push({ method, authorization: request.headers.authorization });
      answer(response, method);
    });
  }).on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://ann:s%40crt@127.0.0.1:${(server.address() as AddressInfo).port}/path?key=1`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  connections = 0;
  asked = [];
  answer = (response) => says(response, { result: 'ü' });
});

it('asks many things over few connections, with the credentials of the address', async () => {
  const rpc = jsonRpc(url);
  expect(await inParallel([...Array(20).keys()], 4, (n) => rpc('some', [n]))).toEqual(Array(20).fill('ü'));
  expect(asked).toHaveLength(20);
  expect(connections).toBeLessThan(10);
  expect(asked[0]!.authorization).toBe(`Basic ${Buffer.from('ann:s@crt').toString('base64')}`);
});

it('tells a node that says no from one that is away', async () => {
  const rpc = jsonRpc(url);
  answer = (response) => says(response, { error: { code: -32000, message: 'nonce too low' } }, 500);
  const refused = await rpc('eth_sendRawTransaction', ['0x']).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RpcError);
  expect(refused).toMatchObject({ code: -32000, message: 'nonce too low' });
  for (const [body, status] of [
    ['<html>', 502],
    ['', 200],
    [{}, 200],
  ] as const) {
    answer = (response) => says(response, body, status);
    await expect(rpc('eth_sendRawTransaction', ['0x'])).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  }
});

it('asks a question again where the connection breaks, and sends nothing twice by itself', async () => {
  const rpc = jsonRpc(url);
  answer = (response) => {
    if (asked.length % 2) response.socket!.destroy();
    else says(response, { result: 1 });
  };
  expect(await rpc('eth_chainId')).toBe(1);
  expect(asked).toHaveLength(2);
  await expect(rpc('eth_sendRawTransaction', ['0x'])).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  expect(asked).toHaveLength(3);
  answer = (response) => {
    response.writeHead(200, { 'content-length': '50' }).write('{"result":');
    setTimeout(() => response.socket!.destroy(), 10);
  };
  await expect(rpc('eth_sendRawTransaction', ['0x'])).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
});

it('waits, tries and reads as much as it is told', async () => {
  const rpc = jsonRpc(url, '', '', 100);
  answer = (response) => void setTimeout(() => says(response, { result: [] }), 500);
  await expect(rpc('eth_getBlockByNumber')).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  expect(asked).toHaveLength(3);
  expect(await rpc('some', [], { waitMs: 10_000 })).toEqual([]);
  await expect(rpc('some', [], { tries: 1 })).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  expect(asked).toHaveLength(5);
  answer = (response) => says(response, { result: 'x'.repeat(10_000) });
  const large = rpc('some', [], { tries: 1, mostBytes: 5000 });
  await expect(large).rejects.toThrow('the answer is larger than 5000 bytes');
  expect(await rpc('some', [], { mostBytes: 20_000 })).toHaveLength(10_000);
});

it('lets one call at a time wait for a node that does not answer: the others fail at once', async () => {
  const rpc = jsonRpc(url, '', '', 1500);
  answer = () => undefined;
  const many = (): Promise<unknown[]> =>
    Promise.all(Array.from({ length: 20 }, () => rpc('some').catch((error: { code: string }) => error.code)));
  const failed = Array(20).fill('NODE_UNREACHABLE');
  expect(await many()).toEqual(failed);
  expect(asked.length).toBeGreaterThanOrEqual(20); // nobody knew yet
  const probe = rpc('some').catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 50));
  asked = [];
  expect(await many()).toEqual(failed);
  expect(asked).toHaveLength(0);
  await probe;
  // As soon as it answers one, it is asked everything again.
  answer = (response) => says(response, { result: 1 });
  expect(await many()).toEqual(Array(20).fill(1));
  // A call that takes long by itself says nothing of the node, and one that it answers meanwhile that it is there.
  answer = (response, method) => void setTimeout(() => says(response, { result: 1 }), method === 'long' ? 3000 : 0);
  await Promise.all([rpc('long', [], { waitMs: 100, tries: 1 }).catch(() => undefined)]);
  const long = rpc('long', [], { tries: 1 }).catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await rpc('some');
  await long;
  asked = [];
  expect(await many()).toEqual(Array(20).fill(1));
  expect(asked).toHaveLength(20);
});

it('sends what it sends to the address alone: no redirect is followed, no proxy of the environment asked', async () => {
  const rpc = jsonRpc(url);
  process.env.HTTP_PROXY = 'http://127.0.0.1:1';
  try {
    expect(await rpc('eth_chainId')).toBe('ü');
  } finally {
    delete process.env.HTTP_PROXY;
  }
  answer = (response) => response.writeHead(307, { location: `${url}&again` }).end();
  await expect(rpc('eth_sendRawTransaction', ['0x'])).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  expect(asked).toHaveLength(2);
});
