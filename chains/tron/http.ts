import { Pool } from 'undici';
import { DomainError } from '../../domain/errors';
import type { NodeLogin } from '../json-rpc';

/** Calls of a node's HTTP API: POST with a JSON body, an answer in JSON with status 200 whatever it says. */

/** Asks a node. `shape` checks the answer and throws what is wrong with it. Throws NODE_UNREACHABLE (retried; the
 *  outcome is unknown) where the node does not answer, or not in this shape. */
export type Ask = <T>(path: string, body: object, shape: (answer: unknown) => T) => Promise<T>;

const waitMs = 10_000;
const mostBytes = 64 * 1024 * 1024;
const connections = 64;
const idleMs = 4000;
/** A question is asked this often before the node counts as away; a broadcast once, for its sender decides. */
const tries = 3;
const pauseMs = 150;
const isQuestion = (path: string): boolean => !path.startsWith('/wallet/broadcast');

type Source = Readonly<{ source?: string }>;

/** JSON with integers of any size: one that no JavaScript number carries exactly is a bigint. Nodes write int64 as
 *  numbers, and there are more sun than 2^53. */
export function parseExactly(text: string): unknown {
  const revive = (_key: string, value: unknown, { source }: Source): unknown =>
    typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) && source !== undefined
      ? exact(source)
      : value;
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
}

/** Of `1e400` and the like no amount can be read, and nothing else is written so. */
function exact(source: string): bigint {
  if (!/^-?\d{1,30}$/.test(source)) throw new Error(`${source.slice(0, 40)} is no amount`);
  return BigInt(source);
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > mostBytes) throw new Error(`the answer is larger than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Credentials come from the URL or the login and go into a header. */
export function tronHttp({ url, user = '', password = '' }: NodeLogin): Ask {
  const target = new URL(url);
  const name = user || decodeURIComponent(target.username);
  const secret = password || decodeURIComponent(target.password);
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (name) headers.authorization = `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`;
  const node = new Pool(target.origin, { connections, keepAliveTimeout: idleMs });
  const base = target.pathname.replace(/\/+$/, '');
  const once = async <T>(path: string, body: object, shape: (answer: unknown) => T): Promise<T> => {
    const signal = AbortSignal.timeout(waitMs);
    try {
      const given = await node.request({
        path: base + path,
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        signal,
      });
      const text = await textOf(given.body);
      if (given.statusCode !== 200) throw new Error(`HTTP ${given.statusCode}`);
      return shape(parseExactly(text));
    } catch (error) {
      const why = signal.aborted ? 'no answer in time' : (error as Error).message;
      throw new DomainError('NODE_UNREACHABLE', `${path} at ${target.host}: ${why}`);
    }
  };
  return async (path, body, shape) => {
    for (let n = 1; ; n += 1) {
      try {
        return await once(path, body, shape);
      } catch (error) {
        if (!isQuestion(path) || n === tries) throw error;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  };
}
