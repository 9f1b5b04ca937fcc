import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, CryptoPayments } from '@crypto-payment-service/sdk';
import { membersOf, rawProperty } from './raw-json.js';
import type { Access } from './settings.js';

/** The stream of events by `seq`. It is asked for, not pushed: after a restart of the API or a night of sleep the next
 *  question goes on behind the last event that was handled, so that none is lost and none comes twice. */

export type RawEvent = Readonly<{ id: string; type: string; seq: number; raw: string; data: Record<string, unknown> }>;
type Page = Readonly<{ events: readonly RawEvent[]; hasMore: boolean; nextCursor: string }>;
type Asked = Readonly<{ after: string; types?: string; limit?: number }>;

const patienceMs = 20_000;

export const eventOf = (raw: string): RawEvent => {
  const { id, type, seq, data } = JSON.parse(raw) as Omit<RawEvent, 'raw'>;
  return { id, type, seq, data, raw };
};

/** The payload of a call as text, from the client of the SDK: refusals are its errors. */
export async function rawPayload(
  { apiUrl: baseUrl, apiKey }: Access,
  call: (client: CryptoPayments) => PromiseLike<unknown>,
): Promise<string> {
  let text = '';
  const keep: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    text = await response.clone().text();
    return response;
  };
  await call(new CryptoPayments({ baseUrl, apiKey, timeoutMs: patienceMs, maxRetries: 0, fetch: keep }));
  return rawProperty(text, 'data')!;
}

async function page(access: Access, { after, types, limit = 100 }: Asked, signal?: AbortSignal): Promise<Page> {
  const text = await rawPayload(access, ({ events }) => events.list({ after, types, limit }, { signal }));
  const { hasMore, nextCursor } = JSON.parse(text) as Pick<Page, 'hasMore' | 'nextCursor'>;
  const events = membersOf(rawProperty(text, 'items')!).map(({ value }) => eventOf(value));
  return { events, hasMore, nextCursor };
}

/** Behind the newest event there is now. `webhook.test` is rare: its pages pass over the others. */
export async function headOf(access: Access): Promise<string> {
  for (let after = '0'; ;) {
    const { hasMore, nextCursor } = await page(access, { after, types: 'webhook.test' });
    if (!hasMore) return nextCursor;
    after = nextCursor;
  }
}

/** A refusal that another try will not change. */
const isFinal = (error: unknown): boolean =>
  error instanceof ApiError && error.status < 500 && error.status !== 429 && error.status !== 408;

type Follow = Readonly<{
  after: string;
  types?: string;
  everyMs?: number;
  signal?: AbortSignal;
  /** Told once when the API goes away, and once when it is back. */
  onGone?: (error: unknown) => void;
  onBack?: () => void;
}>;

/** Every event behind `after`, in order, until `signal`. The caller has handled an event when it asks for the next. */
export async function* follow(access: Access, asked: Follow): AsyncGenerator<RawEvent, void, undefined> {
  const { types, everyMs = 500, signal } = asked;
  let { after } = asked;
  let failures = 0;
  while (!signal?.aborted) {
    let found: Page | undefined;
    try {
      found = await page(access, { after, types }, signal);
    } catch (error) {
      if (signal?.aborted) return;
      if (isFinal(error)) throw error;
      if ((failures += 1) === 1) asked.onGone?.(error);
    }
    if (found && failures > 0) {
      failures = 0;
      asked.onBack?.();
    }
    for (const event of found?.events ?? []) {
      if (signal?.aborted) return;
      yield event;
      after = String(event.seq);
    }
    if (found) after = found.nextCursor;
    if (found?.hasMore) continue;
    const pause = failures === 0 ? everyMs : Math.min(5000, everyMs * 2 ** Math.min(failures, 6));
    await sleep(pause, undefined, { signal }).catch(() => undefined); // ended: the loop sees it
  }
}
