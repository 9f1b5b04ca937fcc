import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { root } from '../../sandbox/paths';

/** Documents name files of the repository in links and in `code`. A file that moves takes its mentions along. */
const documents = [
  ...readdirSync(root).filter((file) => file.endsWith('.md')),
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file)),
];
const folders = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !/^(node_modules|dist|\.git|\.data.*)$/.test(entry.name))
  .map(({ name }) => name);

const withoutFences = (text: string): string => text.replace(/^ *```[\s\S]*?^ *```/gm, '');

/** Targets of relative links, without #fragment, as paths from the root. */
function linked(document: string, text: string): string[] {
  return [...withoutFences(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1]!)
    .filter((target) => !/^([a-z]+:|#)/.test(target))
    .map((target) => normalize(join(dirname(document), target.split('#')[0]!)));
}

/** Paths in running text: they begin with a folder of the repository; `<name>`, `*` and `…` stand for any name. */
function named(text: string): string[] {
  const paths = new RegExp(`(?<![\\w/.<-])(?:${folders.join('|')})/[\\w./<>*…{},-]*[\\w*>…}/]`, 'g');
  return [...withoutFences(text).matchAll(paths)].map((match) => match[0].replace(/:\d+$/, ''));
}

const exists = (path: string): boolean =>
  /[<>*…{}]/.test(path)
    ? existsSync(join(root, path.replace(/[^/]*[<>*…{}].*$/, '')))
    : [path, `${path}.ts`, `${path}.test.ts`].some((file) => existsSync(join(root, file)));

describe('documents name only what is there', () => {
  it('finds links and paths', () => {
    expect(linked('docs/a.md', 'see [b](operations/b.md#c), [d](../README.md), [e](https://e.example)')).toEqual([
      'docs/operations/b.md',
      'README.md',
    ]);
    expect(named('`domain/no-such.ts`, and db/migrations/*.ts. Not api/v1 of http://x.example/api/v1')).toEqual([
      'domain/no-such.ts',
      'db/migrations/*.ts',
      'api/v1',
    ]);
    expect([exists('domain/no-such.ts'), exists('domain/money.ts'), exists('nowhere/*.ts')]).toEqual([
      false,
      true,
      false,
    ]);
  });

  it.each(documents)('%s', (document) => {
    const text = readFileSync(join(root, document), 'utf8');
    const dead = [...linked(document, text), ...named(text)].filter((path) => !exists(path));
    expect([...new Set(dead)]).toEqual([]);
  });
});
