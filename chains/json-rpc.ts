import { Pool } from 'undici';
import { DomainError } from '../domain/errors';

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
export type Rpc = <T>(method: string, params?: readonly unknown[]) => Promise<T>;

/** How long an answer is waited for, in milliseconds; a node runs each transaction of a block again to trace it. */
const patience = { usual: 10_000, trace: 60_000 };
const isTrace = (method: string): boolean => method === 'debug_traceBlockByHash';
/** Connections to a node at the most; what is asked beyond them waits. */
const atOnce = 64;
/** A connection that is not used for this long is closed: before nodes, and what stands before them, close it. */
const idleMs = 4000;
/** A question is asked this often before the node counts as away; what sends something is tried once, for its sender decides. */
const tries = 3;
const pauseMs = 150;
const isQuestion = (method: string): boolean => !/^(sendrawtransaction|eth_sendRawTransaction)$/.test(method);

/** Calls of a JSON-RPC node over HTTP. Credentials come from the URL or the arguments and go into a header. Throws RpcError where
 *  the node refuses, NODE_UNREACHABLE (retried; the outcome is unknown) for everything else. */
export function jsonRpc(url: string, user = '', password = '', waitMs = patience): Rpc {
  const target = new URL(url);
  const name = user || decodeURIComponent(target.username);
  const secret = password || decodeURIComponent(target.password);
  target.username = '';
  target.password = '';
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (name) headers.authorization = `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`;
  // Connections are kept: `fetch` takes three times the processor for the same, and a node is asked all the time.
  const node = new Pool(target.origin, { connections: atOnce, keepAliveTimeout: idleMs });
  const request = { path: target.pathname + target.search, method: 'POST', headers } as const;
  let id = 0;
  const once = async <T>(method: string, params: readonly unknown[]): Promise<T> => {
    let answer: Answer;
    let status = 0;
    const signal = AbortSignal.timeout(isTrace(method) ? waitMs.trace : waitMs.usual);
    try {
      const given = await node.request({
        ...request,
        body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }),
        signal,
      });
      status = given.statusCode;
      answer = (await given.body.json()) as Answer;
    } catch (error) {
      const why = signal.aborted ? 'no answer in time' : status ? `HTTP ${status}` : (error as Error).message;
      throw new DomainError('NODE_UNREACHABLE', `${method} at ${target.host}: ${why}`);
    }
    if (answer.error) throw new RpcError(answer.error.code, answer.error.message, method);
    if (answer.result === undefined)
      throw new DomainError('NODE_UNREACHABLE', `${method} at ${target.host}: HTTP ${status} without a result`);
    return answer.result as T;
  };
  return async <T>(method: string, params: readonly unknown[] = []): Promise<T> => {
    for (let n = 1; ; n += 1) {
      try {
        return await once<T>(method, params);
      } catch (error) {
        if (!(error instanceof DomainError) || !isQuestion(method) || n === tries) throw error;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  };
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
