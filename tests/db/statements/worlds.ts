/** Takes one of `count` ways; the same way for the same `key`. */
export type Choose = (key: string, count: number) => number;

const most = 500;
/** There are more ways than anybody can look at. */
export class TooMany extends Error {}

/** What `act` gives on every way through its choices. */
export function everyWorld<T>(act: (choose: Choose) => T): T[] {
  const results: T[] = [];
  let script: readonly number[] = [];
  for (;;) {
    const made: Array<readonly [taken: number, count: number]> = [];
    const byKey = new Map<string, number>();
    const choose: Choose = (key, count) => {
      const before = byKey.get(key);
      if (before !== undefined) return before;
      const taken = script[made.length] ?? 0;
      made.push([taken, count]);
      byKey.set(key, taken);
      return taken;
    };
    results.push(act(choose));
    while (made.length && made.at(-1)![0] + 1 >= made.at(-1)![1]) made.pop();
    const last = made.at(-1);
    if (!last) return results;
    if (results.length >= most) throw new TooMany(`more than ${most} ways`);
    script = [...made.slice(0, -1).map(([taken]) => taken), last[0] + 1];
  }
}
