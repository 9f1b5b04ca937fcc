import createClient from 'openapi-fetch';
import type { paths } from '../generated/api';
import { apiUrl } from './places';
import { ApiError, isExpired, readError } from './errors';
import { renewed, signedInAgain } from './renewal';

/** Calls to the API, typed by its own reference. The session is in cookies that no script can read. */

/** Calls that answer 401 for a reason of their own: no session is renewed for them. */
const ownReasons = 'login|register|verify-|resend-|forgot-|reset-|2fa/|passkey/login-|refresh|logout';
const withoutSession = new RegExp(`/api/v1/(auth/(${ownReasons})|team-invitations/(lookup|accept))`);

/** Sends a request; where the session has expired it is renewed, or the person signs in again in place, and the
 *  request is repeated. */
async function send(request: Request): Promise<Response> {
  const again = request.clone();
  const answer = await fetch(request).catch(() => {
    throw new ApiError({ status: 0, code: 'OFFLINE', message: '' });
  });
  if (withoutSession.test(request.url) || !(await isExpired(answer))) return answer;
  if (await renewed()) return fetch(again);
  return (await signedInAgain()) ? fetch(again) : answer;
}

export const client = createClient<paths>({
  baseUrl: apiUrl,
  credentials: 'include',
  fetch: send,
});

type Answered<T> = Readonly<{ data?: T; error?: unknown; response: Response }>;
/** What an answer is about, without its envelope. */
export type Payload<T> = T extends { ok: true; data: infer D } ? D : T;

/** The payload of a success. Throws ApiError for everything else. */
export async function payload<T>(call: Promise<Answered<T>>): Promise<Payload<T>> {
  const { data, error, response } = await call;
  if (!response.ok) throw readError(response, error);
  const isWrapped = typeof data === 'object' && data !== null && 'ok' in data && 'data' in data;
  return (isWrapped ? data.data : data) as Payload<T>;
}
