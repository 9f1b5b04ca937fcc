import { mkdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cache } from './places.mjs';
import { say } from './say.mjs';

const touchedEveryMs = 2000;
const isLeftAfterMs = 20_000;

/** Locks of ours. Whatever ends us but SIGKILL gives them back, so that the next run need not wait. */
const held = new Set();
process.on('exit', () => held.forEach((lock) => rmSync(lock, { recursive: true, force: true })));

/** Does `make` unless `find` finds that it is done, while no other run on this machine does the same: two that begin at
 *  once build one server, and none reads what the other has half made. A run that was killed holds nobody up for long.
 *  Returns what `find` finds, or what `make` returns; what is falsy is nothing found. */
export async function oneAtATime(name, find, make, places = cache) {
  const found = find();
  if (found) return found;
  const lock = join(places, 'locks', name);
  mkdirSync(join(places, 'locks'), { recursive: true });
  for (let isSaid = false; !taken(lock); await sleep(500)) {
    if (!isSaid) say(`Another run is at the same step (${name}); waiting for it …`);
    isSaid = true;
  }
  held.add(lock);
  const touching = setInterval(() => utimesSync(lock, new Date(), new Date()), touchedEveryMs);
  try {
    return find() || (await make());
  } finally {
    clearInterval(touching);
    held.delete(lock);
    rmSync(lock, { recursive: true, force: true });
  }
}

/** Whether the lock is ours now. */
function taken(lock) {
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  try {
    if (Date.now() - statSync(lock).mtimeMs > isLeftAfterMs) rmSync(lock, { recursive: true, force: true });
  } catch (error) {
    if (error.code !== 'ENOENT') throw error; // it is free now
  }
  return false;
}
