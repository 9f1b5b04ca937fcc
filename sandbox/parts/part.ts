/** Something that the service needs and that runs beside it. */
export interface Part {
  readonly name: string;
  /** Where it is reached; the same after every start. */
  readonly url: string;
  /** Undefined while it is down, or where somebody else runs it. */
  pid(): number | undefined;
  /** Starts it (again) on the same data and port, and waits until it answers. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** As if its machine lost power: SIGKILL, no last words. */
  kill9(): Promise<void>;
}

/** A part that somebody else runs: nothing to start, nothing to stop. */
export const external = (name: string, url: string): Part => ({
  name,
  url,
  pid: () => undefined,
  start: async () => {},
  stop: async () => {},
  kill9: async () => {
    throw new Error(`${name} is not ours to kill`);
  },
});
