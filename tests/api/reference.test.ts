import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020';
import { openApiDocument } from '../../api/http/openapi';
import { parts } from '../../api/http/reference/parts';
import { routes } from '../../api/routes';
import { errorTable } from '../../domain/errors';
import { startHarness, type Harness } from './harness';

type Response = { description: string; content?: Record<string, { schema: object }> };
type Operation = {
  operationId: string;
  parameters?: Array<{ $ref: string }>;
  responses: Record<string, Response | { $ref: string }>;
  requestBody?: { content: Record<string, { schema: object }> };
  security: unknown[];
};
const document = openApiDocument(routes, { API_URL: 'https://api.example.com' });
const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
  Object.entries(item as Record<string, Operation>).map(([method, operation]) => ({ path, method, operation })),
);

type Parameter = { name: string; in: string; required?: boolean; schema: object };
const parametersOf = ({ parameters = [] }: Operation): Parameter[] =>
  parameters.map(
    ({ $ref }) =>
      (document.components!.parameters as unknown as Record<string, Parameter>)[$ref.slice($ref.lastIndexOf('/') + 1)]!,
  );

/** A response, where it is not written in place. */
const found = (response: Response | { $ref: string }): Response =>
  '$ref' in response
    ? (document.components!.responses as Record<string, Response>)[
        response.$ref.slice('#/components/responses/'.length)
      ]!
    : response;

describe('the reference', () => {
  it('misses no route that a file declares', async () => {
    const folder = join(__dirname, '../../api');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !['main.ts', 'server.ts', 'operator.ts'].includes(file),
    );
    const modules = await Promise.all(
      files.map((file) => import(join(folder, file)) as Promise<Record<string, unknown>>),
    );
    const declared = modules
      .flatMap((module) => Object.values(module))
      .filter((value) => typeof value === 'object' && value !== null && 'answer' in value && 'path' in value);
    // The list of routes makes them of itself.
    const ownDocuments = ['getOpenApi', 'getDashboardOpenApi', 'getOperatorsOpenApi'];
    const others = routes.filter(({ name }) => !ownDocuments.includes(name));
    expect(others).toHaveLength(routes.length - ownDocuments.length);
    expect(new Set(declared)).toEqual(new Set(others));
  });

  it('has every route, once, and nothing else', () => {
    const declared = routes.map(({ method, path, name }) => `${method} ${path} ${name}`).sort();
    expect(
      operations.map(({ method, path, operation }) => `${method} ${path} ${operation.operationId}`).sort(),
    ).toEqual(declared);
    expect(new Set(routes.map((route) => route.name)).size).toBe(routes.length);
  });

  it('is OpenAPI 3.1: paths, parameters and schemas hold together', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } });
    ajv.addSchema({ $id: 'components', components: document.components });
    const resolve = (schema: object) =>
      JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"components#/components')) as object;
    for (const { path, operation } of operations) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const named = parametersOf(operation).filter((parameter) => parameter.in === 'path');
      expect(named.map((parameter) => parameter.name)).toEqual(inPath);
      expect(named.every((parameter) => parameter.required)).toBe(true);
      for (const parameter of parametersOf(operation)) ajv.compile(resolve(parameter.schema));
      for (const { schema } of Object.values(operation.requestBody?.content ?? {})) ajv.compile(resolve(schema));
      for (const [status, one] of Object.entries(operation.responses)) {
        const response = found(one);
        expect(status).toMatch(/^([1-5]\d\d|default)$/);
        expect(typeof response.description).toBe('string');
        for (const { schema } of Object.values(response.content ?? {})) ajv.compile(resolve(schema));
      }
    }
  });
});

describe('every route', () => {
  let h: Harness;
  beforeAll(async () => {
    h = await startHarness();
  });
  afterAll(() => h?.stop());
  it('names only errors that there are', () => {
    for (const route of routes) for (const code of route.errors) expect(errorTable).toHaveProperty(code);
  });

  it.each(['openapi', 'openapi-dashboard', 'openapi-operators'])(
    '18.1: %s.json comes compressed, and once',
    async (name) => {
      const ask = (headers: Record<string, string>) => fetch(`${h.url}/api/v1/${name}.json`, { headers });
      const plain = await (await ask({ 'Accept-Encoding': 'identity' })).text();
      const tags = new Set<string>();
      for (const encoding of ['br', 'gzip', 'identity']) {
        const answer = await ask({ 'Accept-Encoding': encoding === 'identity' ? encoding : `${encoding}, x;q=0` });
        expect(answer.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding);
        expect(answer.headers.get('vary')).toContain('Accept-Encoding');
        expect(await answer.text()).toBe(plain);
        const etag = answer.headers.get('etag')!;
        tags.add(etag);
        const again = await ask({ 'Accept-Encoding': encoding, 'If-None-Match': `"other", W/${etag}` });
        expect([again.status, await again.text()]).toEqual([304, '']);
      }
      expect(tags.size).toBe(3);
      const refused = await ask({ 'Accept-Encoding': 'br;q=0, gzip' });
      expect(refused.headers.get('content-encoding')).toBe('gzip');
    },
  );

  it('is in the document that is served', async () => {
    const shown: string[] = [];
    for (const { path } of Object.values(parts))
      for (const item of Object.values((await h.call('GET', path)).body.paths as Record<string, object>))
        shown.push(...Object.values(item).map(({ operationId }: { operationId: string }) => operationId));
    expect(shown.sort()).toEqual(routes.map(({ name }) => name).sort());
  });
});
