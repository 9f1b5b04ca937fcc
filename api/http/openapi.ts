import type {
  MediaTypeObject,
  OpenAPIObject,
  OperationObject,
  ParameterObject,
  PathItemObject,
  ReferenceObject,
  ResponsesObject,
  SchemaObject,
} from 'openapi3-ts/oas31';
import { Type, type TObject } from 'typebox';
import { opening, type May } from '../../domain/access/access';
import type { Config } from '../../domain/config';
import { factorProps } from '../access/step-up';
import { Components, pascal, titledIn } from './reference/components';
import { headersIn, Refusals, successHeaders } from './reference/errors';
import { exampleOf, noExamples, type Examples } from './reference/examples';
import { partOf, parts, type Part } from './reference/parts';
import { securitySchemes } from './reference/security-schemes';
import { tags } from './reference/tags';
import { webhookParameters, webhookResponses, webhooksOf } from './reference/webhooks';
import type { Route } from './route';

/** The API reference, made of the same declarations that answer requests. */

const json = 'application/json';
const text: SchemaObject = { type: 'string' };

/** Bodies, answers and what refusals carry, of all routes. */
const schemasOf = (routes: readonly Route[]): unknown[] =>
  routes.map(({ body, success, refusalData }) => [body, success.schema, refusalData]);
const secondFactor = Type.Object(factorProps, { title: 'SecondFactor' });

function parameters(components: Components, route: Route, where: 'path' | 'query'): ParameterObject[] {
  const schema: TObject | undefined = where === 'path' ? route.params : route.query;
  const shown = Object.entries(schema?.properties ?? {}).filter(([, property]) => !('undocumented' in property));
  return shown.map(([name, property]) => {
    const own = JSON.parse(JSON.stringify(property)) as SchemaObject;
    const isRequired = where === 'path' || (schema?.required?.includes(name) === true && !('default' in own));
    const { description, ...rest } = own;
    const used = components.use(own.title ? own : rest, pascal(route.name) + pascal(name));
    return {
      name,
      in: where,
      ...(isRequired ? { required: true } : {}),
      ...(description ? { description } : {}),
      schema: used,
    };
  });
}

class Document {
  readonly components: Components;
  readonly refusals: Refusals;

  constructor(
    routes: readonly Route[],
    private readonly examples: Examples,
    private readonly part?: Part,
  ) {
    this.components = new Components([...titledIn(schemasOf(routes)), secondFactor]);
    this.refusals = new Refusals(this.components, examples.refusals);
  }

  operation(route: Route): OperationObject {
    const ownHeaders = Object.entries(route.headers ?? {}).map(([name, description]) => ({
      name,
      in: 'header' as const,
      description,
      schema: text,
    }));
    const found = [
      ...parameters(this.components, route, 'path'),
      ...parameters(this.components, route, 'query'),
      ...ownHeaders,
    ];
    return {
      operationId: route.name,
      tags: [route.tag],
      summary: route.summary,
      description: [route.description, wordsFor(route)].filter(Boolean).join('\n\n'),
      ...this.security(route),
      ...(found.length ? { parameters: found.map((one) => this.components.parameter(one)) } : {}),
      ...this.requestBody(route),
      responses: this.responses(route),
    };
  }

  /** Most operations of dashboards and operators take a session alone: their documents say so once. */
  private security(route: Route): Pick<OperationObject, 'security'> {
    const security = securityOf(route.may);
    const isUsual = this.part && this.part !== 'integrators' && JSON.stringify(security) === JSON.stringify(session);
    return isUsual ? {} : { security };
  }

  private requestBody(route: Route): Pick<OperationObject, 'requestBody'> {
    if (route.text) return { requestBody: { required: true, content: { [route.text]: { schema: text } } } };
    if (!route.body) return {};
    const schema = this.components.use(route.body, `${pascal(route.name)}Request`);
    const content = { [json]: { schema, ...exampleOf(this.examples, route.name, 'body', route.body) } };
    return { requestBody: { required: (route.body.required?.length ?? 0) > 0, content } };
  }

  private responses(route: Route): ResponsesObject {
    const { status, type, description } = route.success;
    const answer: MediaTypeObject = { schema: this.payload(route), ...exampleOf(this.examples, route.name, 'answer') };
    const content = Object.fromEntries<MediaTypeObject>([type ?? json].flat().map((one) => [one, answer]));
    const responses: ResponsesObject = {
      [status]: { description, headers: successHeaders(route), content },
      ...this.refusals.of(route),
    };
    if (route.answersUnchanged) responses[304] = { description: 'Unchanged.', headers: successHeaders(route) };
    return responses;
  }

  private payload(route: Route): SchemaObject | ReferenceObject {
    const { schema, type } = route.success;
    if (!schema) return text;
    const name = pascal(route.name);
    if (type || route.envelope === 'B') return this.components.use(schema, `${name}Response`);
    const data = this.components.use(schema, `${name}Data`);
    // A resource that several routes answer has one envelope.
    const ref = '$ref' in data ? data.$ref! : '';
    const shared = ref.endsWith(`/${name}Data`) ? '' : ref.slice(ref.lastIndexOf('/') + 1);
    return this.components.add(`${shared || name}Response`, {
      type: 'object',
      required: ['ok', 'data'],
      properties: { ok: { type: 'boolean', const: true }, data },
    });
  }
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

const session: Array<Record<string, string[]>> = [{ session: [] }, { sessionToken: [] }];
function securityOf(may: May): Array<Record<string, string[]>> {
  if (may === 'public') return [];
  if (may === 'publishable') return [{ publishableKey: [] }];
  return typeof may === 'object' && may.key !== null ? [{ secretKey: [] }, ...session] : session;
}

function pathsOf(routes: readonly Route[], document: Document): Record<string, PathItemObject> {
  const paths: Record<string, PathItemObject> = {};
  for (const route of routes) paths[route.path] = { ...paths[route.path], [route.method]: document.operation(route) };
  return paths;
}

const rules =
  '`/api/v1` changes by addition only: new fields and new enum values may appear. Unknown body fields are stripped. ' +
  'Amounts that must be exact are decimal strings; numbers are for display.';

/** The OpenAPI 3.1 document of one part of `routes`, or of all of them, with `examples` of calls. */
export function openApiDocument(
  all: readonly Route[],
  config: Pick<Config, 'API_URL'>,
  examples: Examples = noExamples,
  part?: Part,
): OpenAPIObject {
  const routes = part ? all.filter((route) => partOf(route) === part) : all;
  const { title, about } = parts[part ?? 'integrators'];
  const document = new Document(routes, examples, part);
  const paths = pathsOf(routes, document);
  const { components, refusals } = document;
  const used = new Set(routes.map(({ tag }) => tag));
  const schemes = new Set(routes.flatMap(({ may }) => securityOf(may)).flatMap((one) => Object.keys(one)));
  const hasEvents = 'Event' in components.schemas;
  return {
    openapi: '3.1.0',
    info: {
      title,
      version: '1',
      description: about + rules,
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'The operator of this instance', url: `${config.API_URL}/docs` },
    },
    servers: [{ url: config.API_URL, description: 'This instance.' }],
    ...(part && part !== 'integrators' ? { security: session } : {}),
    tags: [...used].map((name) => ({ name, description: tags[name]! })),
    paths,
    ...(hasEvents ? { webhooks: webhooksOf(components, examples) } : {}),
    components: {
      securitySchemes: Object.fromEntries(Object.entries(securitySchemes).filter(([name]) => schemes.has(name))),
      headers: headersIn(JSON.stringify([paths, refusals.responses])),
      parameters: { ...(hasEvents ? webhookParameters : {}), ...components.parameters },
      examples: refusals.examples,
      responses: { ...(hasEvents ? webhookResponses : {}), ...refusals.responses },
      schemas: components.schemas,
    },
  };
}
