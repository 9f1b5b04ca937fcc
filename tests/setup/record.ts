import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from 'pg';
import { livemodeSql } from '../../db/instance';
import { eventJson, type EventRow } from '../../domain/webhooks/event-view';

/** Keeps what tests send and are answered, for the examples of the API reference: `npm run examples` reads these files.
 *  Does nothing unless RECORD_EXAMPLES names a folder. */
const folder = process.env['RECORD_EXAMPLES'];

function keep(kind: string, name: string, content: object): void {
  const text = JSON.stringify(content);
  if (text.length > 20_000) return;
  mkdirSync(join(folder!, kind), { recursive: true });
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  writeFileSync(join(folder!, kind, `${name}.${hash}.json`), text);
}

const perRoute = 25;
const counts = new Map<string, number>();

/** One call that succeeded. Of one route no more than the first few of a test file. */
export function recordCall(route: string, call: Readonly<{ path: string; body?: unknown; answer: unknown }>): void {
  const count = (counts.get(route) ?? 0) + 1;
  if (!folder || count > perRoute) return;
  counts.set(route, count);
  keep('calls', route, call);
}

/** Of each type the longest event in a database that is about to be dropped; one that is out of the ordinary only where
 *  there is no other. */
export async function recordEvents(client: Client): Promise<void> {
  if (!folder) return;
  const { rows: found } = await client.query<{ event: string | null }>(`SELECT to_regclass('event') AS event`);
  if (!found[0]!.event) return; // a database without a schema
  const { rows } = await client.query<EventRow>(
    `SELECT DISTINCT ON (type) id, type, merchant_id, seq::text, data::text, previous::text, created_at,
            ${livemodeSql} AS livemode
       FROM event ORDER BY type, data->>'parentPaymentId' IS NOT NULL, coalesce(data->>'exceptions', '[]') <> '[]',
            length(data::text) DESC, length(previous::text) DESC`,
  );
  for (const row of rows) keep('events', row.type, JSON.parse(eventJson(row)) as object);
}
