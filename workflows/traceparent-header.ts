import { defaultPayloadConverter, type Headers } from '@temporalio/common';

/** Where the interceptors of Temporal's own SDKs put it too. */
const name = '_tracer-data';

/** The span that Temporal was asked from; null where it is in no trace. */
export function traceparentIn(headers: Headers): string | null {
  const payload = headers[name];
  if (!payload) return null;
  const carrier = defaultPayloadConverter.fromPayload<{ traceparent?: unknown } | null>(payload);
  return typeof carrier?.traceparent === 'string' ? carrier.traceparent : null;
}

/** The same headers where there is no trace. */
export const withTraceparent = (headers: Headers, traceparent: string | null | undefined): Headers =>
  traceparent ? { ...headers, [name]: defaultPayloadConverter.toPayload({ traceparent }) } : headers;
