import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export type LosingProxy = Readonly<{
  url: string;
  /** Loses the next answers: what was asked for is done, and nobody hears of it. */
  lose: (count: number) => void;
  /** How often it was asked since. */
  asked: () => number;
  stop: () => void;
}>;

/** Stands before the API. A test in another process says `GET /lose/3` and asks `GET /asked`. */
export async function startLosingProxy(apiUrl: string): Promise<LosingProxy> {
  const { port } = new URL(apiUrl);
  let [lost, asked] = [0, 0];
  const lose = (count: number): void => {
    [lost, asked] = [count, 0];
  };
  const proxy = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const told = /^\/(asked|lose\/(\d))$/.exec(path!);
    if (told?.[2]) lose(Number(told[2]));
    if (told) return outgoing.end(String(asked));
    asked += 1;
    const onwards = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      if (lost > 0) {
        lost -= 1;
        answer.resume();
        answer.on('end', () => incoming.socket.destroy());
      } else {
        outgoing.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(outgoing);
      }
    });
    incoming.pipe(onwards);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    lose,
    asked: () => asked,
    stop() {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}
