import { DomainError } from '../../domain/errors';
import { connectionTo, hearing, untilAnswered, usualTries, wholeText, type NodeLogin } from '../node-http';

/** Calls of a node's HTTP API: POST with a JSON body, an answer in JSON with status 200 whatever it says. */

/** Asks a node. `shape` checks the answer and throws what is wrong with it. Throws NODE_UNREACHABLE (retried; the
 *  outcome is unknown) where the node does not answer, or not in this shape. */
export type Ask = <T>(path: string, body: object, shape: (answer: unknown) => T) => Promise<T>;

const waitMs = 10_000;
const mostBytes = 64 * 1024 * 1024;
/** A broadcast is tried once, for its sender decides. */
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

export function tronHttp(login: NodeLogin): Ask {
  const { node, headers, target } = connectionTo(login);
  const base = target.pathname.replace(/\/+$/, '');
  const heard = hearing(target);
  const once = async <T>(
    path: string,
    body: object,
    shape: (answer: unknown) => T,
    signal: AbortSignal,
  ): Promise<T> => {
    try {
      const given = await node.request({
        path: base + path,
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        signal,
      });
      const text = await wholeText(given.body, mostBytes);
      if (given.statusCode !== 200) throw new Error(`HTTP ${given.statusCode}`);
      return shape(parseExactly(text));
    } catch (error) {
      const why = signal.aborted ? 'no answer in time' : (error as Error).message;
      throw new DomainError('NODE_UNREACHABLE', `${path} at ${target.host}: ${why}`);
    }
  };
  const ask: Ask = (path, body, shape) => {
    const signal = AbortSignal.timeout(waitMs);
    return heard({ what: path, signal }, () => once(path, body, shape, signal));
  };
  return (path, body, shape) => untilAnswered(() => ask(path, body, shape), isQuestion(path) ? usualTries : 1);
}

/** The two views of one node: at one address, unless told where its final blocks are. */
export const tronLogins = ({ final, ...login }: NodeLogin): Readonly<{ login: NodeLogin; solid?: NodeLogin }> => ({
  login,
  ...(final === undefined ? {} : { solid: { url: final } }),
});
