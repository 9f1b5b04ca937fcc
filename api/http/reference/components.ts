import type { ParameterObject, ReferenceObject, SchemaObject } from 'openapi3-ts/oas31';
import type { TObject } from 'typebox';

/** Turns the schemas of routes into named components, so that generated clients have a type per resource. */

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const pascal = (name: string): string =>
  name.replaceAll(/(^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, __, letter: string) => letter.toUpperCase());
export const pascalOfCode = (code: string): string => pascal(code.toLowerCase());

export class Components {
  readonly schemas: Record<string, SchemaObject> = {};
  readonly parameters: Record<string, ParameterObject> = {};
  private readonly parts: ReadonlyArray<Readonly<{ name: string; schema: Json; own: ReadonlyArray<[string, string]> }>>;

  /** `parts`: objects with titles; a schema that has all the properties of one refers to it for them. */
  constructor(parts: readonly TObject[] = []) {
    const read = parts.map((part) => {
      const { title, ...schema } = JSON.parse(JSON.stringify(part)) as Json & { title: string };
      return { name: title, schema, own: propertiesOf(schema) };
    });
    this.parts = read.filter(({ own }) => own.length > 2).sort((a, b) => b.own.length - a.own.length);
  }

  /** The schema, or a reference where it has a name: its title, or for objects `name`, which says where it is. */
  use(schema: unknown, name: string): SchemaObject | ReferenceObject {
    return this.visit(JSON.parse(JSON.stringify(schema)) as Json, name);
  }

  /** Names a schema. Throws where two different ones would have the same name. */
  add(name: string, schema: SchemaObject): ReferenceObject {
    const known = this.schemas[name];
    if (known && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`Two schemas of the API reference are called ${name}: give one of them a title`);
    this.schemas[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  }

  /** A parameter under a name of its own, where that name is free or means the same. */
  parameter(parameter: ParameterObject): ReferenceObject {
    const base = pascal(parameter.name);
    for (let n = 1; ; n += 1) {
      const name = n === 1 ? base : `${base}${n}`;
      const known = this.parameters[name];
      if (known && JSON.stringify(known) !== JSON.stringify(parameter)) continue;
      this.parameters[name] = parameter;
      return { $ref: `#/components/parameters/${name}` };
    }
  }

  private visit(schema: Json, name: string): SchemaObject | ReferenceObject {
    const { title, ...rest } = schema;
    const own = typeof title === 'string' ? title : name;
    const inner = this.withPart(rest, own) ?? this.inside(rest, own);
    const isNamed = title !== undefined || (isObject(rest.properties) && Object.keys(rest.properties).length > 0);
    return isNamed ? this.add(own, inner) : inner;
  }

  /** The schema as a part and what it has beside it, where it has all of a part. */
  private withPart(schema: Json, name: string): SchemaObject | undefined {
    if (schema.type !== 'object' || 'additionalProperties' in schema) return undefined;
    const mine = new Map(propertiesOf(schema));
    const part = this.parts.find(
      (one) => one.name !== name && one.own.every(([key, text]) => mine.get(key) === text) && mine.size > 0,
    );
    if (!part) return undefined;
    const of = part.schema.properties as Json;
    const { properties, required, type, ...rest } = schema as Json & { properties: Json; required?: string[] };
    const ref = this.use({ ...part.schema, title: part.name }, part.name) as ReferenceObject;
    const others = Object.entries(properties).filter(([key]) => !(key in of));
    const needed = (required ?? []).filter((key) => !(key in of));
    if (others.length === 0) return { ...rest, allOf: [ref] };
    const own = { type, ...(needed.length ? { required: needed } : {}), properties: Object.fromEntries(others) };
    return { ...rest, allOf: [ref, this.inside(own, name)] };
  }

  private inside(schema: Json, name: string): SchemaObject {
    const made: Record<string, unknown> = { ...schema };
    if (isObject(schema.properties))
      made.properties = Object.fromEntries(
        Object.entries(schema.properties).map(([key, value]) => [key, this.visit(value as Json, name + pascal(key))]),
      );
    if (isObject(schema.items)) made.items = this.visit(schema.items, `${name}Item`);
    for (const keyword of ['additionalProperties', 'unevaluatedProperties'])
      if (isObject(schema[keyword])) made[keyword] = this.visit(schema[keyword], `${name}Value`);
    if (isObject(schema.patternProperties))
      made.patternProperties = Object.fromEntries(
        Object.entries(schema.patternProperties).map(([key, value]) => [
          key,
          this.visit(value as Json, `${name}Value`),
        ]),
      );
    for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
      const members = schema[keyword];
      if (!Array.isArray(members)) continue;
      const objects = members.filter((member: Json) => member.type !== 'null');
      made[keyword] = members.map((member: Json) =>
        this.visit(member, objects.length > 1 ? `${name}Option${objects.indexOf(member) + 1}` : name),
      );
    }
    return discriminated(schema, made);
  }
}

/** Every object with a title in some schemas. */
export function titledIn(schemas: readonly unknown[]): TObject[] {
  const found = new Map<string, TObject>();
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visit);
    if (!isObject(node)) return;
    if (typeof node.title === 'string' && isObject(node.properties)) found.set(node.title, node as unknown as TObject);
    Object.values(node).forEach(visit);
  };
  visit(schemas);
  return [...found.values()];
}

/** The properties of a schema, each as text that says whether it is required. */
function propertiesOf({ properties, required }: Json): Array<[string, string]> {
  const needed = (required ?? []) as readonly string[];
  return Object.entries((properties ?? {}) as Json).map(([key, value]) => [
    key,
    `${needed.includes(key) ? 'required' : 'optional'} ${JSON.stringify(value)}`,
  ]);
}

/** A union whose members each have values of `type` of their own says so. */
function discriminated(schema: Json, { anyOf, ...rest }: Record<string, unknown>): SchemaObject {
  if (!Array.isArray(anyOf)) return rest;
  const types = (schema.anyOf as Json[]).map((member) => {
    const type = isObject(member.properties) ? member.properties.type : undefined;
    return isObject(type) && Array.isArray(type.enum) ? (type.enum as string[]) : [];
  });
  const isOwn = types.every((own) => own.length > 0) && new Set(types.flat()).size === types.flat().length;
  if (!isOwn) return orNull({ ...rest, anyOf } as SchemaObject);
  const members = anyOf as ReferenceObject[];
  const mapping = Object.fromEntries(members.flatMap(({ $ref }, n) => types[n]!.map((type) => [type, $ref])));
  return { ...rest, oneOf: members, discriminator: { propertyName: 'type', mapping } } as SchemaObject;
}

/** A plain value or null, in one schema. */
function orNull(schema: SchemaObject): SchemaObject {
  const { anyOf, ...rest } = schema;
  const [plain, nothing] = (anyOf ?? []) as SchemaObject[];
  if (anyOf?.length !== 2 || typeof plain!.type !== 'string' || nothing!.type !== 'null') return schema;
  if ('enum' in plain! || 'const' in plain!) return schema;
  return { ...plain, ...rest, type: [plain!.type, 'null'] };
}
