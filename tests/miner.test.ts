import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkOf } from '../domain/chains/assets';
import { Miner } from '../sandbox/miner';

/** The sandbox's miner, before nodes that answer as a test says. */

type Ask = Readonly<{ method: string }>;
let node: Server;
afterEach(() => node.close());

/** A node whose answer to a method is what `answer` returns, or the message that it throws. */
async function nodeThat(answer: (method: string) => unknown): Promise<string> {
  node = createServer((request, response) => {
    let text = '';
    request.on('data', (part: Buffer) => (text += part.toString()));
    request.on('end', () => {
      const { method } = JSON.parse(text) as Ask;
      try {
        response.end(JSON.stringify({ result: answer(method) }));
      } catch (error) {
        response.end(JSON.stringify({ error: { message: (error as Error).message } }));
      }
    });
  });
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
}

it('mines all blocks that a payment wants, though its node refuses some and the other chain is away', async () => {
  const wanted = networkOf('BTC').confirmations + 2;
  const asked: string[] = [];
  const count = (method: string) => asked.filter((one) => one === method).length;
  let blocks = 0;
  const url = await nodeThat((method) => {
    asked.push(method);
    if (method === 'getrawmempool') return blocks === 0 ? ['a transaction'] : [];
    if (method !== 'generate') throw new Error('I am away');
    // Every second block is refused at first, as by a node that is busy.
    if (count('generate') % 2 === 1) throw new Error('I am busy');
    blocks += 1;
    return ['a block'];
  });
  const lines: string[] = [];
  const at = url.replace('://', '://user:password@');
  const miner = new Miner({ ethRpcUrl: url, btcRpcUrl: at }, (line) => lines.push(line), 1);
  miner.start();
  const rounds = 4 * wanted;
  while (count('getrawmempool') < rounds) await new Promise((resolve) => setTimeout(resolve, 5));
  await miner.stop();
  expect(blocks).toBe(wanted);
  expect(lines.filter((line) => line.includes('ETH'))).toEqual([
    'The chain of ETH gets no block: txpool_status: I am away',
  ]);
  expect(new Set(lines.filter((line) => line.includes('BTC')))).toEqual(
    new Set(['The chain of BTC gets no block: generate: I am busy']),
  );
});
