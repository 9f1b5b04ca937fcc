import { CryptoPayments } from '@crypto-payment-service/sdk';
import { looks, type Looking } from './looks.js';
import { membersOf, rawProperty } from './raw-json.js';
import type { Access } from './settings.js';

/** The stream of events by `seq`. It is asked for, not pushed: after a restart of the API or a night of sleep the next
 *  question goes on behind the last event that was handled, so that none is lost and none comes twice. */

export type RawEvent = Readonly<{ id: string; type: string; seq: number; raw: string; data: Record<string, unknown> }>;
type Page = Readonly<{ events: readonly RawEvent[]; hasMore: boolean; nextCursor: string }>;
type Asked = Readonly<{ after: string; types?: string; limit?: number; timeoutMs?: number }>;

export const eventOf = (raw: string): RawEvent => {
  const { id, type, seq, data } = JSON.parse(raw) as Omit<RawEvent, 'raw'>;
  return { id, type, seq, data, raw };
};

/** The id of the resource that an event is about. */
export const aboutOf = ({ data }: RawEvent): string | undefined => (data['_id'] ?? data['id']) as string | undefined;

/** An event in a line for people: its own id is what `events resend` takes. */
export function lineOf(event: RawEvent): string {
  const about = aboutOf(event);
  const cells = [String(event.seq).padStart(6), event.type.padEnd(28), `event ${event.id}`];
  return [...cells, ...(about ? [`of ${about}`] : [])].join('  ');
}

/** The payload of a call as text, from the client of the SDK: refusals are its errors. So is silence: a connection that
 *  died unnoticed is given up after `timeoutMs`. */
export async function rawPayload(
  { apiUrl: baseUrl, apiKey }: Access,
  call: (client: CryptoPayments) => PromiseLike<unknown>,
  timeoutMs = 20_000,
): Promise<string> {
  let text = '';
  const keep: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    text = await response.clone().text();
    return response;
  };
  await call(new CryptoPayments({ baseUrl, apiKey, timeoutMs, maxRetries: 0, fetch: keep }));
  return rawProperty(text, 'data')!;
}

async function page(access: Access, asked: Asked, signal?: AbortSignal): Promise<Page> {
  const { after, types, limit = 100, timeoutMs } = asked;
  const text = await rawPayload(access, ({ events }) => events.list({ after, types, limit }, { signal }), timeoutMs);
  const { hasMore, nextCursor } = JSON.parse(text) as Pick<Page, 'hasMore' | 'nextCursor'>;
  const events = membersOf(rawProperty(text, 'items')!).map(({ value }) => eventOf(value));
  return { events, hasMore, nextCursor };
}

/** Behind the newest event there is now. `webhook.test` is rare: its pages pass over the others. */
export async function headOf(access: Access, timeoutMs?: number): Promise<string> {
  for (let after = '0'; ;) {
    const { hasMore, nextCursor } = await page(access, { after, types: 'webhook.test', timeoutMs });
    if (!hasMore) return nextCursor;
    after = nextCursor;
  }
}

type Follow = Omit<Looking<Page>, 'hasMore'> & Readonly<{ after: string; types?: string; timeoutMs?: number }>;

/** Every event behind `after`, in order, until `signal`. The caller has handled an event when it asks for the next. */
export async function* follow(
  access: Access,
  { types, timeoutMs, ...asked }: Follow,
): AsyncGenerator<RawEvent, void, undefined> {
  const { signal } = asked;
  let { after } = asked;
  const look = () => page(access, { after, types, timeoutMs }, signal);
  for await (const { events, nextCursor } of looks(look, { ...asked, hasMore: ({ hasMore }) => hasMore })) {
    for (const event of events) {
      if (signal?.aborted) return;
      yield event;
      after = String(event.seq);
    }
    after = nextCursor;
  }
}
