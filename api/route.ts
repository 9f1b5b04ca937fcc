import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Static, TObject, TSchema } from 'typebox';
import type { May, Merchant } from '../domain/access';
import type { ErrorCode } from '../domain/errors';
import type { ApiDeps } from './deps';
import type { RateClass } from './limits';

/** One declaration per route: it is the guard, the validation, the limit, the envelope and the entry in the API reference. */

export type Method = 'get' | 'post' | 'patch' | 'delete';

/** What a handler is given. `merchant` is the credential's; on public routes there is none. */
export type Call<Params, Query, Body, Who> = Readonly<{
  params: Params;
  query: Query;
  body: Body;
  /** The body as it came, for what must be kept byte for byte. */
  rawBody: string;
  merchant: Who;
  source: 'api' | 'platform';
  requestId: string;
  ip: string;
  header: (name: string) => string | undefined;
  request: IncomingMessage;
  /** For streams alone: see `Answer.handled`. */
  response: ServerResponse;
}>;

/** `data` is put in the route's envelope. `json` is the same as text, for bodies that must not be parsed. `handled`: the handler
 *  has taken the connection. */
export type Answer = Readonly<
  { status?: number; headers?: Readonly<Record<string, string>> } & (
    { data: unknown } | { json: string } | { text: string | Buffer; type: string } | { empty: true } | { handled: true }
  )
>;

type StaticOf<Schema> = Schema extends TSchema ? Static<Schema> : Record<never, never>;

export type RouteSpec<
  Who extends May,
  Params extends TObject | undefined,
  Query extends TObject | undefined,
  Body extends TObject | undefined,
> = Readonly<{
  /** Unique; names the operation in the API reference, in metrics and in limits. */
  name: string;
  method: Method;
  /** With parameters in braces: `/api/v1/payments/{paymentId}`. */
  path: string;
  summary: string;
  description?: string;
  tag: string;
  /** A: `{ok, data}`; B: the payload alone. Errors follow unless the error table says otherwise. Spec: 2.1. */
  envelope: 'A' | 'B';
  rate: RateClass | 'none';
  /** Who may call it. A route without it does not compile. */
  may: Who;
  params?: Params;
  query?: Query;
  body?: Body;
  headers?: Readonly<Record<string, string>>;
  /** The payload of success, without its envelope; or the media type where it is no JSON. */
  success: Readonly<{ status: number; schema?: TSchema; type?: string; description: string }>;
  /** Refusals of its own, beside those that every route of its kind has. */
  errors: readonly ErrorCode[];
  answer: (
    call: Call<StaticOf<Params>, StaticOf<Query>, StaticOf<Body>, Who extends 'public' ? undefined : Merchant>,
    deps: ApiDeps,
  ) => Promise<Answer> | Answer;
}>;

/** A route whose own types are forgotten, as the router holds it. */
export type Route = Readonly<
  Omit<RouteSpec<May, TObject | undefined, TObject | undefined, TObject | undefined>, 'answer'> & {
    answer: (call: Call<never, never, never, never>, deps: ApiDeps) => Promise<Answer> | Answer;
  }
>;

/** Declares a route. */
export const route = <
  Who extends May,
  Params extends TObject | undefined = undefined,
  Query extends TObject | undefined = undefined,
  Body extends TObject | undefined = undefined,
>(
  spec: RouteSpec<Who, Params, Query, Body>,
): Route => spec as unknown as Route;

/** Where a refusal's envelope is looked up before any route is known: the newer endpoints' or the older ones'. */
export const defaultEnvelope = 'A';
