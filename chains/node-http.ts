import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionOptions } from 'node:tls';
import { Pool } from 'undici';
import { DomainError } from '../domain/errors';

/** What calls of a node over HTTP share, whatever is said in them. */

/** Where a node is, and who we are to it; absent: nobody. `final`: where it shows its final blocks, of a node that has
 *  them at another address. */
export type NodeLogin = Readonly<{ url: string; user?: string; password?: string; final?: string }>;

/** Connections to a node at the most; what is asked beyond them waits. */
const connections = 64;
/** A connection that is not used for this long is closed: before nodes, and what stands before them, close it. */
const idleMs = 4000;
/** A question is asked this often before the node counts as away. */
export const usualTries = 3;
const pauseMs = 150;

/** Credentials come from the URL or the login and go into a header. Connections are kept: `fetch` takes three times the
 *  processor for the same, and a node is asked all the time. `tls`: how a node with a certificate of its own
 *  is known. */
export function connectionTo(
  { url, user = '', password = '' }: NodeLogin,
  tls?: ConnectionOptions,
): Readonly<{
  node: Pool;
  headers: Readonly<Record<string, string>>;
  target: URL;
}> {
  const target = new URL(url);
  const name = user || decodeURIComponent(target.username);
  const secret = password || decodeURIComponent(target.password);
  target.username = '';
  target.password = '';
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (name) headers.authorization = `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`;
  const node = new Pool(target.origin, { connections, keepAliveTimeout: idleMs, ...(tls ? { connect: tls } : {}) });
  return { node, headers, target };
}

/** Calls until the node has answered, so many times at the most; what it has refused is refused. */
export async function untilAnswered<T>(call: () => Promise<T>, tries: number): Promise<T> {
  for (let n = 1; ; n += 1) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof DomainError) || n === tries) throw error;
      await sleep(pauseMs);
    }
  }
}

/** How a call of a node is made. `isUsual`: a node that is there answers it within the time of `signal`. */
type Heard = Readonly<{ what: string; signal: AbortSignal; isUsual?: boolean }>;

/** Makes calls of one node. While it lets them wait until their time is up, one at a time finds out whether it answers
 *  again, and the others fail at once: who waits for one network takes no place of a worker from who waits for
 *  another. Throws NODE_UNREACHABLE (retried). docs/decisions/0101-payouts-network-by-network.md */
export function hearing({ host }: URL): <T>(heard: Heard, call: () => Promise<T>) => Promise<T> {
  let isSilent = false;
  let isTried = false;
  let heardAt = 0;
  return async ({ what, signal, isUsual = true }, call) => {
    const isTry = isSilent;
    if (isTry && isTried)
      throw new DomainError('NODE_UNREACHABLE', `${what} at ${host}: it lets another call wait, and is not asked`);
    if (isTry) isTried = true;
    const began = performance.now();
    try {
      return await call();
    } finally {
      if (isTry) isTried = false;
      if (!signal.aborted) [isSilent, heardAt] = [false, performance.now()];
      else if (isUsual && heardAt < began) isSilent = true;
    }
  };
}

export class TooLarge extends Error {}

/** The text of an answer. Throws where it is larger than `most`. */
export async function wholeText(body: AsyncIterable<Buffer>, most: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > most) throw new TooLarge(`the answer is larger than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
