// What the packages for integrators take from the OpenAPI document, whatever their language: the operations that a
// secret key may call with their names, the schemas they name, codes of errors and what they carry.
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
  'Test mode': ['Payment'],
  Ledger: ['ledger'],
  Currencies: [],
};

export const pascal = (name) =>
  name.replaceAll(/(^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, __, letter) => letter.toUpperCase());
const lowerFirst = (name) => name[0].toLowerCase() + name.slice(1);
export const nameOf = ($ref) => $ref.slice($ref.lastIndexOf('/') + 1);

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

/** The properties of a schema, those of its parts included. */
function propertiesOf(document, schema) {
  const own = schema.$ref ? document.components.schemas[nameOf(schema.$ref)] : schema;
  return Object.assign({}, ...(own.allOf ?? []).map((part) => propertiesOf(document, part)), own.properties);
}

/** What a method answers: the schema of its payload, whether it is wrapped, and the schema of a row of a list. */
function payloadOf(document, answer) {
  const { ok, data } = propertiesOf(document, answer);
  const wrapped = ok !== undefined && data !== undefined;
  const payload = wrapped ? data : answer;
  return { wrapped, payload, row: propertiesOf(document, payload).items?.items };
}

function described(document, { path, method, operation, answer }) {
  const { wrapped, payload, row } = payloadOf(document, answer);
  const parameters = parametersOf(document, operation);
  const of = (where) => parameters.filter((one) => one.in === where);
  const query = of('query');
  const pages = row && ['page', 'cursor', 'after'].find((kind) => query.some(({ name }) => name === kind));
  const bodyRef = operation.requestBody?.content['application/json']?.schema;
  const body = bodyRef?.$ref && { type: nameOf(bodyRef.$ref), required: operation.requestBody.required === true };
  const inHeader = of('header').some(({ name }) => name === 'Idempotency-Key');
  const inBody = body && propertiesOf(document, bodyRef).idempotencyKey !== undefined;
  const key = inHeader ? 'header' : inBody ? 'body' : undefined;
  const tag = operation.tags[0];
  return {
    tag,
    name: methodName(tag, operation.operationId),
    comment: [operation.summary, operation.description].join('. ').replaceAll(/\s+/g, ' '),
    /** What the core of a package needs to know of the call. */
    call: { method, path, wrapped, ...(key ? { key } : {}), ...(pages ? { pages } : {}) },
    path: of('path').map(({ name }) => name),
    query,
    body,
    payload,
    row,
  };
}

/** Every code, codes of refusals that have only a text, and status and fields of codes that carry data. */
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
    if (data.length) carried[error.properties ? code.const : name] = { status, data };
  };
  for (const { operation } of chosen(document))
    for (const [status, response] of Object.entries(operation.responses)) {
      const found = response.$ref ? document.components.responses[nameOf(response.$ref)] : undefined;
      if (found?.content) take(status, found.content['application/json'].schema);
    }
  return { codes: [...codes].sort(), byText, carried };
}

/** All that a package is made from. `byTag`: its operations; `schemas`: those that they name, sorted. */
export function descriptionOf(document) {
  const operations = chosen(document);
  const errors = errorsOf(document);
  const names = reachable(document, [
    operations.map(({ operation, answer }) => [parametersOf(document, operation), operation.requestBody, answer]),
    Object.values(errors.carried).map(({ data }) => data),
    { $ref: '#/components/schemas/Event' },
  ]);
  const schemas = Object.fromEntries(names.map((name) => [name, document.components.schemas[name]]));
  const byTag = Map.groupBy(
    operations.map((one) => described(document, one)),
    ({ tag }) => tag,
  );
  return { byTag, errors, schemas };
}
