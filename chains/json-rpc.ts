import { DomainError } from '../domain/errors';
import { inSpan, traceparentNow } from '../domain/tracing';
import { connectionTo, hearing, TooLarge, untilAnswered, usualTries, wholeText } from './node-http';

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
/** How a single call is made, where otherwise than usual. */
type CallOptions = Readonly<{ waitMs?: number; tries?: number; mostBytes?: number }>;
export type Rpc = <T>(method: string, params?: readonly unknown[], options?: CallOptions) => Promise<T>;

/** How long an answer is waited for, in milliseconds, and how large it may be. */
const usualMs = 10_000;
const usualBytes = 256 * 1024 * 1024;
/** What sends something is tried once, for its sender decides. */
const isQuestion = (method: string): boolean => !/^(sendrawtransaction|eth_sendRawTransaction)$/.test(method);

/** Calls of a JSON-RPC node over HTTP. Credentials come from the URL or the arguments and go into a header. Throws
 *  RpcError where the node refuses, NODE_UNREACHABLE (retried; the outcome is unknown) for everything else. */
export function jsonRpc(url: string, user = '', password = '', patienceMs = usualMs): Rpc {
  const { node, headers, target } = connectionTo({ url, user, password });
  const request = { path: target.pathname + target.search, method: 'POST' } as const;
  const heard = hearing(target);
  let id = 0;
  const once = async <T>(
    method: string,
    params: readonly unknown[],
    { mostBytes = usualBytes }: CallOptions,
    signal: AbortSignal,
  ): Promise<T> => {
    let answer: Answer;
    let status = 0;
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
  const ask = <T>(method: string, params: readonly unknown[], options: CallOptions): Promise<T> => {
    const { waitMs = patienceMs } = options;
    const signal = AbortSignal.timeout(waitMs);
    return heard({ what: method, signal, isUsual: waitMs === patienceMs }, () => once(method, params, options, signal));
  };
  return <T>(method: string, params: readonly unknown[] = [], options: CallOptions = {}): Promise<T> =>
    inSpan({ name: method, kind: 'client', attributes: { 'rpc.system': 'jsonrpc', 'rpc.method': method } }, () =>
      untilAnswered(() => ask<T>(method, params, options), isQuestion(method) ? (options.tries ?? usualTries) : 1),
    );
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
