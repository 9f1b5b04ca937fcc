// Makes the Python package's resources: a class per tag, a method per operation, types of what is sent and answered,
// and an exception for each code that carries data.
import { descriptionOf, nameOf, pascal } from '../operations.mjs';

const head = `"""Made from the OpenAPI document."""

from __future__ import annotations
`;
const literal = (value) => (typeof value === 'boolean' ? pascal(String(value)) : JSON.stringify(value));
const snake = (name) =>
  name
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase();
const keywords = new Set([
  'from',
  'import',
  'in',
  'is',
  'not',
  'or',
  'and',
  'class',
  'global',
  'return',
  'pass',
  'async',
]);
const isName = (name) => /^[A-Za-z_]\w*$/.test(name) && !keywords.has(name);
const asArgument = (name) => (isName(snake(name)) ? snake(name) : `${snake(name)}_`);
const indented = (text, by = '    ') => text.split('\n').join(`\n${by}`);
const asText = (text) => text.replaceAll('\\', '\\\\').replaceAll('"""', "'''");

const plain = { string: 'str', integer: 'int', boolean: 'bool', null: 'None' };

const bare = (name) => name;
const quoted = (name) => `"${name}"`;
/** As the modules beside types.py write it. */
const outside = (name) => `schemas.${name}`;

/** The Python type of a schema; `reference` writes the name of another. */
function typeOf(schema, reference = bare) {
  const of = (part) => typeOf(part, reference);
  if (schema.$ref) return reference(nameOf(schema.$ref));
  if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`;
  if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
  const members = schema.anyOf ?? schema.oneOf;
  if (members) return `Union[${members.map(of).join(', ')}]`;
  if (Array.isArray(schema.type)) return `Union[${schema.type.map((type) => of({ ...schema, type })).join(', ')}]`;
  if (schema.type === 'array') return `List[${of(schema.items)}]`;
  if (schema.type === 'object') {
    const [values] = Object.values(schema.patternProperties ?? {});
    return `Dict[str, ${values ? of(values) : 'Any'}]`;
  }
  if (schema.type === 'number') return reference('Number').replaceAll('"', '');
  return plain[schema.type] ?? 'Any';
}

/** A TypedDict by its fields; those that may be missing are in a class of their own, as Python 3.9 has them. */
function typedDict(name, bases, fields, description = '') {
  const part = (className, parents, members, isTotal) => {
    const total = isTotal ? '' : ', total=False';
    if (members.some(([key]) => !isName(key))) {
      if (parents.length > 1 || parents[0] !== 'TypedDict') throw new Error(`${name} has a base and a reserved name`);
      const entries = members.map(
        ([key, { schema }]) => `    ${JSON.stringify(key)}: ${JSON.stringify(typeOf(schema))},`,
      );
      return `${className} = TypedDict(\n    "${className}",\n    {\n    ${entries.join('\n    ')}\n    }${total},\n)`;
    }
    const text = description && className === name ? [`    """${indented(asText(description))}"""`] : [];
    const lines = [...text, ...members.map(([key, { schema }]) => `    ${key}: ${typeOf(schema)}`)];
    return `class ${className}(${parents.join(', ')}${total}):\n${lines.join('\n') || '    pass'}`;
  };
  const [required, optional] = [true, false].map((is) => fields.filter(([, field]) => field.required === is));
  if (optional.length === 0) return part(name, bases.length ? bases : ['TypedDict'], required, true);
  if (required.length === 0) return part(name, bases.length ? bases : ['TypedDict'], optional, false);
  const inner = part(`_${name}Required`, bases.length ? bases : ['TypedDict'], required, true);
  if (optional.some(([key]) => !isName(key))) throw new Error(`${name} has an optional reserved name`);
  return `${inner}\n\n\n${part(name, [`_${name}Required`], optional, false)}`;
}

/** The definition of a named schema, and the schemas that have to stand before it. */
function definition(name, schema) {
  const parts = schema.allOf ?? [schema];
  const isObject = parts.every((part) => part.$ref || (part.type === 'object' && part.properties));
  if (!isObject || schema.$ref) {
    return { text: `${name} = ${typeOf(schema, quoted)}`, before: [], isAlias: true };
  }
  const bases = parts.filter(({ $ref }) => $ref).map(({ $ref }) => nameOf($ref));
  const fields = parts.flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).map(([key, one]) => [key, { schema: one, required: required.includes(key) }]),
  );
  return { text: typedDict(name, bases, fields, schema.description), before: bases };
}

function typesOf(schemas) {
  const all = Object.entries(schemas).map(([name, schema]) => [name, definition(name, schema)]);
  const byName = new Map(all);
  const written = new Set();
  const texts = [];
  const write = (name) => {
    if (written.has(name)) return;
    written.add(name);
    byName.get(name).before.forEach(write);
    texts.push(byName.get(name).text);
  };
  for (const [name, { isAlias }] of all) if (!isAlias) write(name);
  for (const [name] of all) write(name);
  return `${head}
from decimal import Decimal
from typing import Any, Dict, List, Literal, TypedDict, Union

#: Numbers come without loss: whole ones as int, others as Decimal.
Number = Union[int, Decimal]


${texts.join('\n\n\n')}
`;
}

function method({ name, comment, call, path, query, body, payload, row }) {
  const asOption = ({ name: key, required, schema }) =>
    `${asArgument(key)}: ${required ? typeOf(schema, outside) : `Optional[${typeOf(schema, outside)}] = None`}`;
  const bodyType = body && outside(body.type);
  const args = [
    'self',
    ...path.map((one) => `${asArgument(one)}: str`),
    ...(body ? [body.required ? `body: ${bodyType}` : `body: Optional[${bodyType}] = None`] : []),
    '*',
    ...query.map(asOption),
    ...(call.key ? ['idempotency_key: Optional[str] = None'] : []),
    'timeout: Optional[float] = None',
    'max_retries: Optional[int] = None',
    'headers: Optional[Mapping[str, str]] = None',
  ];
  const entries = (names) => `{${names.map((one) => `"${one}": ${asArgument(one)}`).join(', ')}}`;
  const given = [
    ...(path.length ? [`path=${entries(path)}`] : []),
    ...(query.length ? [`query=${entries(query.map((one) => one.name))}`] : []),
    ...(body ? [`body=${body.required ? 'body' : 'body or {}'}`] : []),
    `options=Options(${call.key ? 'idempotency_key' : 'None'}, timeout, max_retries, headers)`,
  ];
  const { method: verb, path: place, wrapped, key, pages } = call;
  const what = [`"${verb}"`, `"${place}"`, `wrapped=${literal(wrapped)}`];
  if (key) what.push(`key="${key}"`);
  if (pages) what.push(`pages="${pages}"`);
  const type = pages ? `Listing[${typeOf(payload, outside)}, ${typeOf(row, outside)}]` : typeOf(payload, outside);
  return `    def ${snake(name)}(
        ${args.join(',\n        ')},
    ) -> ${type}:
        """${indented(asText(comment), '        ')}"""
        answer: ${type} = self._core.${pages ? 'list' : 'request'}(
            Operation(${what.join(', ')}),
            ${given.join(',\n            ')},
        )
        return answer`;
}

/** Names of resources in the client where the tag has another. */
const attributes = { Webhooks: 'webhook_endpoints' };

function resources(byTag) {
  const classes = [...byTag].map(([tag, members]) => {
    const methods = members.map(method).join('\n\n');
    const begin = `class ${pascal(tag)}:\n    def __init__(self, core: Core) -> None:\n        self._core = core`;
    return `${begin}\n\n${methods}`;
  });
  const all = [...byTag.keys()].map((tag) => `        self.${attributes[tag] ?? snake(tag)} = ${pascal(tag)}(core)`);
  return `${head}
from typing import Any, Dict, List, Literal, Mapping, Optional, Union

from .._core import Core, Listing, Operation, Options
from . import types as schemas


${classes.join('\n\n\n')}


class Resources:
    """Every resource that a secret key reaches."""

    def __init__(self, core: Core) -> None:
${all.join('\n')}
`;
}

const classOfStatus = {
  401: 'AuthenticationError',
  403: 'PermissionDeniedError',
  404: 'NotFoundError',
  409: 'ConflictError',
};

function errors({ codes, byText, carried }) {
  const title = (code) => pascal(code.toLowerCase());
  const classes = Object.entries(carried).map(([code, { status, data }]) => {
    const fields = data.map(([name, schema]) => `    ${name}: ${typeOf(schema, outside)}`).join('\n');
    return `class ${title(code)}Data(TypedDict):
${fields}


class ${title(code)}Error(${classOfStatus[status] ?? 'ApiError'}):
    """${code}."""

    data: ${title(code)}Data`;
  });
  const bases = [...new Set(Object.values(carried).map(({ status }) => classOfStatus[status] ?? 'ApiError'))];
  return `${head}
from typing import Any, Dict, List, Literal, Type, TypedDict, Union

from ..errors import ${[...new Set(['ApiError', ...bases])].sort().join(', ')}
from . import types as schemas

__all__ = [${Object.keys(carried)
    .map((code) => `"${title(code)}Data", "${title(code)}Error"`)
    .join(', ')}, "ErrorCode"]

#: Codes of refusals; new ones may appear.
ErrorCode = Literal[
${codes.map((code) => `    "${code}",`).join('\n')}
]

${classes.join('\n\n\n')}


#: Exceptions of codes that carry data.
CLASSES: Dict[str, Type[ApiError]] = {
${Object.keys(carried)
  .map((code) => `    "${code}": ${title(code)}Error,`)
  .join('\n')}
}
#: Codes of refusals that have only a text, by status and text.
CODES_BY_TEXT: Dict[str, str] = {
${Object.entries(byText)
  .map(([text, code]) => `    ${JSON.stringify(text)}: "${code}",`)
  .join('\n')}
}
`;
}

/** The modules that are made, by their names. */
export function modulesOf(document) {
  const { byTag, errors: refused, schemas } = descriptionOf(document);
  return {
    '__init__.py': '"""Made from the OpenAPI document."""\n',
    'types.py': typesOf(schemas),
    'resources.py': resources(byTag),
    'errors.py': errors(refused),
  };
}
