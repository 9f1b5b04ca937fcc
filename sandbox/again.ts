import { setTimeout as sleep } from 'node:timers/promises';

const everyMs = 50;
const withinMs = 10_000;

/** What `ask` answers, asked again as long as it is refused with these words: somebody else is served first, and it is
 *  our turn in a moment. Any other refusal, and one after ten seconds, is thrown. */
export async function whileRefused<T>(words: RegExp, ask: () => Promise<T>): Promise<T> {
  for (const end = Date.now() + withinMs; ; await sleep(everyMs))
    try {
      return await ask();
    } catch (error) {
      if (!words.test((error as Error).message) || Date.now() > end) throw error;
    }
}
