import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorTable, type ErrorCode } from '../domain/errors';
import { eventTypes, type EventType } from '../domain/webhooks/event-types';
import { adviceOf } from './error-advice';
import { root } from './paths';

/** The parts of docs/guides that are made: samples as they are run, the table of errors, events with recorded bodies. A
 *  part stands between `<!-- made: NAME -->` and `<!-- end -->`. */

export const guides = join(root, 'docs', 'guides');
const samples = join(root, 'docs', 'samples');
const recordedFile = join(root, 'api', 'http', 'reference', 'recorded.json');

const languages: Readonly<Record<string, string>> = { sh: 'sh', mjs: 'js', py: 'python', go: 'go', php: 'php' };
const fenced = (language: string, text: string): string => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;

function sample(path: string): string {
  const file = join(samples, path);
  if (!existsSync(file)) throw new Error(`docs/samples has no ${path}`);
  return fenced(languages[path.slice(path.lastIndexOf('.') + 1)]!, readFileSync(file, 'utf8'));
}

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
    return `| ${status} | ${name} | ${form} | ${words} | ${final ? 'no' : 'yes'} |`;
  });
  const sorted = rows.sort((a, b) => (a < b ? -1 : 1));
  return [
    '| Status | Code | Form | Meaning | What to do | Ask again? |',
    '| --- | --- | --- | --- | --- | --- |',
    ...sorted,
  ].join('\n');
}

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

function part(name: string): string {
  if (name === 'errors') return errors();
  if (name === 'events') return events();
  return sample(name);
}

/** The guide with every made part anew. */
export const filled = (text: string): string =>
  text.replaceAll(
    /<!-- made: (\S+) -->\n[\s\S]*?<!-- end -->/g,
    (_, name: string) => `<!-- made: ${name} -->\n\n${part(name)}\n\n<!-- end -->`,
  );

/** The guides by file name. */
export const guideFiles = (): string[] => readdirSync(guides).filter((file) => file.endsWith('.md'));
/** Samples that some guide shows. */
export const shownSamples = (): string[] =>
  guideFiles().flatMap((file) =>
    [...readFileSync(join(guides, file), 'utf8').matchAll(/<!-- made: (\S+\/\S+) -->/g)].map((match) => match[1]!),
  );
