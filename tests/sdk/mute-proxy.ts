import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';

export type MuteProxy = Readonly<{
  url: string;
  /** From now on each open connection lets this many bytes of answers through, and then nothing in either direction. It
   *  stays open, as where a network goes away. New connections work. */
  mute: (bytes: number) => void;
  /** How many bytes were swallowed. */
  swallowed: () => number;
  stop: () => void;
}>;

/** Stands before the API. */
export async function startMuteProxy(apiUrl: string): Promise<MuteProxy> {
  const connections = new Set<{ left: number; end: () => void }>();
  let swallowed = 0;
  const proxy = createServer((client) => {
    const api = connect(Number(new URL(apiUrl).port), '127.0.0.1');
    const end = (): void => {
      client.destroy();
      api.destroy();
      connections.delete(connection);
    };
    const connection = { left: Infinity, end };
    connections.add(connection);
    client.on('data', (chunk: Buffer) => {
      if (connection.left > 0) api.write(chunk);
      else swallowed += chunk.length;
    });
    api.on('data', (chunk: Buffer) => {
      const through = chunk.subarray(0, Math.min(chunk.length, connection.left));
      connection.left -= through.length;
      swallowed += chunk.length - through.length;
      if (through.length > 0) client.write(through);
    });
    for (const socket of [client, api]) socket.on('error', () => undefined);
    client.on('close', end);
    api.on('close', () => connection.left === Infinity && end());
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    mute: (bytes) => connections.forEach((connection) => (connection.left = bytes)),
    swallowed: () => swallowed,
    stop() {
      proxy.close();
      for (const { end } of connections) end();
    },
  };
}
