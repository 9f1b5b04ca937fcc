import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from './refusal.js';
import type { Sandbox } from './settings.js';

/** The log of requests of a sandbox: what its copies of the API write, a JSON line per request. */

export type LoggedRequest = Readonly<{
  time: number;
  method: string;
  route: string;
  status: number;
  ms: number;
  requestId: string;
  paymentId?: string;
}>;

/** A file that grows; one that began anew is read from its beginning, and one that is gone has nothing. */
class Tail {
  private rest = '';
  /** Which file it is: another may have come in its place. */
  private inode: number | undefined;

  constructor(
    private readonly file: string,
    private at = statSync(file, { throwIfNoEntry: false })?.size ?? 0,
  ) {
    this.inode = statSync(file, { throwIfNoEntry: false })?.ino;
  }

  lines(): string[] {
    const grown = this.grown();
    const lines = (this.rest + grown).split('\n');
    this.rest = lines.pop()!;
    return lines;
  }

  private grown(): string {
    let handle: number;
    try {
      handle = openSync(this.file, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return ''; // removed by a rotation or a reset: what comes in its place is new
    }
    try {
      const { size, ino } = fstatSync(handle);
      if (size < this.at || ino !== this.inode) [this.at, this.rest, this.inode] = [0, '', ino];
      const bytes = Buffer.alloc(size - this.at);
      this.at += readSync(handle, bytes, 0, bytes.length, this.at);
      return bytes.toString('utf8');
    } finally {
      closeSync(handle);
    }
  }
}

function requestOf(line: string): LoggedRequest | undefined {
  if (!line.includes('"msg":"request"')) return undefined;
  const parsed = JSON.parse(line) as Record<string, unknown>;
  return parsed['msg'] === 'request' ? (parsed as unknown as LoggedRequest) : undefined;
}

/** Requests as they come, of every copy of the API. Throws Refusal where there is no log. */
export async function* requests(
  { folder }: Sandbox,
  signal: AbortSignal,
): AsyncGenerator<LoggedRequest, void, undefined> {
  const place = join(folder, 'logs');
  const tails = new Map<string, Tail>();
  // A log that comes later is new from its first line.
  const find = (at?: number): void => {
    for (const name of existsSync(place) ? readdirSync(place) : [])
      if (/^api-\d+\.log$/.test(name) && !tails.has(name)) tails.set(name, new Tail(join(place, name), at));
  };
  find();
  if (tails.size === 0) throw new Refusal(`${place} has no log of an API: is this the folder of a sandbox?`, 'NO_LOG');
  while (!signal.aborted) {
    for (const tail of tails.values())
      for (const line of tail.lines()) {
        const request = requestOf(line);
        if (request) yield request;
      }
    await sleep(250, undefined, { signal }).catch(() => undefined); // ended: the loop sees it
    find(0);
  }
}
