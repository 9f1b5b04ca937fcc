import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkOf } from '../domain/chains/assets';
import { Miner } from '../sandbox/miner';

/** The sandbox's miner, before nodes that answer as a test says. */

type Ask = Readonly<{ method: string; params: readonly unknown[] }>;
let node: Server;
afterEach(() => node.close());

/** A node whose answer to a method is what `answer` returns, or the message that it throws. */
async function nodeThat(answer: (method: string, params: readonly unknown[]) => unknown): Promise<string> {
  node = createServer((request, response) => {
    let text = '';
    request.on('data', (part: Buffer) => (text += part.toString()));
    request.on('end', () => {
      const { method, params } = JSON.parse(text) as Ask;
      try {
        response.end(JSON.stringify({ result: answer(method, params) }));
      } catch (error) {
        response.end(JSON.stringify({ error: { message: (error as Error).message } }));
      }
    });
  });
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
}

/** Bitcoin's chain with `payments` in its blocks and `pool` waiting. Ethereum's is away. */
class Coins {
  readonly payments: string[][] = [[]];
  pool: string[] = [];
  looks = 0;
  refusals = 0;

  answer(method: string, [asked]: readonly unknown[]): unknown {
    const head = this.payments.length - 1;
    if (method === 'getbestblockhash') return `block ${head}`;
    if (method === 'getblockhash') return `block ${Number(asked)}`;
    if (method === 'getblock') {
      const height = Number(String(asked).split(' ')[1]);
      return { height, tx: ['coinbase', ...this.payments[height]!] };
    }
    if (method === 'getrawmempool') {
      this.looks += 1;
      return this.pool;
    }
    if (method !== 'generate') throw new Error('I am away');
    // Every second block is refused at first, as by a node that is busy.
    if ((this.refusals += 1) % 2 === 1) throw new Error('I am busy');
    this.payments.push(this.pool);
    this.pool = [];
    return ['a block'];
  }

  /** Lets a miner work until nothing has happened for many looks. Returns what it reported. */
  async mined(url: string): Promise<string[]> {
    const lines: string[] = [];
    const at = url.replace('://', '://user:password@');
    const miner = new Miner({ ethRpcUrl: url, btcRpcUrl: at }, (line) => lines.push(line), 1);
    miner.start();
    const isIdle = (): boolean => this.looks > 4;
    for (let height = -1; !isIdle();) {
      if (height < this.payments.length) this.looks = 0;
      height = this.payments.length;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await miner.stop();
    return lines;
  }
}

const wanted = networkOf('BTC').confirmations + 2;

it('mines all blocks that a payment wants, though its node refuses some and the other chain is away', async () => {
  const coins = new Coins();
  coins.pool = ['a payment'];
  const lines = await coins.mined(await nodeThat((method, params) => coins.answer(method, params)));
  expect(coins.payments.slice(1)).toEqual([['a payment'], ...Array.from({ length: wanted }, () => [])]);
  expect(lines.filter((line) => line.includes('ETH'))).toEqual([
    'The chain of ETH gets no block: eth_getBlockByNumber: I am away',
  ]);
  expect(new Set(lines.filter((line) => line.includes('BTC')))).toEqual(
    new Set(['The chain of BTC gets no block: generate: I am busy']),
  );
});

it('mines them for a payment that no pool has shown: it came just before a block of another payment', async () => {
  const coins = new Coins();
  coins.payments.push(['a payment'], []);
  const last = wanted - 1;
  let came = false;
  const lines = await coins.mined(
    await nodeThat((method, params) => {
      // The last block that the first payment wants takes a second one along, which came after the look.
      if (method === 'generate' && coins.payments.length === last && !came) {
        came = true;
        coins.pool = ['another payment'];
      }
      return coins.answer(method, params);
    }),
  );
  const at = coins.payments.findIndex(([first]) => first === 'another payment');
  expect(at).toBeGreaterThan(1);
  expect(coins.payments).toHaveLength(at + wanted + 1);
  expect(lines.length).toBeGreaterThan(0);
});
