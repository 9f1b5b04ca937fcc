import type { TSchema } from 'typebox';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { ReferenceObject, ResponseObject } from 'openapi3-ts/oas31';
import { openApiDocument } from '../../api/http/openapi';
import type { Route } from '../../api/http/route';
import { routes } from '../../api/routes';

/** What the API declares, and whether an answer keeps to it. Loaded once for all test files, as all of this folder. */

/** What the API said to a call. */
export type Answer = {
  status: number;
  headers: Headers;
  text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers freely
  body: any;
};

const patterns = routes.map((route) => {
  const path = route.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+');
  return { route, method: route.method, path: new RegExp(`^${path}$`) };
});

/** The route that a call is for. */
export function routeAt(method: string, path: string): Route | undefined {
  const [asked, name] = [path.split('?')[0]!, method.toLowerCase()];
  return patterns.find((one) => one.method === name && one.path.test(asked))?.route;
}

const ajv = new Ajv2020({ strict: false });
addFormats(ajv);
const compiled = new Map<TSchema, ReturnType<typeof ajv.compile>>();

/** Every successful answer that a test gets must fit the schema that its route declares, and have an id. Returns the
 *  route. */
export function checkAgainstDeclaration(method: string, path: string, answer: Answer): Route | undefined {
  if (!answer.headers.get('x-request-id')) throw new Error(`${method} ${path}: no X-Request-Id`);
  // Waiting makes no void code good: a new one is asked for, at once.
  const helpsToWait = answer.status === 429 && answer.body?.error?.reason !== 'CODE_VOID';
  if (helpsToWait && !answer.headers.get('retry-after')) throw new Error(`${path}: 429 without Retry-After`);
  const route = routeAt(method, path);
  if (route && route.success.orElse === undefined) checkHeaders(route, answer);
  if (!route || answer.status !== route.success.status || !route.success.schema) return route;
  if (route.success.orElse?.includes(answer.headers.get('content-type')?.split(';')[0] ?? '')) return undefined;
  const payload: unknown = route.envelope === 'A' ? answer.body.data : answer.body;
  if (route.envelope === 'A' && answer.body.ok !== true) throw new Error(`${path}: not envelope A`);
  let validate = compiled.get(route.success.schema);
  if (!validate) {
    validate = ajv.compile(closed(route.success.schema));
    compiled.set(route.success.schema, validate);
  }
  if (!validate(payload))
    throw new Error(
      `${method} ${path} does not fit its schema: ${ajv.errorsText(validate.errors)} ${answer.text.slice(0, 500)}`,
    );
  return route;
}

const reference = openApiDocument(routes, { API_URL: 'https://payments.shop.test' });
/** Headers of the API itself. What is sent for browsers and caches alone is not in the reference. */
const ofTheApi = [
  ...['x-request-id', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'retry-after', 'www-authenticate'],
  ...['idempotency-replayed', 'etag', 'set-cookie', 'content-disposition', 'location'],
];

/** The headers of an answer that the API reference declares, in small letters; undefined where it does not declare the
 *  answer. */
export function declaredHeaders({ path, method }: Route, status: number): string[] | undefined {
  const { responses = {} } = reference.paths![path]![method]!;
  const name = [413, 415, 429, 500, 503].includes(status) ? 'default' : status;
  const declared = responses[name] as ReferenceObject | ResponseObject | undefined;
  const response =
    declared && '$ref' in declared
      ? (reference.components!.responses![declared.$ref.split('/').at(-1)!] as ResponseObject)
      : declared;
  return response && Object.keys(response.headers ?? {}).map((name) => name.toLowerCase());
}
export const sentHeaders = ({ headers }: Pick<Answer, 'headers'>): string[] =>
  [...new Set(headers.keys())].filter((name) => ofTheApi.includes(name));

/** What the API sends it has declared. */
function checkHeaders(route: Route, answer: Answer): void {
  const declared = declaredHeaders(route, answer.status);
  const others = declared && sentHeaders(answer).filter((name) => !declared.includes(name));
  if (others?.length) throw new Error(`${route.name} ${answer.status}: ${others.join()} not in the API reference`);
}

/** The schema with every object closed, so that an undeclared field is found. */
function closed(schema: TSchema): object {
  const copy = JSON.parse(JSON.stringify(schema)) as object;
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('properties' in node && !('additionalProperties' in node)) Object.assign(node, { additionalProperties: false });
    Object.values(node).forEach(visit);
  };
  visit(copy);
  return copy;
}
