import { OpenApiBuilder, type OperationObject, type ResponsesObject, type SchemaObject } from 'openapi3-ts/oas31';
import type { TObject, TSchema } from 'typebox';
import { opening, type May } from '../../domain/access/access';
import type { Config } from '../../domain/config';
import { errorTable, factorRefusals, type ErrorCode } from '../../domain/errors';
import { errorResponse } from './errors';
import { DomainError } from '../../domain/errors';
import type { Route } from './route';

/** The API reference, made of the same declarations that answer requests. */

const json = 'application/json';
const text = { type: 'string' as const };
const plain = (schema: TSchema | TObject): SchemaObject => JSON.parse(JSON.stringify(schema)) as SchemaObject;

const parameters = (schema: TObject | undefined, where: 'path' | 'query') =>
  Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = plain(property) as SchemaObject & { description?: string };
    const isRequired = where === 'path' || (schema?.required?.includes(name) === true && !('default' in rest));
    return { name, in: where, required: isRequired, description, schema: rest };
  });

/** Refusals that every route of its kind has. */
function errorsOf(route: Route): ErrorCode[] {
  const codes: ErrorCode[] = [...route.errors];
  const { may } = route;
  if (may === 'publishable') codes.push('INVALID_PUBLISHABLE_KEY');
  else if (may !== 'public') {
    codes.push('INVALID_TOKEN');
    if (route.method !== 'get') codes.push('CSRF_ORIGIN_MISMATCH');
  }
  if (may === 'super_admin') codes.push('FORBIDDEN');
  if (typeof may === 'object') codes.push('INSUFFICIENT_PERMISSION', 'NO_MERCHANT_CONTEXT');
  if (typeof may === 'object' && may.key !== null)
    codes.push('INVALID_API_KEY', 'IP_NOT_ALLOWED', 'MERCHANT_INACTIVE', 'INSUFFICIENT_SCOPE');
  if (route.factor) codes.push(...factorRefusals);
  if (route.rate !== 'none') codes.push('RATE_LIMITED', 'UPSTREAM_UNAVAILABLE');
  if (route.query || route.body) codes.push('VALIDATION_ERROR');
  if (route.body) codes.push('MALFORMED_JSON');
  if (route.body || route.text) codes.push('BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'UNSUPPORTED_ENCODING');
  codes.push('UNKNOWN_HOST', 'INTERNAL_ERROR');
  return [...new Set(codes)];
}

function responsesOf(route: Route): ResponsesObject {
  const { status, schema, type, orElse = [], description } = route.success;
  const payload = schema ? plain(schema) : { type: 'string' as const };
  const wrapped: SchemaObject =
    route.envelope === 'A'
      ? { type: 'object', required: ['ok', 'data'], properties: { ok: { const: true }, data: payload } }
      : payload;
  const headers = { 'X-Request-Id': { schema: { type: 'string' as const }, description: 'Names this request.' } };
  const responses: ResponsesObject = {
    [status]: {
      description,
      headers,
      content: Object.fromEntries([
        ...[type ?? json].flat().map((one) => [one, { schema: type ? payload : wrapped }]),
        ...orElse.map((one) => [one, { schema: text }]),
      ]),
    },
  };
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(route)) {
    const at = errorTable[code].status;
    byStatus.set(at, [...(byStatus.get(at) ?? []), code]);
  }
  for (const [at, codes] of byStatus) {
    const examples = Object.fromEntries(
      codes.map((code) => [
        code,
        { value: errorResponse(new DomainError(code), route.refusals ?? route.envelope, '').body },
      ]),
    );
    const shapes = new Set(codes.map((code) => ('ok' in examples[code]!.value ? 'ErrorA' : 'ErrorB')));
    const refs = [...shapes].sort().map((name) => ({ $ref: `#/components/schemas/${name}` }));
    const retry =
      at === 429 || at === 503
        ? { 'Retry-After': { schema: { type: 'integer' as const }, description: 'Seconds.' } }
        : {};
    responses[at] = {
      description: codes.map((code) => errorTable[code].message).join('; '),
      headers: { ...headers, ...retry },
      content: { [json]: { schema: refs.length === 1 ? refs[0]! : { anyOf: refs }, examples } },
    };
  }
  if (route.answersUnchanged) responses[304] = { description: 'Unchanged.', headers };
  return responses;
}

function wordsFor({ may, factor }: Route): string {
  if (may === 'public') return 'Public.';
  if (may === 'publishable') return 'Publishable key.';
  if (may === 'user') return `Any session.${factor ? ' Needs a fresh second factor.' : ''}`;
  if (may === 'super_admin') return `Operators.${factor ? ' Needs a fresh second factor.' : ''}`;
  const session = `${may.key === null ? 'Session' : 'or session'} with ${opening(may)
    .map((permission) => `\`${permission}\``)
    .join(' or ')}`;
  const key = may.key === null ? '' : `Secret key with scope \`${may.key}\`, `;
  return `${key}${session}${factor ? ' and a fresh second factor' : ''}.`;
}

const securityOf = (may: May): Array<Record<string, string[]>> => {
  if (may === 'public') return [];
  if (may === 'publishable') return [{ publishableKey: [] }];
  return typeof may === 'object' && may.key !== null ? [{ secretKey: [] }, { session: [] }] : [{ session: [] }];
};

function operationOf(route: Route): OperationObject {
  const who = wordsFor(route);
  const headers = Object.entries(route.headers ?? {}).map(([name, description]) => ({
    name,
    in: 'header' as const,
    required: false,
    description,
    schema: { type: 'string' as const },
  }));
  return {
    operationId: route.name,
    tags: [route.tag],
    summary: route.summary,
    description: [route.description, who].filter(Boolean).join('\n\n'),
    security: securityOf(route.may),
    parameters: [...parameters(route.params, 'path'), ...parameters(route.query, 'query'), ...headers],
    ...(route.body
      ? {
          requestBody: {
            required: (route.body.required?.length ?? 0) > 0,
            content: { [json]: { schema: plain(route.body) } },
          },
        }
      : {}),
    ...(route.text ? { requestBody: { required: true, content: { [route.text]: { schema: text } } } } : {}),
    responses: responsesOf(route),
  };
}

/** The OpenAPI 3.1 document of `routes`. */
export function openApiDocument(routes: readonly Route[], config: Pick<Config, 'API_URL'>) {
  const builder = OpenApiBuilder.create({
    openapi: '3.1.0',
    info: {
      title: 'Crypto payments API',
      version: '1',
      description:
        'Payments in crypto, priced in fiat. `/api/v1` changes by addition only: new fields and new enum values may appear. ' +
        'Unknown body fields are stripped. Amounts that must be exact are decimal strings; numbers are for display.',
    },
    servers: [{ url: config.API_URL }],
    paths: {},
    components: {
      securitySchemes: {
        secretKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'A secret key, `svc_live_…`: server to server only.',
        },
        publishableKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A publishable key, `pk_live_…`: pages may hold it. It opens checkouts of widgets and nothing else.',
        },
        session: { type: 'apiKey', in: 'cookie', name: 'svc_access', description: 'A dashboard session.' },
      },
      schemas: {
        ErrorA: {
          type: 'object',
          required: ['ok', 'error'],
          properties: {
            ok: { const: false },
            error: {
              type: 'object',
              required: ['code', 'message'],
              properties: { code: text, message: text, requestId: text },
            },
          },
        },
        ErrorB: {
          type: 'object',
          required: ['error'],
          properties: { error: text, requiredScope: text, requiredPermission: text },
        },
      },
    },
  });
  const paths = new Map<string, Record<string, OperationObject>>();
  for (const route of routes) {
    const operations = paths.get(route.path) ?? {};
    operations[route.method] = operationOf(route);
    paths.set(route.path, operations);
  }
  for (const [path, operations] of paths) builder.addPath(path, operations);
  return builder.getSpec();
}

let made: { routes: readonly Route[]; url: string; json: string } | undefined;
/** The document as text, made once. */
export function openApiJson(routes: readonly Route[], config: Pick<Config, 'API_URL'>): string {
  if (made?.routes !== routes || made.url !== config.API_URL)
    made = { routes, url: config.API_URL, json: JSON.stringify(openApiDocument(routes, config)) };
  return made.json;
}
