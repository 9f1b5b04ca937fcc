import { connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { listening } from './listening';

/** A door in front of a server that must not be seen before it is ready: while it is shut, connections are refused as
 *  if the server were down. `tls`: who comes in speaks TLS to the door, and the server hears it without. */
export class Gate {
  private server: Server | undefined;
  private readonly sockets = new Set<Socket>();

  constructor(
    private readonly port: number,
    private readonly target: number,
    private readonly tls?: Readonly<{ certificate: string; key: string }>,
  ) {}

  async open(): Promise<void> {
    if (this.server) return;
    const enter = (outer: Socket): void => {
      const inner = connect({ port: this.target, host: '127.0.0.1', noDelay: true });
      for (const [socket, other] of [
        [outer, inner],
        [inner, outer],
      ] as const) {
        this.sockets.add(socket);
        socket.on('error', () => other.destroy()); // either end may go at any time: the other learns it
        socket.on('close', () => {
          this.sockets.delete(socket);
          other.destroy();
        });
        socket.pipe(other);
      }
    };
    const { tls } = this;
    const server = tls
      ? createTlsServer({ key: tls.key, cert: tls.certificate, noDelay: true }, enter)
      : createServer({ noDelay: true }, enter);
    await listening(server, this.port);
    this.server = server;
  }

  async shut(): Promise<void> {
    const server = this.server;
    this.server = undefined;
    if (!server) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }
}
