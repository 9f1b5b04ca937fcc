import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../../sandbox/paths';

/** What every source file says in comments, each on one line. */
export type Source = Readonly<{ path: string; text: string; comments: readonly string[] }>;

const skipped = new Set(['node_modules', 'dist', 'coverage', 'samples', 'histories', 'test-results', 'generated']);

/** Paths below the repository's folder, without what is generated or fetched. */
export function filesOf(extensions: RegExp, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    if (entry.isDirectory())
      return skipped.has(entry.name) || entry.name.startsWith('.') ? [] : filesOf(extensions, path);
    return extensions.test(entry.name) ? [path] : [];
  });
}

export const read = (path: string): string => readFileSync(join(root, path), 'utf8');

export function commentsOf(path: string, text: string): string[] {
  if (path.endsWith('.sql')) return [...text.matchAll(/--[^\n]*|\/\*[\s\S]*?\*\//g)].map(([comment]) => comment);
  const kind = path.endsWith('ts') ? ts.ScriptKind.TS : ts.ScriptKind.JS;
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false, kind);
  const ranges = new Map<number, number>();
  const note = (found: readonly ts.CommentRange[] | undefined): void =>
    found?.forEach(({ pos, end }) => ranges.set(pos, end));
  const visit = (node: ts.Node): void => {
    note(ts.getLeadingCommentRanges(text, node.getFullStart()));
    note(ts.getTrailingCommentRanges(text, node.end));
    node.getChildren(source).forEach(visit);
  };
  visit(source);
  return [...ranges].map(([pos, end]) => text.slice(pos, end).replace(/\s*\n\s*(?:\*(?!\/))?\s*/g, ' '));
}

export const sources = (): Source[] =>
  filesOf(/\.(ts|mts|cts|mjs|cjs|js|sql)$/).map((path) => {
    const text = read(path);
    return { path, text, comments: commentsOf(path, text) };
  });
