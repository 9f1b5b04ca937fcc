/** Pauses before attempt 2, 3, …; after the last the delivery has failed. About three days in all. Contract: G4. */
const minute = 60_000;
const hour = 60 * minute;
export const retryPausesMs: readonly number[] = [
  5000,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];
/** A server may ask for more patience, up to this. */
const longestWaitMs = 24 * hour;

/** What becomes of a delivery after attempt `n` (from 1): over, or again after `nextInMs`. 410 ends it at once;
 *  Retry-After is honoured where it asks for more than the schedule. `jitter`: 0.9 to 1.1. `scale`: 1 outside tests. */
export function afterAttempt(
  n: number,
  answer: Readonly<{ statusCode: number | null; retryAfterMs: number | null }>,
  jitter: number,
  scale: number,
): Readonly<{ status: 'succeeded' | 'retrying' | 'failed'; nextInMs: number | null }> {
  const { statusCode } = answer;
  if (statusCode !== null && statusCode >= 200 && statusCode < 300) return { status: 'succeeded', nextInMs: null };
  const pause = retryPausesMs[n - 1];
  if (statusCode === 410 || pause === undefined) return { status: 'failed', nextInMs: null };
  const asked = Math.min(answer.retryAfterMs ?? 0, longestWaitMs);
  return { status: 'retrying', nextInMs: Math.round(Math.max(pause * jitter, asked) * scale) };
}

/** So many attempts at one server of a merchant are under way at once in a process: one that does not answer leaves
 *  room to others, and a replay does not run anybody over. */
export const attemptsAtOnce = 20;
/** How long a delivery waits that found its server busy: 10 to 60 s, by a `chance` of 0 to 1. `scale`: 1 outside
 *  tests. */
export const busyPauseMs = (chance: number, scale: number): number => Math.round((10_000 + chance * 50_000) * scale);
