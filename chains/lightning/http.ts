import { X509Certificate } from 'node:crypto';
import type { ConnectionOptions } from 'node:tls';
import { DomainError } from '../../domain/errors';
import { inSpan } from '../../domain/tracing';
import { connectionTo, TooLarge, untilAnswered, usualTries, wholeText } from '../node-http';
import { fields, Misshapen, refusalIn, type Refusal } from './answers';

/** Calls of lnd's REST API: JSON over TLS with a certificate that we were given, and a macaroon for the right. */

/** `certificate`: lnd's own `tls.cert`, in PEM. `macaroon`: hex; what the caller may do is in it, and nowhere else. */
export type LndLogin = Readonly<{ url: string; certificate: string; macaroon: string }>;

/** What lnd answered with an error of its own. Its codes do not tell a missing invoice from a node that is starting, so
 *  callers go by the message. */
class LndRefusal extends Error {
  readonly code: number;
  constructor({ code, message }: Refusal) {
    super(message);
    this.name = 'LndRefusal';
    this.code = code;
  }
}

type Request<T> = Readonly<{
  path: string;
  /** Absent: it asks. Present: POST with it. */
  body?: object;
  /** Checks the answer and throws what is wrong with it. */
  shape: (answer: unknown) => T;
  /** What a refusal means; undefined: that it is no answer. */
  refused?: (message: string, code: number) => T | undefined;
  /** 1 for what sends something: its sender decides. */
  tries?: number;
  waitMs?: number;
}>;
type Stream<T> = Omit<Request<T>, 'waitMs' | 'tries'> & Readonly<{ signal: AbortSignal }>;

/** Each throws NODE_UNREACHABLE (retried; the outcome is unknown) where the node does not answer, or not in this
 *  shape. */
export type Lnd = Readonly<{
  ask: <T>(request: Request<T>) => Promise<T>;
  /** The first of the answers that the node would give from now on; the rest is not waited for. */
  first: <T>(request: Request<T>) => Promise<T>;
  /** Answers as they come, until the node ends them or the signal does. */
  each: <T>(stream: Stream<T>) => AsyncGenerator<T, void>;
}>;

const usualMs = 10_000;
const mostBytes = 64 * 1024 * 1024;

/** Only the holder of this very certificate is spoken to, whatever name it is for. Throws where it is none. */
export function pinned(certificate: string): ConnectionOptions {
  const own = new X509Certificate(certificate).fingerprint256;
  return {
    ca: [certificate],
    minVersion: 'TLSv1.2',
    checkServerIdentity: (_host, { fingerprint256 }) =>
      fingerprint256 === own ? undefined : new Error('its certificate is not the one that we were given'),
  };
}

export function lndHttp({ url, certificate, macaroon }: LndLogin): Lnd {
  if (!/^https:/.test(url)) throw new Error(`${url}: lnd is asked over https alone, or its macaroon would be read`);
  if (!/^([0-9a-f]{2})+$/i.test(macaroon)) throw new Error(`The macaroon for ${url} is no hex`);
  const { node, headers, target } = connectionTo({ url }, pinned(certificate));
  const base = target.pathname.replace(/\/+$/, '');
  const open = ({ path, body }: Pick<Request<unknown>, 'path' | 'body'>, signal: AbortSignal) =>
    node.request({
      path: base + path,
      method: body ? 'POST' : 'GET',
      headers: { ...headers, 'grpc-metadata-macaroon': macaroon },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal,
      // An open stream is silent as long as nothing happens; the signal ends it.
      ...{ headersTimeout: 0, bodyTimeout: 0 },
    });
  const away = (path: string, error: unknown, signal?: AbortSignal): DomainError => {
    const why = signal?.aborted ? 'no answer in time' : (error as Error).message;
    return new DomainError('NODE_UNREACHABLE', `${path} at ${target.host}: ${why}`);
  };
  /** Does what speaks to the node, and says what came of it. */
  const guarded = async <T>({ path, refused }: Request<T>, signal: AbortSignal, act: () => Promise<T>): Promise<T> => {
    try {
      return await act();
    } catch (error) {
      const meant = error instanceof LndRefusal ? refused?.(error.message, error.code) : undefined;
      if (meant !== undefined) return meant;
      throw away(path, error, signal);
    }
  };
  /** Tries it, each time within the time for it, in one span. */
  const tried = <T>(request: Request<T>, act: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const { tries = usualTries, waitMs = usualMs } = request;
    const name = request.path.split(/[?]|\/[0-9A-Za-z_=-]{40,}/)[0]!;
    return inSpan({ name, kind: 'client', attributes: { 'rpc.system': 'lnd', 'rpc.method': name } }, () =>
      untilAnswered(() => {
        const signal = AbortSignal.timeout(waitMs);
        return guarded(request, signal, () => act(signal));
      }, tries),
    );
  };
  return {
    ask: (request) =>
      tried(request, async (signal) => {
        const { statusCode, body } = await open(request, signal);
        return request.shape(answerOf(statusCode, await wholeText(body, mostBytes)));
      }),
    first: (request) =>
      tried(request, async (signal) => {
        const ended = new AbortController();
        try {
          const { statusCode, body } = await open(request, AbortSignal.any([signal, ended.signal]));
          for await (const line of linesOf(body)) return request.shape(resultOf(statusCode, line));
          throw new Misshapen('the answer is empty');
        } finally {
          ended.abort(); // the node goes on without us
        }
      }),
    each: async function* ({ path, body: sent, shape, refused, signal }) {
      try {
        const { statusCode, body } = await open({ path, body: sent }, signal);
        for await (const line of linesOf(body)) yield shape(resultOf(statusCode, line));
      } catch (error) {
        if (signal.aborted) return;
        const meant = error instanceof LndRefusal ? refused?.(error.message, error.code) : undefined;
        if (meant === undefined) throw away(path, error);
        yield meant;
      }
    },
  };
}

function parsed(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Misshapen(`HTTP ${status} without JSON`);
  }
}

function answerOf(status: number, text: string): unknown {
  const answer = parsed(text, status);
  const refusal = refusalIn(answer);
  if (refusal !== null) throw new LndRefusal(refusal);
  if (status !== 200) throw new Misshapen(`HTTP ${status}`);
  return answer;
}

/** One answer of a stream, which has `result` or `error` around it. */
function resultOf(status: number, line: string): unknown {
  const { error, result } = fields(parsed(line, status), 'An answer');
  const refusal = refusalIn(error);
  if (refusal !== null) throw new LndRefusal(refusal);
  return result ?? answerOf(status, line);
}

/** Lines of a text as they come; each is bounded. */
async function* linesOf(body: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  let rest = Buffer.alloc(0);
  for await (const chunk of body) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const line = rest.subarray(0, end).toString('utf8').trim();
      rest = rest.subarray(end + 1);
      if (line) yield line;
    }
    if (rest.length > mostBytes) throw new TooLarge(`the answer is larger than ${mostBytes} bytes`);
  }
  const last = rest.toString('utf8').trim();
  if (last) yield last;
}
