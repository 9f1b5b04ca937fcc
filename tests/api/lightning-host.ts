import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fetchInvoices } from '../../activities/lightning/fetch';
import { askOutside } from '../../activities/webhooks/outbound';
import { closed } from '../../sandbox/parts/listening';
import { anInvoice, payments } from './lightning-out';

/** The host of Lightning addresses, as a server of the test, and the looks of the payments worker, which asks it. */

export type Answers = Readonly<{ request: object; invoice: (msat: bigint) => object }>;
export const metadata = '[["text/plain","tea for two"],["text/identifier","me@wallet.example"]]';
export const address = 'me@wallet.example';
export const payRequest = {
  ...{ tag: 'payRequest', callback: 'https://wallet.example/pay?user=me', metadata },
  ...{ minSendable: 1000, maxSendable: 100_000_000_000 },
};
export const usualAnswers: Answers = {
  request: payRequest,
  invoice(msat) {
    const { text, hash } = anInvoice({ satoshi: parseInt((msat / 1000n).toString(), 10), metadata });
    wallet.given.push(hash);
    return { pr: text, routes: [] };
  },
};
/** How the host answers, what it was asked, and the hashes of what it gave. */
export const wallet = { answers: usualAnswers, asked: [] as string[], given: [] as string[] };
export const newest = (): string => wallet.given.at(-1)!;

let host: Server;
/** The host, for all tests of a file; it answers as usual at the beginning of each. */
export function withHost(): void {
  beforeAll(async () => {
    host = createServer(({ url = '/' }, response) => {
      const { pathname, searchParams } = new URL(url, 'http://host');
      const answer = pathname.startsWith('/.well-known/')
        ? wallet.answers.request
        : wallet.answers.invoice(BigInt(searchParams.get('amount') ?? '0'));
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(() => Object.assign(wallet, { answers: usualAnswers, asked: [], given: [] }));
  afterAll(() => closed(host));
}

/** What is asked of wallet.example is answered here; all else goes where it says. */
const ask: typeof askOutside = (one) => {
  wallet.asked.push(one.url);
  const { hostname, pathname, search } = new URL(one.url);
  if (hostname !== 'wallet.example') return askOutside(one);
  const { port } = host.address() as AddressInfo;
  return askOutside({ ...one, url: `http://127.0.0.1:${port}${pathname}${search}`, allowInsecure: true });
};
let now = Date.now();
/** One look of the payments worker, some time after the one before; what it has said. */
export async function look(tries: Parameters<typeof fetchInvoices>[1] = new Map()): Promise<string[]> {
  const faults: string[] = [];
  const warn = ({ fault }: { fault: string }): void => void faults.push(fault);
  const chain = { chainNames: { bitcoin: 'regtest' } } as never;
  const config = { POLL_INTERVAL_MS: 50, ALLOW_INSECURE_CALLBACKS: false, chain };
  const deps = { db: payments, config, log: { warn } as never, ask };
  now += 60_000;
  await fetchInvoices(deps, tries, now);
  return faults;
}
