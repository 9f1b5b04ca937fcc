import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from 'pg';
import { errorResponse } from '../../api/http/errors';
import { errorsOf, exampleNameOf } from '../../api/http/reference/errors';
import type { Route } from '../../api/http/route';
import { livemodeSql } from '../../db/instance';
import { DomainError } from '../../domain/errors';
import { eventJson, type EventRow } from '../../domain/webhooks/event-view';
import { routeAt } from '../shared/declared';

/** Keeps what tests send and are answered, for the examples of the API reference: `npm run examples` reads these files.
 *  Does nothing unless RECORD_EXAMPLES names a folder. */
const folder = process.env['RECORD_EXAMPLES'];

function keep(kind: string, name: string, content: object): void {
  const text = JSON.stringify(content);
  if (text.length > 500_000) return;
  mkdirSync(join(folder!, kind), { recursive: true });
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 12);
  writeFileSync(join(folder!, kind, `${name}.${hash}.json`), text);
}

const perRoute = 25;
const counts = new Map<string, number>();

/** A call of a test that runs the whole service, if it succeeded. */
export function recordAnswer(
  method: string,
  path: string,
  body: unknown,
  answer: Readonly<{ status: number; body: unknown }>,
): void {
  const route = folder ? routeAt(method, path) : undefined;
  if (route?.success.status === answer.status) recordCall(route.name, { path, body, answer: answer.body });
}

/** One call that succeeded. Of one route no more than the first few of a test file. */
export function recordCall(route: string, call: Readonly<{ path: string; body?: unknown; answer: unknown }>): void {
  const count = (counts.get(route) ?? 0) + 1;
  if (!folder || count > perRoute) return;
  counts.set(route, count);
  keep('calls', route, call);
}

/** One refusal. Of one code no more than the first few of a test file and route. */
export function recordRefusal(route: Route, answer: object): void {
  if (!folder) return;
  const name = nameOfRefusal(route, answer);
  const key = `${name} ${route.name}`;
  const count = (counts.get(key) ?? 0) + 1;
  if (!name || count > 2) return;
  counts.set(key, count);
  keep('refusals', name, { route: route.name, answer });
}

/** Shape and code of a refusal, as the API reference calls its example; undefined where the route does not declare
 *  it. */
function nameOfRefusal(route: Route, answer: object): string | undefined {
  const same = errorsOf(route)
    .map((code) => errorResponse(new DomainError(code), route.refusals ?? route.envelope, 'req_1'))
    .filter(({ body }) => codeIn(body) === codeIn(answer));
  // Several codes may be told by one name: each has words of its own.
  const found = same.find(({ body }) => wordsIn(body) === wordsIn(answer)) ?? same[0];
  return found && exampleNameOf(found);
}
const wordsIn = (body: { error?: string | { message?: string }; message?: string }): string | undefined =>
  typeof body.error === 'object' ? body.error.message : body.message;
const codeIn = (body: { error?: string | { code: string } }): string | undefined =>
  typeof body.error === 'object' ? body.error.code : body.error;

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
