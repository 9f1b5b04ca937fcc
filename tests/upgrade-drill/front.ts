import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closed, listening } from '../../sandbox/parts/listening';

/** A load balancer: hands each request to the server of the moment, on a connection of its own. */
export class Front {
  /** Requests that got no answer, or one that says that the server failed. */
  readonly failures: string[] = [];
  /** How many requests came. */
  count = 0;
  private to = '';

  private constructor(private readonly server: Server) {}

  static async open(): Promise<Front> {
    const server = createServer((asked, answer) => front.pass(asked, answer));
    const front = new Front(server);
    await listening(server, 0);
    return front;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** From now on requests go there. */
  leadTo(url: string): void {
    this.to = url;
  }

  close = (): Promise<void> => closed(this.server);

  private pass(asked: IncomingMessage, answer: ServerResponse): void {
    this.count += 1;
    const what = `${asked.method} ${asked.url}`;
    const { method, headers } = asked;
    const onward = request(this.to + asked.url, { method, headers, agent: false }, (answered) => {
      const { statusCode = 502 } = answered;
      if (statusCode >= 500) this.failures.push(`${what}: ${statusCode}`);
      answer.writeHead(statusCode, answered.headers);
      answered.pipe(answer);
    });
    onward.on('error', (error) => {
      if (!answer.destroyed) this.failures.push(`${what}: ${error.message}`);
      answer.destroy();
    });
    // Who does not wait for the answer is no failure of the server.
    answer.on('close', () => onward.destroy());
    asked.pipe(onward);
  }
}
