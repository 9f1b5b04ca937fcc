import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closed, listening } from './listening';
import type { Part } from './part';

/** What a simulator is while it runs. `tick`: what it does by itself, every `everyMs` where it has that. */
export type Opened = Readonly<{ serve: RequestListener; tick: () => void }>;

/** A simulator that listens on this machine alone and runs in the caller's process. `port`: 0 for any that is free,
 *  which it then keeps. `open` is called at each start. A kill is a stop: what must outlive one is kept before it is
 *  told. */
export async function startInProcess(
  options: Readonly<{ name: string; port: number; everyMs: number | undefined; open: () => Opened }>,
): Promise<Part> {
  const { name, everyMs, open } = options;
  let { port } = options;
  let running: { server: Server; timer: NodeJS.Timeout | undefined } | undefined;
  const start = async (): Promise<void> => {
    if (running) return;
    const { serve, tick } = open();
    const server = createServer(serve);
    await listening(server, port);
    ({ port } = server.address() as AddressInfo);
    running = { server, timer: everyMs ? setInterval(tick, everyMs) : undefined };
  };
  const stop = async (): Promise<void> => {
    const ended = running;
    running = undefined;
    if (!ended) return;
    clearInterval(ended.timer);
    await closed(ended.server);
  };
  await start();
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    pid: () => (running ? process.pid : undefined),
    start,
    stop,
    kill9: stop,
  };
}
