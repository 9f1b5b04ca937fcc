import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a proxy does to the calls that `match` picks. `dropAfter`: the node has done it, the answer is lost. */
export type Fault =
  | { kind: 'dropBefore' | 'dropAfter' | 'duplicate' }
  | { kind: 'delay'; ms: number }
  | { kind: 'status'; status: number; after?: boolean }
  | { kind: 'rewrite'; answer: (body: unknown, asked: unknown) => unknown };

type Rule = { fault: Fault; match: (methods: readonly string[]) => boolean; left: number };

/** A real HTTP proxy in front of a node, with faults on demand; loopback only. */
export class RpcProxy {
  private rules: Rule[] = [];
  /** Calls that a rule has hit, by method: a test that needs a fault can tell whether it happened. */
  readonly hits: string[] = [];

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async before(target: string): Promise<RpcProxy> {
    const to = new URL(target);
    const server = createServer((req, res) => {
      proxy.handle(to, req, res).catch(() => res.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const auth = to.username ? `${to.username}:${to.password}@` : '';
    const proxy = new RpcProxy(server, `http://${auth}127.0.0.1:${port}${to.pathname}`);
    return proxy;
  }

  /** The next `times` calls that include one of `methods` (all, when none is named) meet the fault. Returns what ends
   *  this fault alone. */
  arm(fault: Fault, methods: readonly string[] = [], times = Infinity): () => void {
    const rule: Rule = {
      fault,
      match: (called) => !methods.length || called.some((method) => methods.includes(method)),
      left: times,
    };
    this.rules.push(rule);
    return () => {
      this.rules = this.rules.filter((one) => one !== rule);
    };
  }

  heal(): void {
    this.rules = [];
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async handle(to: URL, req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await readAll(req);
    const methods = methodsOf(body, req.url ?? '/');
    const rule = this.rules.find((candidate) => candidate.left > 0 && candidate.match(methods));
    if (rule) {
      rule.left -= 1;
      this.hits.push(...methods);
    }
    const fault = rule?.fault;
    if (fault?.kind === 'dropBefore') return void res.destroy();
    if (fault?.kind === 'status' && !fault.after) return void res.writeHead(fault.status).end('unavailable');
    if (fault?.kind === 'delay') await new Promise((resolve) => setTimeout(resolve, fault.ms));
    let answer = await forward(to, req, body);
    if (fault?.kind === 'duplicate') answer = await forward(to, req, body);
    if (fault?.kind === 'dropAfter') return void res.destroy();
    if (fault?.kind === 'status') return void res.writeHead(fault.status).end('unavailable');
    const text =
      fault?.kind === 'rewrite'
        ? Buffer.from(JSON.stringify(fault.answer(JSON.parse(answer.body.toString()), JSON.parse(body.toString()))))
        : answer.body;
    res.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  }
}

async function readAll(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** The methods of JSON-RPC that a body calls; where it names none, the last name of its path. */
function methodsOf(body: Buffer, path: string): string[] {
  try {
    const parsed = JSON.parse(body.toString()) as { method?: string } | Array<{ method?: string }>;
    const named = (Array.isArray(parsed) ? parsed : [parsed]).flatMap((call) => (call.method ? [call.method] : []));
    const last = path.split('/').at(-1);
    return named.length || !last ? named : [last];
  } catch {
    return [];
  }
}

const forward = (to: URL, req: IncomingMessage, body: Buffer): Promise<{ status: number; body: Buffer }> =>
  new Promise((resolve, reject) => {
    const { host: _host, connection: _connection, ...headers } = req.headers;
    const onward = httpRequest(
      {
        host: to.hostname,
        port: to.port,
        path: req.url,
        method: req.method,
        headers: { ...headers, 'content-length': body.length },
      },
      (answer) => {
        readAll(answer).then((text) => resolve({ status: answer.statusCode ?? 502, body: text }), reject);
      },
    );
    onward.on('error', reject);
    onward.end(body);
  });
