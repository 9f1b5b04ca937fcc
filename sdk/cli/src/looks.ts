import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '@crypto-payment-service/sdk';

export type Looking<Found> = Readonly<{
  everyMs?: number;
  signal?: AbortSignal;
  /** Whether the next look comes at once. */
  hasMore?: (found: Found) => boolean;
  /** Told once when the API goes away, and once when it is back. */
  onGone?: (error: unknown) => void;
  onBack?: () => void;
}>;

/** A refusal that another try will not change. */
const isFinal = (error: unknown): boolean =>
  error instanceof ApiError && error.status < 500 && error.status !== 429 && error.status !== 408;

/** What each look at the API finds, until `signal`. While the API is away it is asked more and more seldom. */
export async function* looks<Found>(
  look: () => Promise<Found>,
  { everyMs = 500, signal, hasMore, onGone, onBack }: Looking<Found>,
): AsyncGenerator<Found, void, undefined> {
  let failures = 0;
  while (!signal?.aborted) {
    try {
      const found = await look();
      if (failures > 0) onBack?.();
      failures = 0;
      yield found;
      if (hasMore?.(found)) continue;
    } catch (error) {
      if (signal?.aborted) return;
      if (isFinal(error)) throw error;
      if ((failures += 1) === 1) onGone?.(error);
    }
    const pause = failures === 0 ? everyMs : Math.min(5000, everyMs * 2 ** Math.min(failures, 6));
    await sleep(pause, undefined, { signal }).catch(() => undefined); // ended: the loop sees it
  }
}
