import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TSchema } from 'typebox';
import { checkPassword } from '../../api/access/passwords';
import { bodyCheck } from '../../api/http/validation';
import { routes } from '../../api/routes';
import { whyNotFailed } from '../../domain/txmanager/differing';
import type { Kind } from '../../domain/txmanager/kinds';
import { root } from '../../sandbox/paths';
import { sentence } from '../../web/dashboard/texts/sentences-de';

/** What the API says of a value that it does not take, and of an act that it refuses, is said in German too. The
 *  sentences are taken from the code that says them. */

/** How a refusal with a sentence of its own is made: the word before the sentence. */
const making = /(?:DomainError\(\s*'(?:VALIDATION_ERROR|ACT_REFUSED)',\s*|\b(?:invalid|notNow|refuse)\(\s*)/;
const sentences = new RegExp(`${making.source}(\`[^\`]*\`|'(?:[^'\\\\]|\\\\.)*'|"[^"]*")`, 'g');
/** What is named in these says the rest: it is tried below. */
const open = ['x needs x', 'destinationTag: x', 'Conversion x cannot be ended: x', 'Intent x can only have paid: x'];

const filesOf = (room: string): string[] =>
  readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(root, room, file));
const told = ['api', 'commands', 'domain', 'db']
  .flatMap(filesOf)
  .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(sentences)].map(([, text]) => text!.slice(1, -1)))
  .filter((text) => /\s/.test(text)) // a code is no sentence
  .map((text) => text.replaceAll(/\$\{[^}]*\}/g, 'x'))
  .filter((text) => !open.includes(text));
/** Why operators may not end a conversion. */
const whyNot = [
  ...readFileSync(join(root, 'commands/conversions/external.ts'), 'utf8').matchAll(/return ['`](.* .*)['`];/g),
];

/** A schema and a value that it does not take, by the word of the schema that refuses it. */
const refused: Readonly<Record<string, readonly [schema: object, value: unknown]>> = {
  type: [{ type: 'string' }, []],
  minLength: [{ minLength: 1 }, ''],
  maxLength: [{ maxLength: 1 }, 'ab'],
  pattern: [{ pattern: '^a$' }, 'b'],
  enum: [{ enum: ['a', 'b'] }, 'c'],
  const: [{ const: 'a' }, 'b'],
  minimum: [{ minimum: 2 }, 1],
  maximum: [{ maximum: 2 }, 3],
  exclusiveMinimum: [{ exclusiveMinimum: 2 }, 2],
  exclusiveMaximum: [{ exclusiveMaximum: 2 }, 2],
  multipleOf: [{ multipleOf: 2 }, 3],
  minItems: [{ type: 'array', minItems: 1 }, []],
  maxItems: [{ type: 'array', maxItems: 0 }, ['a']],
  uniqueItems: [{ type: 'array', uniqueItems: true }, ['a', 'a']],
  minProperties: [{ type: 'object', minProperties: 1 }, {}],
  maxProperties: [{ type: 'object', maxProperties: 0, patternProperties: { a: {} } }, { a: 1 }],
  anyOf: [{ anyOf: [{ type: 'object' }] }, 'a'],
  oneOf: [{ oneOf: [{ type: 'array' }] }, 'a'],
};
/** They refuse nothing by themselves. */
const silent = new Set(
  (
    'title description default properties required items additionalProperties patternProperties examples $id ' +
    'undocumented'
  ).split(' '),
);

function wordsOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap(wordsOf);
  return Object.entries(schema).flatMap(([word, value]) =>
    word === 'properties' || word === 'patternProperties'
      ? Object.values(value as object).flatMap(wordsOf)
      : word === 'default' || word === 'examples' || word === 'enum'
        ? [word]
        : [word, ...wordsOf(value)],
  );
}

function messageOf(schema: object, value: unknown): string {
  try {
    bodyCheck({ type: 'object', properties: { name: schema }, required: ['name'] } as unknown as TSchema)(value);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('It was taken');
}
const types = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null', ['string', 'null']];

const english = [
  ...told,
  messageOf({}, {}),
  ...Object.values(refused).map(([schema, value]) => messageOf(schema, { name: value })),
  ...types.map((type) => messageOf({ type }, { name: type === 'array' || type === 'object' ? 'a' : {} })),
  ...['x needs a destination tag', 'x has no destination tags'].map((fault) => `destinationTag: ${fault}`),
  ...whyNot.map(([, why]) => `Conversion x cannot be ended: ${why!.replaceAll(/\$\{[^}]*\}/g, 'x')}`),
  ...['refund', 'fund', 'lost', 'consolidate'].map((kind) => {
    const why = whyNotFailed({ kind: kind as Kind, isFromDeposits: kind === 'refund', paysMerchant: false });
    return `Intent x can only have paid: ${why}`;
  }),
  'destinationTag: a destination tag of x is a whole number up to 9',
];

it('finds the sentences', () => {
  expect(told.length).toBeGreaterThan(80);
  expect(whyNot).toHaveLength(4);
});

it('knows every word of a schema that refuses something', () => {
  const used = new Set(routes.flatMap(({ body, query, params }) => [body, query, params]).flatMap(wordsOf));
  expect([...used].filter((word) => !(word in refused) && !silent.has(word))).toEqual([]);
});

it.each([...new Set(english)])('is said in German: %s', (message) => {
  expect(sentence(message)).not.toBe(message);
  expect(sentence(message)).not.toMatch(/\b(the|is|not|cannot|must|and|at|of)\b/);
});

it.each(['', 'a', 'A1!aaaa', 'Aaaaaaaa'])('says what a password needs in German: %p', (password) => {
  const message = ((): string => {
    try {
      checkPassword(password);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  })();
  expect(sentence(message)).toMatch(/^Das Passwort braucht /);
  expect(sentence(message)).not.toMatch(/\b(at least|letter|digit|character)\b/);
});
