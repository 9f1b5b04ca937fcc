import type { Route } from './route';

/** When files got routes of their own, in seconds since 1970. */
const oldFormatSince = Date.UTC(2026, 10, 24) / 1000;

/** What an answer to `format=csv` and the like on a list says of itself, by RFC 9745: it is deprecated, and which route
 *  takes its place. It is not switched off, so there is no `Sunset`. Announced in docs/guides/api-changes.md. */
export const deprecationHeaders = (
  { path, success }: Pick<Route, 'path' | 'success'>,
  { format }: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> =>
  success.orElse && typeof format === 'string' && format !== 'json'
    ? { Deprecation: `@${oldFormatSince}`, Link: `<${path}.${format}>; rel="successor-version"` }
    : {};
