import type { Part } from '../parts/part';

/** What a stack has running, and how it ends. */
export type Running = Readonly<{
  /** Our own processes, by name. */
  services: Map<string, Part>;
  /** Waits for a part; from then on it is ended with the rest. */
  add<P extends Part>(part: Promise<P>): Promise<P>;
  /** Is called before anything ends. */
  endFirst(end: () => Promise<void>): void;
  /** Ends all that was started, services first. */
  stop(): Promise<void>;
}>;

/** What leans on another part, so it goes before that: a Lightning node closes its database in order only while it has
 *  its Bitcoin node. */
const leaning = ['lnd', 'lnd-payer'];

/** What others lean on, so it goes last: Temporal, and then PostgreSQL, which may have its workflows. */
const anchors = ['temporal', 'postgres'];

export function nothingRunning(): Running {
  const started: Part[] = [];
  const services = new Map<string, Part>();
  const first: Array<() => Promise<void>> = [];
  return {
    services,
    add: async (part) => {
      const running = await part;
      started.push(running);
      return running;
    },
    endFirst: (end) => {
      first.push(end);
    },
    stop: async () => {
      for (const end of first.splice(0)) await end();
      await Promise.all([...services.values()].map((one) => one.stop()));
      const parts = started.splice(0);
      const ended = (isDue: (name: string) => boolean): Promise<unknown> =>
        Promise.all(parts.filter(({ name }) => isDue(name)).map((part) => part.stop()));
      await ended((name) => leaning.includes(name));
      await ended((name) => ![...leaning, ...anchors].includes(name));
      for (const anchor of anchors) await parts.find(({ name }) => name === anchor)?.stop();
    },
  };
}
