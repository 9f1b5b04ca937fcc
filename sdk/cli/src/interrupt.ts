/** What goes on until Ctrl-C asks for this: it ends in its own time. Everything else ends at once, as programs do. */

/** A launcher hands on a signal that the terminal has sent already: the same Ctrl-C comes twice. */
const sameMs = 500;

/** Aborted by the first Ctrl-C or SIGTERM. Another one ends the process. */
export function untilInterrupted(): AbortSignal {
  const ended = new AbortController();
  let firstAt: number | undefined;
  const end = (): void => {
    firstAt ??= performance.now();
    if (performance.now() - firstAt > sameMs) process.exit(130);
    ended.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);
  return ended.signal;
}
