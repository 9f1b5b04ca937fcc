import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorTable, type ErrorCode } from '../domain/errors';
import { creationRefusals } from '../domain/payments/creation-refusals';
import { eventTypes, type EventType } from '../domain/webhooks/event-types';
import { limitOfWrongCredentials, limitsOfKeys, limitsWithoutKey, scopesOfKeys } from './access-tables';
import { adviceOf } from './error-advice';
import { root } from './paths';

/** The parts of the pages of the site that are made: samples as they are run, events with recorded bodies, and tables.
 *  A part stands between `<!-- made: NAME -->` and `<!-- end -->`. */

export const guides = join(root, 'docs', 'guides');
const samples = join(root, 'docs', 'samples');
const recordedFile = join(root, 'api', 'http', 'reference', 'recorded.json');

const languages: Readonly<Record<string, string>> = {
  ...{ sh: 'sh', mjs: 'js', js: 'js', ts: 'ts' },
  ...{ py: 'python', go: 'go', php: 'php' },
};
const fenced = (language: string, text: string): string => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;

/** The lines of a sample between `part: NAME` and `end`, each in a comment of its own. */
export function partOf(path: string, name: string): string {
  const text = readFileSync(join(samples, path), 'utf8');
  const [, part] = new RegExp(`^(?://|#) part: ${name}\\n([\\s\\S]*?)^(?://|#) end$`, 'm').exec(text) ?? [];
  if (part === undefined) throw new Error(`docs/samples/${path} has no part ${name}`);
  return part;
}

/** A sample, or after a # one of its parts. */
function sample(name: string): string {
  const [path, part] = name.split('#') as [string, string?];
  const file = join(samples, path);
  if (!existsSync(file)) throw new Error(`docs/samples has no ${path}`);
  const text = part === undefined ? readFileSync(file, 'utf8') : partOf(path, part);
  return fenced(languages[path.slice(path.lastIndexOf('.') + 1)]!, text);
}

/** Not worth another try by itself, and still worth another question later: it answers what has come of the first. */
const afterAll: readonly ErrorCode[] = ['CONVERSION_IN_PROGRESS'];
const inTable = (text: string): string => text.replaceAll('|', '\\|');

function errors(): string {
  const told = (Object.keys(errorTable) as ErrorCode[]).filter(
    (code) => errorTable[code].status !== 500 || code === 'INTERNAL_ERROR',
  );
  const rows = told.map((code) => {
    const row: { status: number; final: boolean; shape: string; message: string; as?: string } = errorTable[code];
    const { status, final, shape, message } = row;
    const name = row.as && row.as !== code ? `\`${row.as}\` (${code})` : `\`${code}\``;
    const form = { A: 'A', B: 'B', flat: 'flat', route: 'as the route' }[shape]!;
    const words = `${inTable(message)} | ${inTable(adviceOf(code))}`;
    return `| ${status} | ${name} | ${form} | ${words} | ${final && !afterAll.includes(code) ? 'no' : 'yes'} |`;
  });
  const sorted = rows.sort((a, b) => (a < b ? -1 : 1));
  return [
    '| Status | Code | Form | Meaning | What to do | Ask again? |',
    '| --- | --- | --- | --- | --- | --- |',
    ...sorted,
  ].join('\n');
}

const refusals = (): string =>
  [
    '| Reason | Meaning | `details` | What to do |',
    '| --- | --- | --- | --- |',
    ...Object.entries(creationRefusals).map(
      ([reason, { meaning, details, advice }]) =>
        `| \`${reason}\` | ${meaning} | ${details.map((one) => `\`${one}\``).join(', ') || 'none'} | ${advice} |`,
    ),
  ].join('\n');

/** The anchor of a heading that is the name of an event. */
const anchorOf = (type: EventType): string => type.replaceAll('.', '');

function events(): string {
  const recorded = (JSON.parse(readFileSync(recordedFile, 'utf8')) as { events: Record<string, unknown> }).events;
  const types = Object.keys(eventTypes) as EventType[];
  const overview = types.map((type) => `| [\`${type}\`](#${anchorOf(type)}) | ${inTable(eventTypes[type])} |`);
  const bodies = types.map((type) => {
    const body = recorded[type];
    if (!body) throw new Error(`No ${type} was recorded: npm run examples`);
    return `## ${type}\n\n${eventTypes[type]}.\n\n${fenced('json', JSON.stringify(body, null, 2))}`;
  });
  return [['| Event | What happened |', '| --- | --- |', ...overview].join('\n'), ...bodies].join('\n\n');
}

/** The parts that are no samples. */
const tables: Readonly<Record<string, () => string>> = {
  errors,
  events,
  'creation-refusals': refusals,
  'limits-of-keys': limitsOfKeys,
  'limits-without-key': limitsWithoutKey,
  'scopes-of-keys': scopesOfKeys,
  'limit-of-wrong-credentials': limitOfWrongCredentials,
};
const part = (name: string): string => tables[name]?.() ?? sample(name);

/** The guide with every made part anew. */
export const filled = (text: string): string =>
  text.replaceAll(/^( *)<!-- made: (\S+) -->\n[\s\S]*?<!-- end -->/gm, (_, indent: string, name: string) =>
    `<!-- made: ${name} -->\n\n${part(name)}\n\n<!-- end -->`.replaceAll(/^(?=.)/gm, indent),
  );

/** The guides by file name. */
export const guideFiles = (): string[] => readdirSync(guides).filter((file) => file.endsWith('.md'));
/** Every page of the site that is written in Markdown, the guides among them; by path from the root. */
export const pageFiles = (): string[] =>
  [...readFileSync(join(root, 'web', 'docs', 'pages.mjs'), 'utf8').matchAll(/from: '([^']+)'/g)].map(
    ([, from]) => from!,
  );
/** Samples that some page shows, whole or in part. */
export const shownSamples = (): string[] => [
  ...new Set(
    pageFiles().flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/<!-- made: (\w+\/[^\s#]+)\S* -->/g)].map(
        ([, path]) => path!,
      ),
    ),
  ),
];
