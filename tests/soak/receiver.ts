import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closed, listening } from '../../sandbox/parts/listening';

/** A merchant's server that takes every event at once and remembers their ids alone. */
export class Receiver {
  readonly ids = new Set<string>();

  private constructor(private readonly server: Server) {}

  static async open(): Promise<Receiver> {
    const server = createServer((request, response) => {
      request.resume();
      request.on('end', () => {
        receiver.ids.add(String(request.headers['webhook-id']));
        response.end('ok');
      });
    });
    const receiver = new Receiver(server);
    await listening(server, 0);
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/ipn`;
  }

  close = (): Promise<void> => closed(this.server);
}
