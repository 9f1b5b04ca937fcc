import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A TCP proxy in front of PostgreSQL: cuts the links, or holds back what the server answers, on demand; loopback
 *  only. */
export class TcpProxy {
  private links = new Set<[Socket, Socket]>();
  private isCut = false;
  private silent = false;

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  static async before(targetPort: number): Promise<TcpProxy> {
    const server = createServer((client) => proxy.link(client, targetPort));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const proxy = new TcpProxy(server, (server.address() as AddressInfo).port);
    return proxy;
  }

  private link(client: Socket, targetPort: number): void {
    if (this.isCut) return void client.destroy();
    const upstream = connect(targetPort, '127.0.0.1');
    const pair: [Socket, Socket] = [client, upstream];
    this.links.add(pair);
    const end = (): void => {
      this.links.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    client.on('error', end).on('close', end);
    upstream.on('error', end).on('close', end);
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', (chunk) => {
      if (!this.silent) client.write(chunk);
    });
  }

  /** The server goes on working; its answers are lost and the links end. What was sent may have been committed. */
  async loseAnswers(ms: number): Promise<void> {
    this.silent = true;
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.cut();
    this.silent = false;
  }

  cut(): void {
    for (const [client, upstream] of this.links) {
      client.destroy();
      upstream.destroy();
    }
  }

  /** No link for a while. */
  async outage(ms: number): Promise<void> {
    this.isCut = true;
    this.cut();
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.isCut = false;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
