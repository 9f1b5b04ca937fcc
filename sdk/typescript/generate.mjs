// Makes the resources of the package from the OpenAPI document: a class per tag, a method per operation that a secret
// key may call, names for its schemas, codes of errors and what they carry.

const publicTags = ['Currencies'];
/** What the rule below would name badly. */
const methodNames = { listPaymentRefunds: 'listForPayment', getPaymentTimeline: 'timeline', listCurrencies: 'list' };
const nouns = {
  Payments: ['Payments', 'Payment'],
  Refunds: ['Refunds', 'Refund'],
  Conversions: ['Conversions', 'Conversion', 'conversions', 'conversion'],
  'Mass payouts': ['Payouts', 'Payout'],
  Withdrawals: ['Withdrawals', 'Withdrawal'],
  Wallets: ['Wallets', 'Wallet'],
  Webhooks: ['WebhookEndpoints', 'WebhookEndpoint', 'WebhookSecret'],
  Events: ['Events', 'Event'],
  Diagnostics: [],
  Ledger: ['ledger'],
  Currencies: [],
};

const pascal = (name) => name.replaceAll(/(^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, __, letter) => letter.toUpperCase());
const lowerFirst = (name) => name[0].toLowerCase() + name.slice(1);
const nameOf = ($ref) => $ref.slice($ref.lastIndexOf('/') + 1);

/** `createPayment` of Payments is `create`. */
function methodName(tag, operationId) {
  if (methodNames[operationId]) return methodNames[operationId];
  for (const noun of nouns[tag] ?? []) {
    const rest = operationId.replace(noun, '');
    if (rest !== operationId && rest !== '') return lowerFirst(rest);
  }
  return operationId;
}

/** The schemas that some parts of the document name, and those that they name. */
function reachable(document, parts) {
  const found = new Set();
  const visit = (value) => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (typeof value !== 'object' || value === null) return;
    if (typeof value.$ref === 'string' && value.$ref.startsWith('#/components/schemas/')) {
      const name = nameOf(value.$ref);
      if (!found.has(name)) {
        found.add(name);
        visit(document.components.schemas[name]);
      }
      return;
    }
    Object.values(value).forEach(visit);
  };
  visit(parts);
  return [...found].sort();
}

const parametersOf = (document, { parameters = [] }) =>
  parameters.map((one) => (one.$ref ? document.components.parameters[nameOf(one.$ref)] : one));

/** The operations for secret keys that answer JSON. */
function chosen(document) {
  const all = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  return all
    .map((one) => {
      const [, success] = Object.entries(one.operation.responses).find(([status]) => status.startsWith('2'));
      return { ...one, answer: success.content?.['application/json']?.schema };
    })
    .filter(({ operation, answer }) => {
      const isOurs = operation.security.some((scheme) => 'secretKey' in scheme);
      return answer && (isOurs || (operation.security.length === 0 && publicTags.includes(operation.tags[0])));
    });
}

/** TypeScript of a plain schema. */
function typeOf(schema) {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  if (schema.type === 'array') return `ReadonlyArray<${typeOf(schema.items)}>`;
  return { integer: 'number', number: 'number', boolean: 'boolean' }[schema.type] ?? 'string';
}

/** The properties of a schema, those of its parts included. */
function propertiesOf(document, schema) {
  const own = schema.$ref ? document.components.schemas[nameOf(schema.$ref)] : schema;
  return Object.assign({}, ...(own.allOf ?? []).map((part) => propertiesOf(document, part)), own.properties);
}

/** What a method answers: the type of its payload, whether it is wrapped, and the type of a row where it is a list. */
function payloadOf(document, answer) {
  const { ok, data } = propertiesOf(document, answer);
  const wrapped = ok !== undefined && data !== undefined;
  const payload = wrapped ? data : answer;
  const rows = propertiesOf(document, payload).items;
  return { wrapped, type: typeOf(payload), row: rows?.items && typeOf(rows.items) };
}

function method(document, { path, method: verb, operation, answer }) {
  const { wrapped, type, row } = payloadOf(document, answer);
  const parameters = parametersOf(document, operation);
  const of = (where) => parameters.filter((one) => one.in === where);
  const query = of('query');
  const has = (name) => query.some((one) => one.name === name);
  const pages = !row ? undefined : has('page') ? 'page' : has('cursor') ? 'cursor' : has('after') ? 'after' : undefined;
  const bodyRef = operation.requestBody?.content['application/json']?.schema;
  const body = bodyRef?.$ref && nameOf(bodyRef.$ref);
  const takesKey = body && propertiesOf(document, bodyRef).idempotencyKey !== undefined;
  const inHeader = of('header').some(({ name }) => name === 'Idempotency-Key');
  const key = inHeader ? 'header' : takesKey ? 'body' : undefined;

  const isBodyRequired = operation.requestBody?.required === true;
  const isQueryRequired = query.some(({ required }) => required);
  const fields = query.map((one) => `${one.name}${one.required ? '' : '?'}: ${typeOf(one.schema)}`);
  const queryType = `Readonly<{ ${fields.join('; ')} }>`;
  const args = [
    ...of('path').map(({ name }) => `${name}: string`),
    ...(body ? [`body: ${body}${isBodyRequired ? '' : ' = {}'}`] : []),
    ...(query.length ? [`query: ${queryType}${isQueryRequired ? '' : ' = {}'}`] : []),
    'options?: RequestOptions',
  ];
  const call = [
    ...(of('path').length
      ? [
          `path: { ${of('path')
            .map(({ name }) => name)
            .join(', ')} }`,
        ]
      : []),
    ...(body ? ['body'] : []),
    ...(query.length ? ['query'] : []),
  ];
  const described = { method: verb, path, wrapped, ...(key ? { key } : {}), ...(pages ? { pages } : {}) };
  const comment = [operation.summary, operation.description].join('. ').replaceAll('*/', '').replaceAll(/\s+/g, ' ');
  const name = methodName(operation.tags[0], operation.operationId);
  const answered = pages ? `PageRequest<${type}, ${row}>` : `Promise<${type}>`;
  const how = pages ? `list<${type}, ${row}>` : `request<${type}>`;
  return `  /** ${comment} */
  ${name}(${args.join(', ')}): ${answered} {
    return this.core.${how}(${JSON.stringify(described)}, { ${call.join(', ')} }, options);
  }`;
}

/** Every code, the codes of refusals that have only a text, and the schemas of codes that carry data. */
function errorsOf(document) {
  const codes = new Set();
  const byText = {};
  const carried = {};
  const take = (status, schema) => {
    const own = schema.$ref ? document.components.schemas[nameOf(schema.$ref)] : schema;
    for (const member of [...(own.anyOf ?? []), ...(own.allOf ?? [])]) take(status, member);
    const error = own.properties?.error;
    const code = error?.properties?.code ?? error;
    for (const one of error?.properties?.code?.enum ?? []) codes.add(one);
    (error?.['x-enum-varnames'] ?? []).forEach((one, n) => {
      codes.add(one);
      byText[`${status} ${error.enum[n]}`] ??= one;
    });
    if (code?.const === undefined) return;
    const name = code['x-code'];
    codes.add(error.properties ? code.const : name);
    if (!error.properties && !own.properties.message) byText[`${status} ${code.const}`] ??= name;
    const data = Object.entries(error.properties ?? own.properties).filter(
      ([key]) => !['code', 'message', 'error', 'ok', 'requestId'].includes(key),
    );
    if (data.length) carried[error.properties ? code.const : name] = data;
  };
  for (const { operation } of chosen(document))
    for (const [status, response] of Object.entries(operation.responses)) {
      const found = response.$ref ? document.components.responses[nameOf(response.$ref)] : undefined;
      if (found?.content) take(status, found.content['application/json'].schema);
    }
  return { codes: [...codes].sort(), byText, carried };
}

/** The source of the resources, and the schemas that it names. */
export function resourcesOf(document) {
  const operations = chosen(document);
  const errors = errorsOf(document);
  const names = reachable(document, [
    operations.map(({ operation, answer }) => [parametersOf(document, operation), operation.requestBody, answer]),
    Object.values(errors.carried),
    { $ref: '#/components/schemas/Event' },
  ]);
  const byTag = Map.groupBy(operations, ({ operation }) => operation.tags[0]);
  const classes = [...byTag].map(([tag, members]) => {
    const methods = members.map((one) => method(document, one)).join('\n\n');
    return `export class ${pascal(tag)} {\n  constructor(private readonly core: Core) {}\n\n${methods}\n}`;
  });
  const data = Object.entries(errors.carried).map(
    ([code, fields]) => `  ${code}: { ${fields.map(([name, schema]) => `${name}: ${typeOf(schema)}`).join('; ')} };`,
  );
  const source = `// Made from the OpenAPI document.
import type { Core, PageRequest, RequestOptions } from '../core.js';
import type { components } from './types.js';

type Schemas = components['schemas'];
${names.map((name) => `export type ${name} = Schemas['${name}'];`).join('\n')}

/** Codes of refusals; new ones may appear. */
export type ErrorCode =
${errors.codes.map((code) => `  | '${code}'`).join('\n')};
/** What some of them carry. */
export type ErrorData = {
${data.join('\n')}
};
export const codesByText: Readonly<Record<string, string>> = ${JSON.stringify(errors.byText, null, 2)};

${classes.join('\n\n')}
`;
  const schemas = Object.fromEntries(names.map((name) => [name, document.components.schemas[name]]));
  return { source, schemas };
}
