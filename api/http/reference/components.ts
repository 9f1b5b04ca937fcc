import type { ReferenceObject, SchemaObject } from 'openapi3-ts/oas31';

/** Turns the schemas of routes into named components, so that generated clients have a type per resource. */

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const pascal = (name: string): string =>
  name.replaceAll(/(^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, __, letter: string) => letter.toUpperCase());
export const pascalOfCode = (code: string): string => pascal(code.toLowerCase());

export class Components {
  readonly schemas: Record<string, SchemaObject> = {};

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

  private visit(schema: Json, name: string): SchemaObject | ReferenceObject {
    const { title, ...rest } = schema;
    const own = typeof title === 'string' ? title : name;
    const inner = this.inside(rest, own);
    const isNamed = title !== undefined || (isObject(rest.properties) && Object.keys(rest.properties).length > 0);
    return isNamed ? this.add(own, inner) : inner;
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
