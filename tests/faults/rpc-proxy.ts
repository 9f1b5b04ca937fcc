import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

/** What a proxy does to the calls that `match` picks. `dropAfter`: the node has done it, the answer is lost. `text`:
 *  what is answered instead. */
export type Fault =
  | { kind: 'dropBefore' | 'dropAfter' | 'duplicate' }
  | { kind: 'delay'; ms: number }
  | { kind: 'status'; status: number; after?: boolean; text?: string }
  | { kind: 'rewrite'; answer: (body: unknown, asked: unknown) => unknown };

type Rule = { fault: Fault; match: (methods: readonly string[]) => boolean; left: number };

/** Of a node that is asked over TLS: its certificate, and what the proxy shows itself. */
type Tls = Readonly<{ certificate: string; own: Readonly<{ certificate: string; key: string }> }>;

/** A real HTTP proxy in front of a node, with faults on demand; loopback only. What a node answers bit by bit is handed
 *  on bit by bit. */
export class RpcProxy {
  private rules: Rule[] = [];
  /** Calls that a rule has hit, by method: a test that needs a fault can tell whether it happened. */
  readonly hits: string[] = [];

  private constructor(
    private readonly server: Server,
    readonly url: string,
    private readonly tls: Tls | undefined,
  ) {}

  static async before(target: string, tls?: Tls): Promise<RpcProxy> {
    const to = new URL(target);
    const handle: RequestListener = (req, res) => {
      proxy.handle(to, req, res).catch(() => res.destroy());
    };
    const server = tls
      ? createTlsServer({ key: tls.own.key, cert: tls.own.certificate }, handle)
      : createServer(handle);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const auth = to.username ? `${to.username}:${to.password}@` : '';
    const proxy = new RpcProxy(server, `${to.protocol}//${auth}127.0.0.1:${port}${to.pathname}`, tls);
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
    const refuse = (status: number, text = 'unavailable'): unknown => res.writeHead(status).end(text);
    if (fault?.kind === 'status' && !fault.after) return void refuse(fault.status, fault.text);
    if (fault?.kind === 'delay') await new Promise((resolve) => setTimeout(resolve, fault.ms));
    let answer = await this.forward(to, req, body);
    if (fault?.kind === 'duplicate') {
      await Promise.race([once(answer, 'data'), once(answer, 'end')]);
      answer.destroy();
      answer = await this.forward(to, req, body);
    }
    if (fault?.kind === 'dropAfter' || fault?.kind === 'status') answer.destroy();
    if (fault?.kind === 'dropAfter') return void res.destroy();
    if (fault?.kind === 'status') return void refuse(fault.status, fault.text);
    res.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/json' });
    if (fault?.kind !== 'rewrite') return pipeline(answer, res);
    const said = JSON.parse((await readAll(answer)).toString()) as unknown;
    res.end(Buffer.from(JSON.stringify(fault.answer(said, JSON.parse(body.toString())))));
  }

  /** Resolves when the node begins to answer: by then it has done what it was asked. */
  private forward(to: URL, req: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    const { host: _host, connection: _connection, ...headers } = req.headers;
    const asked = {
      host: to.hostname,
      port: to.port,
      path: req.url,
      method: req.method,
      headers: { ...headers, 'content-length': body.length },
    };
    return new Promise((resolve, reject) => {
      const onward = this.tls
        ? httpsRequest({ ...asked, ca: [this.tls.certificate] }, resolve)
        : httpRequest(asked, resolve);
      onward.on('error', reject);
      onward.end(body);
    });
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
    const parsed = JSON.parse(body.toString() || '[]') as { method?: string } | Array<{ method?: string }>;
    const named = (Array.isArray(parsed) ? parsed : [parsed]).flatMap((call) => (call.method ? [call.method] : []));
    const last = path.split('?')[0]!.split('/').at(-1);
    return named.length || !last ? named : [last];
  } catch {
    return [];
  }
}
