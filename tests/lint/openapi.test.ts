import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Spectral, type RulesetDefinition } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type {
  MediaTypeObject,
  OpenAPIObject,
  OperationObject,
  ReferenceObject,
  RequestBodyObject,
  ResponseObject,
  SchemaObject,
} from 'openapi3-ts/oas31';
import { errorResponse, ownMessage, publicName } from '../../api/http/errors';
import { openApiDocument } from '../../api/http/openapi';
import { DomainError, type ErrorCode } from '../../domain/errors';
import type { Examples } from '../../api/http/reference/examples';
import { pascalOfCode } from '../../api/http/reference/components';
import { errorsOf } from '../../api/http/reference/errors';
import { parts, type Part } from '../../api/http/reference/parts';
import { tags } from '../../api/http/reference/tags';
import { routes } from '../../api/routes';
import { eventTypes } from '../../domain/webhooks/event-types';
import { root } from '../../sandbox/paths';

const examples = JSON.parse(readFileSync(join(root, 'api', 'http', 'reference', 'recorded.json'), 'utf8')) as Examples;
const config = { API_URL: 'https://payments.shop.test' };
const document = openApiDocument(routes, config, examples);
const served = Object.keys(parts).map((part) => {
  const one = openApiDocument(routes, config, examples, part as Part);
  return { part, document: one, text: JSON.stringify(one) };
});
const schemas = document.components!.schemas as Record<string, SchemaObject>;
const operations = Object.values(document.paths!).flatMap((item) => Object.values(item) as OperationObject[]);

describe('18.1: the OpenAPI document as a product', () => {
  it.each(served)('has no error and no warning of Redocly: $part', async ({ text }) => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: text, absoluteRef: '/openapi.json', config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
  });

  it.each(served)('has no error and no warning of Spectral, examples against schemas included: $part', async (one) => {
    const spectral = new Spectral();
    spectral.setRuleset({ extends: [[oas as RulesetDefinition, 'recommended']] });
    const problems = await spectral.run(JSON.parse(one.text) as Record<string, unknown>);
    expect(problems.map(({ code, message, path }) => [code, message, path.join('/')])).toEqual([]);
  });

  it('names every resource, and no object stays anonymous', () => {
    const expected = [
      'Payment',
      'Invoice',
      'Conversion',
      'Quote',
      'Withdrawal',
      'MassPayout',
      'Refund',
      'Widget',
      'Event',
    ];
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining(expected));
    const anonymous = operations.flatMap((operation) => {
      const body = (operation.requestBody as { content?: Record<string, { schema: object }> } | undefined)?.content;
      const answers = Object.entries(operation.responses as Record<string, { content?: typeof body }>)
        .filter(([status]) => status.startsWith('2'))
        .map(([, response]) => response.content);
      return [body, ...answers].flatMap((content) =>
        Object.values(content ?? {})
          .filter(({ schema }) => 'properties' in schema && Object.keys(schema.properties as object).length > 0)
          .map(() => operation.operationId),
      );
    });
    expect(anonymous).toEqual([]);
  });

  it('tells every type of event by its discriminator, and has a webhook for each kind', () => {
    const { discriminator } = schemas['Event'] as { discriminator: { mapping: Record<string, string> } };
    expect(Object.keys(discriminator.mapping).sort()).toEqual(Object.keys(eventTypes).sort());
    const bodies = Object.values(document.webhooks!).map(
      (item) =>
        (item as { post: { requestBody: { content: { 'application/json': { schema: { $ref: string } } } } } }).post
          .requestBody.content['application/json'].schema.$ref,
    );
    expect(new Set(bodies)).toEqual(new Set(Object.values(discriminator.mapping)));
    expect(schemas['PaymentEvent']!.properties!['data']).toEqual({ $ref: '#/components/schemas/Payment' });
  });

  it('gives the data that refusals carry, and the codes of each operation', () => {
    const { RateDriftError, BatchInvalidError, InsufficientScopeErrorB } = schemas;
    expect(RateDriftError!.properties!['newQuote']).toEqual({ $ref: '#/components/schemas/Quote' });
    expect(RateDriftError!.required).toEqual(['error', 'message', 'driftPct', 'newQuote']);
    expect(JSON.stringify(BatchInvalidError)).toContain('"items":{"$ref":"#/components/schemas/PayoutRowResult"}');
    expect(JSON.stringify(InsufficientScopeErrorB)).toContain('"payments:create"');
    const { responses } = document.components as { responses: Record<string, object> };
    const conversion = document.paths!['/api/v1/conversions']!['post'] as OperationObject;
    const { $ref } = conversion.responses!['409'] as { $ref: string };
    const conflict = JSON.stringify(responses[$ref.slice($ref.lastIndexOf('/') + 1)]);
    expect(conflict).toContain('"enum":["CONVERSION_IN_PROGRESS","IDEMPOTENCY_KEY_CONSUMED"]');
    expect(conflict).toContain('RateDriftError');
  });

  it('declares both ways to send a session, rate limits, request ids, licence and contact', () => {
    const { securitySchemes, headers } = document.components!;
    expect(Object.keys(securitySchemes!)).toEqual(['secretKey', 'publishableKey', 'session', 'sessionToken']);
    expect(Object.keys(headers!)).toEqual(expect.arrayContaining(['RequestId', 'Limit', 'RetryAfter']));
    const me = document.paths!['/api/v1/payments']!['get'] as OperationObject;
    expect(me.security).toEqual([{ secretKey: [] }, { session: [] }, { sessionToken: [] }]);
    const { headers: answered } = me.responses!['200'] as { headers: object };
    expect(Object.keys(answered)).toEqual([
      'X-Request-Id',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
    ]);
    expect(document.info).toMatchObject({
      license: { identifier: 'MIT' },
      contact: { url: expect.any(String) as string },
    });
  });

  it('declares the mark of a repeat wherever it is sent', () => {
    const marked = routes.filter(({ marksRepeats }) => marksRepeats).map(({ name }) => name);
    expect(marked.sort()).toEqual([
      'createPayment',
      'createRefund',
      'createWithdrawal',
      'executeConversion',
      'openWidgetCheckout',
      'queuePayouts',
    ]);
    const create = document.paths!['/api/v1/payments']!['post'] as OperationObject;
    expect(create.responses!['201']).toMatchObject({
      headers: { 'Idempotency-Replayed': { $ref: '#/components/headers/IdempotencyReplayed' } },
    });
    const source = (file: string): string => readFileSync(join(root, 'api', file), 'utf8');
    const senders = readdirSync(join(root, 'api'), { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && source(file).includes("{ 'Idempotency-Replayed': 'true' }"),
    );
    for (const file of senders) expect([file, source(file).includes('marksRepeats: true')]).toEqual([file, true]);
    expect(senders).toHaveLength(marked.length);
  });

  it('describes every tag that a route has, and no other', () => {
    expect(document.tags!.map(({ name }) => name).sort()).toEqual(Object.keys(tags).sort());
    for (const { description } of document.tags!) expect(description).toMatch(/\.$/);
  });

  /** Answers that no example can show. */
  const withoutExample: Readonly<Record<string, string>> = {
    streamPayments: 'an event stream has no end; its description says what comes',
    streamInvoice: 'an event stream has no end; its description says what comes',
    exportStatement: 'a PDF file',
    getIcon: 'a picture',
    getLogo: 'a picture',
  };

  it('has an example of the success of every operation, and none of a route that is gone', () => {
    const names = new Set<string>(routes.map(({ name }) => name));
    expect(Object.keys(examples.calls).filter((name) => !names.has(name))).toEqual([]);
    expect(Object.keys(examples.events).filter((type) => !Object.hasOwn(eventTypes, type))).toEqual([]);
    const shown = ({ responses }: OperationObject): boolean =>
      Object.entries(responses as Record<string, ResponseObject>).some(([status, { content }]) =>
        status.startsWith('2') ? Object.values(content ?? {}).some(({ example }) => example !== undefined) : false,
      );
    const missing = operations.filter((one) => !shown(one)).map(({ operationId }) => operationId);
    expect(missing.sort()).toEqual(Object.keys(withoutExample).sort());
  });

  it.each(served)('has examples that fit the schemas beside them: $part', ({ document: one }) => {
    const ajv = new Ajv2020({ strict: false });
    addFormats(ajv);
    ajv.addSchema({ $id: 'document', components: one.components });
    const inDocument = <Part>(part: Part | ReferenceObject): Part =>
      (part as ReferenceObject).$ref
        ? ((one.components as unknown as Record<string, Record<string, Part>>)[
            (part as ReferenceObject).$ref.split('/')[2]!
          ]![(part as ReferenceObject).$ref.split('/')[3]!] as Part)
        : (part as Part);
    const fits = { body: 0, answer: 0, refusal: 0 };
    const check = (what: string, kind: keyof typeof fits, content: Record<string, MediaTypeObject> = {}): void => {
      for (const { schema, example, examples: shown = {} } of Object.values(content)) {
        const values = Object.values(shown).map((each) => (inDocument(each) as { value: unknown }).value);
        if (example !== undefined) values.push(example);
        const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
        const validate = ajv.compile(JSON.parse(text) as object);
        for (const value of values) {
          expect([what, validate(value), validate.errors]).toEqual([what, true, null]);
          fits[kind] += 1;
        }
      }
    };
    for (const item of Object.values(one.paths!))
      for (const { operationId, requestBody, responses } of Object.values(item) as OperationObject[]) {
        check(`${operationId}: body`, 'body', (requestBody as RequestBodyObject | undefined)?.content);
        for (const [status, response] of Object.entries(responses!)) {
          const { content } = inDocument<ResponseObject>(response as ResponseObject | ReferenceObject);
          check(`${operationId}: ${status}`, status.startsWith('2') ? 'answer' : 'refusal', content);
        }
      }
    for (const count of Object.values(fits)) expect(count).toBeGreaterThan(10);
  });

  const refusalsOf = (one: OpenAPIObject, { responses }: OperationObject): Array<Record<string, unknown>> =>
    Object.entries(responses as Record<string, ReferenceObject>).flatMap(([status, { $ref }]) => {
      const { responses: shared = {}, examples: recorded = {} } = one.components!;
      const response = status.startsWith('2') ? undefined : (shared[$ref?.split('/').at(-1) ?? ''] as ResponseObject);
      const refs = Object.entries(response?.content?.['application/json']?.examples ?? {}) as Array<
        [string, ReferenceObject]
      >;
      return refs.map(([code, { $ref: example }]) => {
        const { value } = recorded[example.split('/').at(-1)!] as { value: object };
        return { status: status === 'default' ? status : Number(status), code, value };
      });
    });

  it.each(served)('shows each refusal that carries data by an example: $part', ({ document: one }) => {
    for (const item of Object.values(one.paths!))
      for (const operation of Object.values(item) as OperationObject[]) {
        const route = routes.find(({ name }) => name === operation.operationId)!;
        const shown = refusalsOf(one, operation);
        const codes = shown.map(({ code }) => code);
        const carrying = Object.keys(route.refusalData ?? {}) as ErrorCode[];
        expect([route.name, carrying.filter((code) => !codes.includes(publicName(code)))]).toEqual([route.name, []]);
        for (const code of carrying) {
          const { value } = shown.find((example) => example.code === publicName(code))!;
          for (const field of Object.keys(route.refusalData![code]!))
            expect(JSON.stringify(value)).toContain(`"${field}"`);
        }
      }
  });

  it('shows a refusal of each status of the calls that servers make most', () => {
    const { document: one } = served.find(({ part }) => part === 'integrators')!;
    const statusesOf = (path: string, method: 'get' | 'post'): unknown[] => {
      const operation = one.paths![path]![method]!;
      const shown = new Set(refusalsOf(one, operation).map(({ status }) => status));
      const declared = Object.keys(operation.responses!).filter((status) => /^([45]|default)/.test(status));
      return declared.filter((status) => !shown.has(status === 'default' ? status : Number(status)));
    };
    for (const [path, method] of [
      ['/api/v1/payments', 'post'],
      ['/api/v1/payments', 'get'],
      ['/api/v1/payments/{paymentId}', 'get'],
      ['/api/v1/payments/{paymentId}/refunds', 'post'],
      ['/api/v1/conversions', 'post'],
      ['/api/v1/conversions/quote', 'get'],
      ['/api/v1/ledger/balances', 'get'],
      ['/api/v1/webhook-endpoints', 'post'],
    ] as const)
      expect([path, statusesOf(path, method)]).toEqual([path, []]);
  });

  it.each(served)('stays small: $part', ({ text }) => {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(350_000);
    expect(brotliCompressSync(text).length).toBeLessThan(40_000);
  });

  it('has every operation in one of its three documents, and what a key may call in the one for integrators', () => {
    const idsOf = (name: string): string[] =>
      served
        .filter(({ part }) => part === name)
        .flatMap(({ document: { paths } }) => Object.values(paths!).flatMap((item) => Object.values(item as object)))
        .map(({ operationId }: OperationObject) => operationId!);
    const [ofServers, ofDashboards, ofOperators] = (['integrators', 'dashboard', 'operators'] as const).map(idsOf) as [
      string[],
      string[],
      string[],
    ];
    expect([...ofServers, ...ofDashboards, ...ofOperators].sort()).toEqual(routes.map(({ name }) => name).sort());
    for (const { name, may } of routes) {
      if (typeof may === 'object' && may.key !== null) expect(ofServers).toContain(name);
      if (may === 'user') expect(ofDashboards).toContain(name);
      if (may === 'super_admin') expect(ofOperators).toContain(name);
    }
    for (const name of ['login', 'acceptInvitation', 'stopSettlementChange']) expect(ofDashboards).toContain(name);
    for (const name of ['getInvoiceStatus', 'openWidgetCheckout', 'getHealth']) expect(ofServers).toContain(name);
  });

  it('gives every operation each of its codes, whichever response they are in', () => {
    const { responses } = document.components as { responses: Record<string, object> };
    for (const route of routes) {
      const operation = document.paths![route.path]![route.method] as OperationObject;
      const told = Object.values(operation.responses as Record<string, { $ref?: string }>)
        .flatMap(({ $ref }) => ($ref ? [JSON.stringify(responses[$ref.slice($ref.lastIndexOf('/') + 1)])] : []))
        .join();
      for (const code of errorsOf(route)) {
        const answer = errorResponse(new DomainError(code), route.refusals ?? route.envelope, 'req_1');
        const { error } = answer.body as { error: string | { code: string } };
        const words = JSON.stringify(typeof error === 'string' ? error : error.code);
        const name = `/${pascalOfCode(answer.code)}Error`; // those that carry data have a schema of their own
        const isThere = told.includes(words) || told.includes(name) || ownMessage.includes(code);
        expect([route.name, code, isThere]).toEqual([route.name, code, true]);
      }
    }
  });
});
