import type { IncomingMessage, ServerResponse } from 'node:http';
import { startInProcess, type Opened } from '../in-process';
import type { Part } from '../part';
import { nodeRoutes, ReplyLost, type Body, type Node, type Routes } from './api';
import { Chain, slotMs, type ChainOptions } from './chain';
import { orderRoutes } from './orders';
import { written } from './views';

export type TronSimulatorOptions = Omit<ChainOptions, 'solidLag'> &
  Readonly<{
    port: number;
    /** Blocks come by themselves, so many milliseconds apart; absent: when they are ordered. */
    everyMs?: number;
    /** While nothing waits for one, a block this often; absent: as often. What it keeps grows with each. */
    idleEveryMs?: number;
    /** Blocks that are ordered are of now, and a millisecond apart at the least; absent: of the chain's own time. */
    isOfNow?: boolean;
    solidLag?: number;
  }>;

async function bodyOf(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  return text ? (JSON.parse(text) as Body) : {};
}

/** A node answers what it cannot do with status 200 and an `Error`; an order that is wrong has status 400. */
async function serve(routes: Routes, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://tron');
  const say = (status: number, value: unknown): void => {
    response.statusCode = status;
    response.setHeader('content-type', 'application/json').end(`${written(value)}\n`);
  };
  try {
    const route = routes[pathname];
    if (!route) say(404, { error: 'Not found' });
    else say(200, route(await bodyOf(request)));
  } catch (error) {
    if (error instanceof ReplyLost) response.destroy();
    else if (pathname.startsWith('/sandbox/')) say(400, { error: (error as Error).message });
    else say(200, { Error: (error as Error).message });
  }
}

/** A simulator of TRON: the HTTP API of a FullNode with its view of final blocks, over a chain of its own. It is no
 *  node: what it does and does not do is in decision 0055. Orders below `/sandbox/` mine, reorganise, fund, stake and
 *  script faults (`orders.ts`). It listens on this machine alone, and runs in the caller's process. */
export async function startTronSimulator(options: TronSimulatorOptions): Promise<Part> {
  const { port, everyMs, idleEveryMs = 0, isOfNow = false, solidLag = 18, ...rest } = options;
  const open = (): Opened => {
    const node: Node = { chain: new Chain({ ...rest, solidLag }), lag: 0, next: null };
    const { chain } = node;
    let isHalted = false;
    const mine = (blocks: number, slots: number): void => {
      const step = isOfNow ? 1 : slotMs;
      const first = Math.max(chain.head.time + step * (1 + slots), isOfNow ? Date.now() : 0);
      if (!isHalted) chain.mine(Array.from({ length: blocks }, (_, n) => first + step * n));
    };
    const tick = (): void => {
      if (!chain.isBusy && Date.now() - chain.head.time < idleEveryMs) return;
      const soonest = chain.head.time + Math.min(slotMs, everyMs ?? slotMs);
      if (!isHalted) chain.mine([Math.max(soonest, Date.now())]);
    };
    const halt = (yes: boolean): void => {
      isHalted = yes;
    };
    const routes = { ...nodeRoutes(node), ...orderRoutes(node, { mine, halt }) };
    return { tick, serve: (request, response) => void serve(routes, request, response) };
  };
  // It keeps each block as it comes, and loses its pool like a node.
  return startInProcess({ name: 'tron-simulator', port, everyMs, open });
}
