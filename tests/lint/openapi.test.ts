import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Spectral, type RulesetDefinition } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';
import type { OperationObject, SchemaObject } from 'openapi3-ts/oas31';
import { openApiDocument } from '../../api/http/openapi';
import type { Examples } from '../../api/http/reference/examples';
import { tags } from '../../api/http/reference/tags';
import { routes } from '../../api/routes';
import { eventTypes } from '../../domain/webhooks/event-types';
import { root } from '../../sandbox/paths';

const examples = JSON.parse(readFileSync(join(root, 'api', 'http', 'reference', 'recorded.json'), 'utf8')) as Examples;
const document = openApiDocument(routes, { API_URL: 'https://payments.shop.test' }, examples);
const text = JSON.stringify(document);
const schemas = document.components!.schemas as Record<string, SchemaObject>;
const operations = Object.values(document.paths!).flatMap((item) => Object.values(item) as OperationObject[]);

describe('18.1: the OpenAPI document as a product', () => {
  it('has no error and no warning of Redocly', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: text, absoluteRef: '/openapi.json', config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
  });

  it('has no error and no warning of Spectral, examples against their schemas included', async () => {
    const spectral = new Spectral();
    spectral.setRuleset({ extends: [[oas as RulesetDefinition, 'recommended']] });
    const problems = await spectral.run(JSON.parse(text) as Record<string, unknown>);
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
    expect(Object.keys(headers!)).toEqual(expect.arrayContaining(['X-Request-Id', 'RateLimit-Limit', 'Retry-After']));
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

  it('describes every tag that a route has, and no other', () => {
    expect(document.tags!.map(({ name }) => name).sort()).toEqual(Object.keys(tags).sort());
    for (const { description } of document.tags!) expect(description).toMatch(/\.$/);
  });

  it('has an example of most calls, and none of a route that is gone', () => {
    const names = new Set<string>(routes.map(({ name }) => name));
    expect(Object.keys(examples.calls).filter((name) => !names.has(name))).toEqual([]);
    expect(Object.keys(examples.calls).length).toBeGreaterThan(130);
    expect(Object.keys(examples.events).filter((type) => !Object.hasOwn(eventTypes, type))).toEqual([]);
  });

  it('stays small', () => {
    expect(text.length).toBeLessThan(650_000);
    expect(brotliCompressSync(text).length).toBeLessThan(64_000);
  });
});
