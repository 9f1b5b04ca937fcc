import type { MediaTypeObject } from 'openapi3-ts/oas31';
import type { TObject } from 'typebox';

/** Recorded calls by the name of their route, and events by their type. `npm run examples` makes them anew. */
export type Examples = Readonly<{
  calls: Readonly<Record<string, Readonly<{ path: string; body?: unknown; answer?: unknown }>>>;
  events: Readonly<Record<string, unknown>>;
  /** Bodies of refusals, by the name of their example. */
  refusals: Readonly<Record<string, unknown>>;
}>;
export const noExamples: Examples = { calls: {}, events: {}, refusals: {} };

type WithExample = Pick<MediaTypeObject, 'example'>;

/** The example of a body or an answer, if there is one; of a body what its schema names: the rest is stripped. */
export function exampleOf(
  { calls }: Examples,
  route: string,
  part: 'body' | 'answer',
  schema?: Pick<TObject, 'properties'>,
): WithExample {
  const example = Object.hasOwn(calls, route) ? calls[route]![part] : undefined;
  if (example === undefined) return {};
  if (!schema || typeof example !== 'object' || example === null) return { example };
  return { example: Object.fromEntries(Object.entries(example).filter(([name]) => name in schema.properties)) };
}

/** The example of the last of these types of events that has one: what comes last shows most. */
export function eventExampleOf({ events }: Examples, types: readonly string[]): WithExample {
  // Data of `webhook.test` has a property called `example`, which tools take for one of a schema.
  const type = types.findLast((one) => one !== 'webhook.test' && Object.hasOwn(events, one));
  return type === undefined ? {} : { example: events[type] };
}
