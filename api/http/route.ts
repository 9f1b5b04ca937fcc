import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Static, TObject, TProperties, TSchema } from 'typebox';
import type { UsedKey } from '../../db/access/api-keys';
import type { May, Merchant, User } from '../../domain/access/access';
import { access, type Access, type MayOf, type RouteName } from '../../domain/access/access-table';
import type { ErrorCode } from '../../domain/errors';
import type { Mode } from '../../domain/mode';
import type { ApiDeps } from './deps';

/** One declaration per route: it is the guard, the validation, the limit, the envelope and the entry in the API
 *  reference. */

type Method = 'get' | 'post' | 'patch' | 'delete';

/** Whose credential it is. On routes for secret keys too, a user is there only where a session calls. */
type Who<M extends May> = M extends 'public'
  ? { merchant: undefined; user: undefined }
  : M extends 'user' | 'super_admin'
    ? { merchant: Merchant | undefined; user: User }
    : M extends 'publishable'
      ? { merchant: Merchant; user: undefined }
      : M extends { key: null }
        ? { merchant: Merchant; user: User }
        : { merchant: Merchant; user: User | undefined };

/** What a handler is given. */
type Call<Params, Query, Body, M extends May> = Readonly<{
  params: Params;
  query: Query;
  body: Body;
  /** The body as it came, for what must be kept byte for byte. */
  rawBody: string;
  /** The secret key that calls, where one does. */
  key: UsedKey | undefined;
  source: 'api' | 'platform';
  requestId: string;
  ip: string;
  header: (name: string) => string | undefined;
  request: IncomingMessage;
  /** For streams alone: see `Answer.handled`. */
  response: ServerResponse;
}> &
  Readonly<Who<M>>;

/** `data` is put in the route's envelope. `json` is the same as text, for bodies that must not be parsed. `handled`:
 *  the handler has taken the connection. */
export type Answer = Readonly<
  { status?: number; headers?: Readonly<Record<string, string | readonly string[]>> } & (
    { data: unknown } | { json: string } | { text: string | Buffer; type: string } | { empty: true } | { handled: true }
  )
>;

type StaticOf<Schema> = Schema extends TSchema ? Static<Schema> : Record<never, never>;

export type RouteSpec<
  Name extends RouteName,
  Params extends TObject | undefined,
  Query extends TObject | undefined,
  Body extends TObject | undefined,
> = Readonly<{
  /** Unique; names the operation in the API reference, in metrics and in limits, and its row in the access table. */
  name: Name;
  method: Method;
  /** With parameters in braces: `/api/v1/payments/{paymentId}`. */
  path: string;
  summary: string;
  description?: string;
  tag: string;
  /** A: `{ok, data}`; B: the payload alone. Errors follow unless the error table says otherwise. Contract: 2.1. */
  envelope: 'A' | 'B';
  /** Instances of this mode alone have it; absent: every instance. */
  mode?: Mode;
  /** A property of the body that may nest deeper than other JSON: it is never parsed into anything. */
  deepProperty?: string;
  /** The shape of its refusals, where it is not that of its success. */
  refusals?: 'A' | 'B';
  params?: Params;
  query?: Query;
  body?: Body;
  /** Media type of a body that is no JSON; the handler has it as `rawBody`. */
  text?: string;
  /** Most bytes of the body, where it may be more than usual. */
  maxBytes?: number;
  headers?: Readonly<Record<string, string>>;
  /** Reads the request log, and is in it only where that is refused: a program that follows the log would fill it. */
  readsRequestLog?: true;
  /** Answers 304 to an `If-None-Match` that fits. */
  answersUnchanged?: true;
  /** Says `Idempotency-Replayed: true` where the answer is that to an earlier request with the same key. */
  marksRepeats?: true;
  /** The payload of success, without its envelope; or the media types it can have where it is no JSON. */
  success: Readonly<{
    status: number;
    schema?: TSchema;
    type?: string | readonly string[];
    /** Media types that an undocumented `format` asks for instead: files have routes of their own by now. */
    orElse?: readonly string[];
    /** Headers of its own that it sends, beside those that every route of its kind has. */
    headers?: ReadonlyArray<'Set-Cookie' | 'Content-Disposition'>;
    description: string;
  }>;
  /** Hosts whose pages may read its answers, for routes that browsers call from other hosts; null: none. Empty: any. */
  pages?: (params: Readonly<Record<string, string>>, deps: ApiDeps) => Promise<readonly string[] | null>;
  /** Refusals of its own, beside those that every route of its kind has. */
  errors: readonly ErrorCode[];
  /** What some of them carry beside code and message. */
  refusalData?: Readonly<Partial<Record<ErrorCode, TProperties>>>;
  answer: (
    call: Call<StaticOf<Params>, StaticOf<Query>, StaticOf<Body>, MayOf<Name>>,
    deps: ApiDeps,
  ) => Promise<Answer> | Answer;
}>;

/** A route as the router holds it: with its row of the access table, its own types forgotten. */
export type Route = Readonly<
  Omit<RouteSpec<RouteName, TObject | undefined, TObject | undefined, TObject | undefined>, 'answer'> &
    Access & { answer: (call: never, deps: ApiDeps) => Promise<Answer> | Answer }
>;

/** Declares a route; who may call it, and how often, is in domain/access/access-table.ts under its name. */
export const route = <
  Name extends RouteName,
  Params extends TObject | undefined = undefined,
  Query extends TObject | undefined = undefined,
  Body extends TObject | undefined = undefined,
>(
  spec: RouteSpec<Name, Params, Query, Body>,
): Route => ({ ...spec, ...(access[spec.name] as Access) });
