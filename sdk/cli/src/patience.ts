/** How long an answer is waited for. Only time in which this process runs counts: an answer that came while the process
 *  was stopped is still to be read, and a timer that fires first must not throw it away. */
export type Patience = Readonly<{
  /** Aborted when patience is over. */
  signal: AbortSignal;
  /** Ends the waiting. Returns whether this process was stopped meanwhile. */
  end: () => boolean;
}>;

const ticks = 15;
/** A tick that is later than this many counts as a pause. A busy machine is late too: that does no harm. */
const lateTicks = 3;

export function patience(timeoutMs: number): Patience {
  const over = new AbortController();
  const everyMs = timeoutMs / ticks;
  let left = ticks;
  let wasStopped = false;
  let last = Date.now(); // the clock of the day goes on in a sleep, the one of timers may not
  const isLate = (): boolean => {
    const now = Date.now();
    const late = now - last > lateTicks * everyMs;
    last = now;
    wasStopped ||= late;
    return late;
  };
  const timer = setInterval(() => {
    if (isLate()) return;
    left -= 1;
    if (left === 0) over.abort(new Error('timed out'));
  }, everyMs);
  return {
    signal: over.signal,
    end() {
      clearInterval(timer);
      isLate();
      return wasStopped;
    },
  };
}
