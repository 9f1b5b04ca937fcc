import type {
  ExampleObject,
  HeaderObject,
  HeadersObject,
  MediaTypeObject,
  ReferenceObject,
  ResponseObject,
  SchemaObject,
} from 'openapi3-ts/oas31';
import { permissions, scopes } from '../../../domain/access/access';
import { DomainError, errorTable, factorRefusals, type ErrorCode } from '../../../domain/errors';
import { errorResponse, ownMessage, publicName, type Envelope, type ErrorResponse } from '../errors';
import { idsIn } from '../path-ids';
import type { Route } from '../route';
import { pascal, pascalOfCode, type Components } from './components';
import type { Examples } from './examples';

/** Refusals in the API reference: a schema per code and shape, a response per set of codes. */

const text: SchemaObject = { type: 'string' };

const headers: Readonly<Record<string, HeaderObject>> = {
  'X-Request-Id': { schema: text, description: 'Names this request in logs. Yours, where you sent one.' },
  'RateLimit-Limit': { schema: { type: 'integer' }, description: 'Requests of this kind in one window.' },
  'RateLimit-Remaining': { schema: { type: 'integer' }, description: 'How many of them are left.' },
  'RateLimit-Reset': { schema: { type: 'integer' }, description: 'Seconds until the window begins anew.' },
  'Idempotency-Replayed': {
    schema: { type: 'string', enum: ['true'] },
    description: 'Only where an earlier request had the same idempotency key: this is its answer.',
  },
  'Retry-After': { schema: { type: 'integer' }, description: 'Seconds to wait before trying again.' },
  'WWW-Authenticate': { schema: text, description: 'How to send a credential.' },
  ETag: { schema: text, description: 'Names this state of the answer, for `If-None-Match`.' },
  'Set-Cookie': { schema: text, description: 'The cookies of the session or of the browser, one header each.' },
  'Content-Disposition': { schema: text, description: 'The name of the file.' },
};
/** Each response refers to its headers: short names save some kilobytes. */
const nameOfHeader = (name: string): string => name.replace(/^(X|RateLimit)-/, '').replaceAll('-', '');
const headerComponents = Object.fromEntries(
  Object.entries(headers).map(([name, header]) => [nameOfHeader(name), header]),
);
/** The headers that a part of the reference names. */
export const headersIn = (text: string): typeof headerComponents =>
  Object.fromEntries(
    Object.entries(headerComponents).filter(([name]) => text.includes(`"#/components/headers/${name}"`)),
  );

const refsOf = (names: readonly string[]): HeadersObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${nameOfHeader(name)}` }]));
const rateLimit = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
export const successHeaders = ({
  rate,
  marksRepeats,
  answersUnchanged,
  success,
}: Pick<Route, 'rate' | 'marksRepeats' | 'answersUnchanged' | 'success'>): HeadersObject =>
  refsOf([
    'X-Request-Id',
    ...(rate === 'none' ? [] : rateLimit),
    ...(marksRepeats ? ['Idempotency-Replayed'] : []),
    ...(answersUnchanged ? ['ETag'] : []),
    ...(success.headers ?? []),
  ]);

/** Statuses that any route can answer, whatever it does: one response for all of them. */
const common: readonly number[] = [413, 415, 429, 500, 503];

/** Refusals of credentials, which come before a request is counted. */
function credentialErrorsOf({ may, method }: Pick<Route, 'may' | 'method'>): ErrorCode[] {
  const codes: ErrorCode[] = ['UNKNOWN_HOST'];
  if (may === 'publishable') codes.push('INVALID_PUBLISHABLE_KEY', 'TEST_PUBLISHABLE_KEY', 'LIVE_PUBLISHABLE_KEY');
  else if (may !== 'public') {
    codes.push('INVALID_TOKEN');
    if (method !== 'get') codes.push('CSRF_ORIGIN_MISMATCH');
  }
  if (may === 'super_admin') codes.push('FORBIDDEN', 'IP_NOT_ALLOWED');
  if (typeof may === 'object') codes.push('INSUFFICIENT_PERMISSION', 'NO_MERCHANT_CONTEXT');
  if (typeof may === 'object' && may.key !== null)
    codes.push('INVALID_API_KEY', 'TEST_KEY', 'LIVE_KEY', 'IP_NOT_ALLOWED', 'MERCHANT_INACTIVE', 'INSUFFICIENT_SCOPE');
  return codes;
}

/** Refusals of a request that was counted: those that every route of its kind has, and its own. */
function countedErrorsOf(route: Route): ErrorCode[] {
  const codes: ErrorCode[] = [...route.errors];
  if (route.factor) codes.push(...factorRefusals);
  if (route.rate !== 'none') codes.push('RATE_LIMITED', 'UPSTREAM_UNAVAILABLE');
  if (idsIn(route).length > 0) codes.push('INVALID_ID');
  if (route.query || route.body) codes.push('VALIDATION_ERROR');
  if (route.body) codes.push('MALFORMED_JSON');
  if (route.body || route.text) codes.push('BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'UNSUPPORTED_ENCODING');
  codes.push('INTERNAL_ERROR');
  return codes;
}

export const errorsOf = (route: Route): ErrorCode[] => [
  ...new Set([...countedErrorsOf(route), ...credentialErrorsOf(route)]),
];

/** What codes of any route carry beside code and message. */
const details: Partial<Record<ErrorCode, Readonly<Record<string, SchemaObject>>>> = {
  INSUFFICIENT_SCOPE: { requiredScope: { type: 'string', enum: [...scopes] } },
  INSUFFICIENT_PERMISSION: { requiredPermission: { type: 'string', enum: [...permissions] } },
};

/** The two envelopes of refusals. Contract: 7.1. */
const envelopes: Readonly<Record<Envelope, SchemaObject>> = {
  A: {
    type: 'object',
    required: ['ok', 'error'],
    properties: {
      ok: { type: 'boolean', const: false },
      error: {
        type: 'object',
        required: ['code', 'message'],
        properties: { code: text, message: text, requestId: { ...text, description: 'Where it is our fault.' } },
      },
    },
  },
  B: { type: 'object', required: ['error'], properties: { error: text } },
};

/** Name of the example of a refusal: those of one code and shape share it. */
export const exampleNameOf = ({ code, body }: Pick<ErrorResponse, 'code' | 'body'>): string =>
  pascalOfCode(code) + ('ok' in body ? '' : 'message' in body ? 'Flat' : 'Text');

const phrases: Readonly<Record<number, string>> = {
  400: 'The request is refused',
  401: 'The credential is refused',
  403: 'Not allowed',
  404: 'Not found',
  409: 'The state does not allow it',
};

type Status = number | 'default';
/** `code`: as the answer, the request log and clients name it. */
type Refusal = Readonly<{ code: string; envelope: 'A' | 'B' | 'own'; shown: string; ref?: ReferenceObject }>;

/** What a response to `codes` says beside its body. */
function refusalHeaders(route: Route, status: Status, codes: readonly ErrorCode[]): HeadersObject {
  const counted = countedErrorsOf(route);
  const isCounted = route.rate !== 'none' && codes.some((code) => counted.includes(code));
  return refsOf([
    'X-Request-Id',
    ...(isCounted ? rateLimit : []),
    ...(codes.some((code) => [429, 503].includes(errorTable[code].status)) ? ['Retry-After'] : []),
    ...(status === 401 ? ['WWW-Authenticate'] : []),
  ]);
}

export class Refusals {
  readonly responses: Record<string, ResponseObject> = {};
  private readonly names = new Map<string, string>();

  readonly examples: Record<string, ExampleObject> = {};

  constructor(
    private readonly components: Components,
    private readonly recorded: Examples['refusals'],
  ) {
    for (const envelope of ['A', 'B'] as const) components.add(`Error${envelope}`, envelopes[envelope]);
  }

  /** The refusals of a route by status. */
  of(route: Route): Record<string, ReferenceObject> {
    const byStatus = new Map<Status, ErrorCode[]>();
    for (const code of errorsOf(route)) {
      const status = common.includes(errorTable[code].status) ? 'default' : errorTable[code].status;
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    }
    return Object.fromEntries(
      [...byStatus].map(([status, codes]) => [status, this.response(route, status, codes.sort())]),
    );
  }

  private response(route: Route, status: Status, codes: readonly ErrorCode[]): ReferenceObject {
    const refusals = codes.map((code) => this.refusal(route, code));
    const schema = this.schemaOf(refusals);
    // Texts of their own are not in the schema: what has one is no answer of an operation with another.
    const headers = refusalHeaders(route, status, codes);
    const key = `${status} ${JSON.stringify([schema, codes.filter((code) => ownMessage.includes(code)), headers])}`;
    let name = this.names.get(key);
    if (!name) {
      name = this.nameFor(status, codes);
      this.names.set(key, name);
      this.responses[name] = {
        description: this.words(status, codes),
        headers,
        content: { 'application/json': { schema } },
      };
    }
    const media = this.responses[name]!.content!['application/json']!;
    const examples = this.examplesOf(route, codes, media.examples);
    if (Object.keys(examples).length) Object.assign(media, { schema: this.schemaOf(refusals, true), examples });
    return { $ref: `#/components/responses/${name}` };
  }

  /** Recorded refusals, each under its code; operations share them. What is told by one code is shown once. */
  private examplesOf(
    route: Route,
    codes: readonly ErrorCode[],
    shown: MediaTypeObject['examples'] = {},
  ): NonNullable<MediaTypeObject['examples']> {
    const examples = { ...shown };
    for (const code of codes) {
      const answer = errorResponse(new DomainError(code), route.refusals ?? route.envelope, 'req_1');
      const name = exampleNameOf(answer);
      if (Object.hasOwn(examples, answer.publicCode) || !Object.hasOwn(this.recorded, name)) continue;
      this.examples[name] = { value: this.recorded[name] };
      examples[answer.publicCode] = { $ref: `#/components/examples/${name}` };
    }
    return examples;
  }

  /** Of the common refusals, which status each code has. */
  private words(status: Status, codes: readonly ErrorCode[]): string {
    if (status !== 'default')
      return codes.length === 1 ? errorTable[codes[0]!].message : (phrases[status] ?? 'Refused');
    const byStatus = common.map((one) => [one, codes.filter((code) => errorTable[code].status === one)] as const);
    const told = byStatus.filter(([, own]) => own.length > 0).map(([one, own]) => `${one}: ${own.join(', ')}`);
    return `Limits and faults. ${told.join('; ')}.`;
  }

  private nameFor(status: Status, codes: readonly ErrorCode[]): string {
    const base = status === 'default' ? 'Common' : codes.length === 1 ? pascalOfCode(codes[0]!) : `Refused${status}`;
    for (let n = 1; ; n += 1) {
      const name = n === 1 ? base : `${base}_${n}`;
      if (!this.responses[name]) return name;
    }
  }

  /** `hasExamples`: the part with the codes says that there are other properties: linters take each part by itself. */
  private schemaOf(refusals: readonly Refusal[], hasExamples = false): SchemaObject | ReferenceObject {
    const rest = hasExamples ? { additionalProperties: true } : {};
    const own = refusals.flatMap(({ ref }) => ref ?? []);
    const enums = (['A', 'B'] as const).flatMap((envelope) => {
      const mine = refusals.filter((one) => one.envelope === envelope);
      const told = [...new Map(mine.map((one) => [one.shown, one.code]))];
      if (told.length === 0) return [];
      const values: SchemaObject = { enum: told.map(([value]) => value) };
      // Envelope B has texts alone: tools that make constants of them find their codes here.
      if (envelope === 'B') values['x-enum-varnames'] = told.map(([, code]) => code);
      const error: SchemaObject = envelope === 'B' ? values : { properties: { code: values }, ...rest };
      return [{ allOf: [{ $ref: `#/components/schemas/Error${envelope}` }, { properties: { error }, ...rest }] }];
    });
    const all = [...own, ...enums] as SchemaObject[];
    return all.length === 1 ? all[0]! : { anyOf: all };
  }

  /** How one code is told: by its code in envelope A, by its text in B; one with data has a schema of its own. */
  private refusal(route: Route, code: ErrorCode): Refusal {
    const { body, code: told } = errorResponse(new DomainError(code), route.refusals ?? route.envelope, 'req_1');
    const inA = 'ok' in body ? (body['error'] as { code: string; message: string }).code : undefined;
    const own = Object.entries(route.refusalData?.[code] ?? {}).map(([name, schema]) => [
      name,
      this.components.use(schema, pascalOfCode(code) + pascal(name)),
    ]);
    const data = { ...details[code], ...(Object.fromEntries(own) as Record<string, SchemaObject>) };
    if (Object.keys(data).length === 0 && !('message' in body)) {
      if (inA) return { code, envelope: 'A', shown: inA };
      return ownMessage.includes(code)
        ? { code, envelope: 'own', shown: code, ref: { $ref: '#/components/schemas/ErrorB' } }
        : { code: publicName(told), envelope: 'B', shown: body['error'] as string };
    }
    const name = `${pascalOfCode(told)}Error${inA || 'message' in body ? '' : 'B'}`;
    const isConst: SchemaObject = { type: 'string', const: inA ?? (body['error'] as string), 'x-code': told };
    const required = Object.keys(data);
    const flat: SchemaObject = {
      type: 'object',
      description: errorTable[told].message,
      required: ['error', ...('message' in body ? ['message'] : []), ...required],
      properties: { error: isConst, ...('message' in body ? { message: text } : {}), ...data },
    };
    const wrapped: SchemaObject = {
      type: 'object',
      description: errorTable[told].message,
      required: ['ok', 'error'],
      properties: {
        ok: { type: 'boolean', const: false },
        error: {
          type: 'object',
          required: ['code', 'message', ...required],
          properties: { code: isConst, message: text, ...data },
        },
      },
    };
    return { code, envelope: 'own', shown: name, ref: this.components.add(name, inA ? wrapped : flat) };
  }
}
