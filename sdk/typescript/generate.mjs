// Makes the resources of the package: a class per tag, a method per operation, names for schemas, codes of errors.
import { descriptionOf, nameOf, pascal } from '../operations.mjs';

/** TypeScript of a plain schema. */
function typeOf(schema) {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  if (schema.type === 'array') return `ReadonlyArray<${typeOf(schema.items)}>`;
  return { integer: 'number', number: 'number', boolean: 'boolean' }[schema.type] ?? 'string';
}

function method({ name, comment, call, path, query, body, payload, row }) {
  const fields = query.map((one) => `${one.name}${one.required ? '' : '?'}: ${typeOf(one.schema)}`);
  const queryType = `Readonly<{ ${fields.join('; ')} }>`;
  const isQueryRequired = query.some(({ required }) => required);
  const args = [
    ...path.map((one) => `${one}: string`),
    ...(body ? [`body: ${body.type}${body.required ? '' : ' = {}'}`] : []),
    ...(query.length ? [`query: ${queryType}${isQueryRequired ? '' : ' = {}'}`] : []),
    'options?: RequestOptions',
  ];
  const given = [
    ...(path.length ? [`path: { ${path.join(', ')} }`] : []),
    ...(body ? ['body'] : []),
    ...(query.length ? ['query'] : []),
  ];
  const types = call.pages ? `${typeOf(payload)}, ${typeOf(row)}` : typeOf(payload);
  const answered = call.pages ? `PageRequest<${types}>` : `Promise<${types}>`;
  const how = call.pages ? `list<${types}>` : `request<${types}>`;
  return `  /** ${comment.replaceAll('*/', '')} */
  ${name}(${args.join(', ')}): ${answered} {
    return this.core.${how}(${JSON.stringify(call)}, { ${given.join(', ')} }, options);
  }`;
}

/** The source of the resources, and the schemas that it names. */
export function resourcesOf(document) {
  const { byTag, errors, schemas } = descriptionOf(document);
  const classes = [...byTag].map(([tag, members]) => {
    const methods = members.map(method).join('\n\n');
    return `export class ${pascal(tag)} {\n  constructor(private readonly core: Core) {}\n\n${methods}\n}`;
  });
  const data = Object.entries(errors.carried).map(
    ([code, { data: fields }]) =>
      `  ${code}: { ${fields.map(([name, schema]) => `${name}: ${typeOf(schema)}`).join('; ')} };`,
  );
  const source = `// Made from the OpenAPI document.
import type { Core, PageRequest, RequestOptions } from '../core.js';
import type { components } from './types.js';

type Schemas = components['schemas'];
${Object.keys(schemas)
  .map((name) => `export type ${name} = Schemas['${name}'];`)
  .join('\n')}

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
  return { source, schemas };
}
