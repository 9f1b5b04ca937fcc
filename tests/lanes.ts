/** Tests that wait more than they work, begun together by the first of them. Those of a lane come one after the other,
 *  the lanes at the same time. Each is told by itself, and one that fails does not end its lane. */
export type Lane = ReadonlyArray<readonly [name: string, test: () => Promise<void>]>;

export function lanes(...all: readonly Lane[]): void {
  let begun: Array<Array<Promise<Ending>>> | undefined;
  const begin = (): Array<Array<Promise<Ending>>> =>
    all.map((lane) => {
      let before: Promise<unknown> = Promise.resolve();
      return lane.map(([, test]) => {
        const ending = before.then(() => endingOf(test));
        before = ending;
        return ending;
      });
    });
  all.forEach((lane, n) => {
    lane.forEach(([name], m) => {
      it(name, async () => {
        begun ??= begin();
        const ending = await begun[n]![m]!;
        if ('error' in ending) throw ending.error;
      });
    });
  });
}

/** Kept until it is asked for: a rejection that nobody awaits yet would end the process. */
type Ending = Readonly<{ error?: unknown }>;
async function endingOf(test: () => Promise<void>): Promise<Ending> {
  try {
    await test();
    return {};
  } catch (error) {
    return { error };
  }
}
