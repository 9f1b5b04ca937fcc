import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server of an integrator, which takes webhooks. */

export type Got = Readonly<{ headers: IncomingHttpHeaders; body: string; id: string; seq: number; type: string }>;

export class Receiver {
  readonly received: Got[] = [];
  /** What it answers; 200 unless told. */
  answers: number[] = [];
  /** Takes the place of its answer. */
  hold: ((response: ServerResponse) => void) | undefined;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => receiver.take(request.headers, Buffer.concat(chunks).toString(), response));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return receiver;
  }

  private take(headers: IncomingHttpHeaders, body: string, response: ServerResponse): void {
    const { id, seq, type } = JSON.parse(body) as Got;
    this.received.push({ headers, body, id, seq, type });
    if (this.hold) return this.hold(response);
    response.statusCode = this.answers.shift() ?? 200;
    response.end();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/webhooks`;
  }
  get seqs(): number[] {
    return this.received.map(({ seq }) => seq);
  }

  reset(): void {
    this.received.length = 0;
    this.answers = [];
    this.hold = undefined;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
