import { Pool } from 'undici';
import { DomainError } from '../domain/errors';
import { inSpan, traceparentNow } from '../domain/tracing';

/** What a node answered with an error of its own: it understood us, and said no. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly method: string,
  ) {
    super(message);
  }
}

type Answer = { result?: unknown; error?: { code: number; message: string } | null };
/** Where a node is, and who we are to it; absent: nobody. */
export type NodeLogin = Readonly<{ url: string; user?: string; password?: string }>;
/** How a single call is made, where otherwise than usual. */
type CallOptions = Readonly<{ waitMs?: number; tries?: number; mostBytes?: number }>;
export type Rpc = <T>(method: string, params?: readonly unknown[], options?: CallOptions) => Promise<T>;

/** How long an answer is waited for, in milliseconds, and how large it may be. */
const usualMs = 10_000;
const usualBytes = 256 * 1024 * 1024;
/** Connections to a node at the most; what is asked beyond them waits. */
const atOnce = 64;
/** A connection that is not used for this long is closed: before nodes, and what stands before them, close it. */
const idleMs = 4000;
/** A question is asked this often before the node counts as away; what sends something is tried once, for its sender
 *  decides. */
const tries = 3;
const pauseMs = 150;
const isQuestion = (method: string): boolean => !/^(sendrawtransaction|eth_sendRawTransaction)$/.test(method);

/** Calls of a JSON-RPC node over HTTP. Credentials come from the URL or the arguments and go into a header. Throws
 *  RpcError where the node refuses, NODE_UNREACHABLE (retried; the outcome is unknown) for everything else. */
export function jsonRpc(url: string, user = '', password = '', patienceMs = usualMs): Rpc {
  const target = new URL(url);
  const name = user || decodeURIComponent(target.username);
  const secret = password || decodeURIComponent(target.password);
  target.username = '';
  target.password = '';
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (name) headers.authorization = `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`;
  // Connections are kept: `fetch` takes three times the processor for the same, and a node is asked all the time.
  const node = new Pool(target.origin, { connections: atOnce, keepAliveTimeout: idleMs });
  const request = { path: target.pathname + target.search, method: 'POST' } as const;
  let id = 0;
  const once = async <T>(
    method: string,
    params: readonly unknown[],
    { waitMs = patienceMs, mostBytes = usualBytes }: CallOptions,
  ): Promise<T> => {
    let answer: Answer;
    let status = 0;
    const signal = AbortSignal.timeout(waitMs);
    try {
      const traceparent = traceparentNow();
      const given = await node.request({
        ...request,
        headers: traceparent === null ? headers : { ...headers, traceparent },
        body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }),
        signal,
      });
      status = given.statusCode;
      answer = JSON.parse(await wholeText(given.body, mostBytes)) as Answer;
    } catch (error) {
      const isLarge = error instanceof TooLarge;
      const said = status && !isLarge ? `HTTP ${status}` : (error as Error).message;
      const why = signal.aborted ? 'no answer in time' : said;
      throw new DomainError('NODE_UNREACHABLE', `${method} at ${target.host}: ${why}`);
    }
    if (answer.error) throw new RpcError(answer.error.code, answer.error.message, method);
    if (answer.result === undefined)
      throw new DomainError('NODE_UNREACHABLE', `${method} at ${target.host}: HTTP ${status} without a result`);
    return answer.result as T;
  };
  const patient = async <T>(method: string, params: readonly unknown[], options: CallOptions): Promise<T> => {
    for (let n = 1; ; n += 1) {
      try {
        return await once<T>(method, params, options);
      } catch (error) {
        if (!(error instanceof DomainError) || !isQuestion(method) || n === (options.tries ?? tries)) throw error;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  };
  return <T>(method: string, params: readonly unknown[] = [], options: CallOptions = {}): Promise<T> =>
    inSpan({ name: method, kind: 'client', attributes: { 'rpc.system': 'jsonrpc', 'rpc.method': method } }, () =>
      patient<T>(method, params, options),
    );
}

class TooLarge extends Error {}

/** The text of an answer. Throws where it is larger than `most`. */
async function wholeText(body: AsyncIterable<Buffer>, most: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > most) throw new TooLarge(`the answer is larger than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Maps in order, at most `width` calls at a time. */
export async function inParallel<A, B>(
  items: readonly A[],
  width: number,
  call: (item: A) => Promise<B>,
): Promise<B[]> {
  const answers: B[] = new Array<B>(items.length);
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      answers[index] = await call(items[index]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane));
  return answers;
}
