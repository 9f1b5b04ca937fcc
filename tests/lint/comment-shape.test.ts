import { sources } from './comments';

/** A doc comment belongs to what follows it: an empty line cuts the two apart, for readers and for editors. The comment
 *  about a whole file stands at its top or after its imports, and has an empty line after it. Lines of a comment are
 *  filled up to the width that prettier gives code. */

const texts = sources().filter(({ path }) => !path.startsWith('db/migrations/'));

/** The line before is no import, nor part of one: the comment stands in the middle of the file. */
const isInside = (before: string): boolean =>
  before.trimEnd() !== '' && !/(^|\n)(import\b.*|export .* from .*|\} from .*|#!.*)$/.test(before.trimEnd());

function cutOff(text: string): number[] {
  return [...text.matchAll(/^\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n\n(?=.)/gm)]
    .filter(({ 0: comment, index }) => isInside(text.slice(0, index)) || /\bThrows\b/.test(comment))
    .map(({ index }) => text.slice(0, index).split('\n').length);
}

/** Clearly below the width, so that nobody counts characters. */
const wellFilled = 96;

/** Lines of comments that end although the first word of the next one has room, and no sentence or list ends there. */
function halfFilled(text: string): number[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const next = /^\s*(?:\*|\/\/|--) +(\S+)/.exec(lines[index + 1] ?? '')?.[1];
    const isComment = /^\s*(?:\/\*\*|\*|\/\/|--) +\S/.test(line) && !line.includes('*/');
    if (!isComment || next === undefined || /[.:;!?)>]$/.test(line.trimEnd())) return [];
    if (/^([-*•|`{]|\d+\.|docs\/|(Contract|Invariants|Decision|Rows?):?$)/.test(next)) return [];
    return line.length + 1 + next.replace('*/', '').length <= wellFilled ? [index + 1] : [];
  });
}

it('finds what it looks for', () => {
  expect(cutOff('const a = 1;\n\n/** Does b. */\n\nfunction b() {}\n')).toEqual([3]);
  expect(cutOff(`import 'a';\n\n/** Does b. Throws C. */\n\nfunction b() {}\n`)).toEqual([3]);
  expect(cutOff(`import {\n  a,\n} from 'a';\n\n/** All about b. */\n\n/** Does b. */\nfunction b() {}\n`)).toEqual([]);
  expect(halfFilled('/** Books an intent, and\n *  then its row. */\n')).toEqual([1]);
  expect(halfFilled('-- Posts a journal once.\n-- p_entry says what it is.\n')).toEqual([]);
});

it('has no doc comment that is cut off from what it describes', () => {
  expect(texts.flatMap(({ path, text }) => cutOff(text).map((line) => `${path}:${line}`))).toEqual([]);
});

it('has no line of a comment that ends early', () => {
  expect(texts.flatMap(({ path, text }) => halfFilled(text).map((line) => `${path}:${line}`))).toEqual([]);
});
