import { setTimeout as sleep } from 'node:timers/promises';

/** Answers, or refuses, at the next whole multiple of `tickMs` after the call: how long the work took cannot be told
 *  from outside. For what must not say whether an e-mail address is known. Invariants: 7, Enumeration. */
export async function evenly<T>(tickMs: number, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  try {
    return await work();
  } finally {
    const took = performance.now() - began;
    await sleep(Math.ceil(took / tickMs) * tickMs - took);
  }
}
