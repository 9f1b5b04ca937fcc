import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { routes } from '../../api/routes';
import { scopes } from '../../domain/access/access';
import { filled, guideFiles, guides, pageFiles, partOf, shownSamples } from '../../sandbox/guides-page';
import { root } from '../../sandbox/paths';

/** Ids that a reader would have to put in: in blocks of shell, and in commands within the text. */
function placeholders(text: string): string[] {
  const blocks = [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].map(([, block]) => block!);
  const commands = [...text.matchAll(/`((?:npm|npx|node|curl) [^`]*)`/g)].map(([, command]) => command!);
  return [...blocks, ...commands].flatMap((one) => one.match(/<[\w -]*\bid>|<\w*Id>/g) ?? []);
}

/** Blocks of code that come from no file of docs/samples: page, how the block begins, and why. */
const notRun: ReadonlyArray<readonly [page: string, begins: string, why: string]> = [
  ['docs/guides/sdks.md', 'curl --silent "$API_URL/api/v1/openapi.json"', 'tests/sdk/generated.ts runs the generators'],
  ['docs/guides/webhooks.md', 'npm run cli -- listen', 'it does not end; tests/sdk/cli.test.ts runs the command'],
  ['sdk/cli/README.md', 'crypto-payments login', 'listen does not end; tests/sdk/cli.test.ts runs the commands'],
  ['docs/operations/test-instance.md', 'docker compose', 'tests/compose.test.ts reads the same files'],
  ['docs/operations/doctor.md', 'npm run doctor', 'tests/e2e/doctor.test.ts runs what it runs'],
  ['docs/operations/backup-and-restore.md', '# once: WAL', 'settings and SQL; npm run restore-drill does the same'],
];
const codeLanguages = ['sh', 'bash', 'js', 'mjs', 'ts', 'py', 'python', 'go', 'php'];

/** The blocks of code in a page that are not made of a sample. */
function unmade(text: string): string[] {
  const rest = text.replaceAll(/<!-- made: \S+ -->\n[\s\S]*?<!-- end -->/g, '');
  const blocks = [...rest.matchAll(/^ *```(\w*)\n([\s\S]*?)^ *```/gm)];
  return blocks.filter(([, language]) => codeLanguages.includes(language!)).map(([, , block]) => block!.trim());
}

describe('18.3: the guides', () => {
  it('take every block of code from a sample that is run', () => {
    const found = pageFiles().flatMap((page) =>
      unmade(readFileSync(join(root, page), 'utf8')).map((block) => [page, block] as const),
    );
    const isKnown = ([page, block]: readonly [string, string]): boolean =>
      notRun.some(([where, begins]) => where === page && block.startsWith(begins));
    expect(found.filter((one) => !isKnown(one))).toEqual([]);
    expect(found.length).toBe(notRun.length); // no exception is left over
  });

  it('notice a block that is in no sample, and a part that a sample does not have', () => {
    expect(unmade('```js\none();\n```\n<!-- made: a/b.js -->\n\n```js\ntwo();\n```\n\n<!-- end -->\n')).toEqual([
      'one();',
    ]);
    expect(unmade('1. Do:\n\n   ```sh\n   three\n   ```\n')).toEqual(['three']);
    expect(() => partOf('sdk/lists.ts', 'none')).toThrow('docs/samples/sdk/lists.ts has no part none');
  });

  it.each(pageFiles())('%s has samples, errors and events as they are: npm run docs:guides', (name) => {
    const text = readFileSync(join(root, name), 'utf8');
    expect(filled(text)).toBe(text);
  });

  it('notice a change', () => {
    expect(filled('<!-- made: errors -->\nold\n<!-- end -->')).toContain('| 429 | `RATE_LIMITED` |');
    expect(() => filled('<!-- made: verify/none.py -->\n<!-- end -->')).toThrow('docs/samples has no verify/none.py');
  });

  it('give the limit of every operation that a key may call', () => {
    const page = readFileSync(join(guides, 'rate-limits.md'), 'utf8');
    const ofKeys = routes.filter(({ may }) => may === 'publishable' || (typeof may === 'object' && may.key));
    expect(ofKeys.length).toBeGreaterThan(50);
    for (const { method, path } of ofKeys) expect(page).toContain(`\`${method.toUpperCase()} ${path}\``);
  });

  it('tell which scope opens each operation', () => {
    const page = readFileSync(join(guides, 'scopes.md'), 'utf8');
    const ofScope = new Map(page.split(/^### `/m).map((part) => [part.slice(0, part.indexOf('`')), part]));
    for (const scope of scopes) expect([scope, ofScope.has(scope)]).toEqual([scope, true]);
    for (const { may, method, path } of routes)
      if (typeof may === 'object' && may.key)
        expect(ofScope.get(may.key)).toContain(`| \`${method.toUpperCase()} ${path}\``);
  });

  it('list every form that is deprecated', () => {
    const page = readFileSync(join(guides, 'api-changes.md'), 'utf8');
    const deprecated = routes.flatMap(({ path, query, success }) => {
      const { enum: formats = [] } = (query?.properties['format'] ?? {}) as { enum?: string[] };
      return success.orElse ? formats.filter((one) => one !== 'json').map((one) => `${path}?format=${one}`) : [];
    });
    expect(deprecated).toHaveLength(5);
    for (const one of deprecated) expect(page).toContain(`| \`GET ${one}\` `);
  });

  it('have all samples run by `npm run samples`', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const [, paths] = / test -t sample --verbose (.+)$/.exec(scripts.samples!)!;
    const uses = /(?:samples|\.)\/runner'|'docs', 'samples'|'\.\/shops'/;
    const isNamed = /eachSample|(?:it|describe)\(\s*'[^'\n]*sample/;
    const tests = readdirSync(join(root, 'tests'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts') && !name.startsWith('lint/'))
      .map((name) => ({ name: `tests/${name}`, text: readFileSync(join(root, 'tests', name), 'utf8') }))
      .filter(({ text }) => uses.test(text));
    expect(tests.length).toBeGreaterThan(5);
    for (const { name, text } of tests) {
      expect([name, isNamed.test(text)]).toEqual([name, true]);
      expect([name, paths!.split(' ').some((path) => name.startsWith(path))]).toEqual([name, true]);
    }
  });

  it('show every sample', () => {
    const all = readdirSync(join(root, 'docs', 'samples'), { recursive: true, encoding: 'utf8' });
    expect(shownSamples().sort()).toEqual(all.filter((path) => /\w\.(?!mod$|sum$|json$)\w+$/.test(path)).sort());
  });

  it.each([join(root, 'README.md'), ...guideFiles().map((name) => join(guides, name))])(
    '%s has commands that paste as they are',
    (file) => expect(placeholders(readFileSync(file, 'utf8'))).toEqual([]),
  );

  it('notice a command that does not', () => {
    const text = 'Run `npm run pay -- <paymentId>`:\n```sh\ncurl "$API_URL/payments/<payment id>"\n```\n`/orders/<id>`';
    expect(placeholders(text)).toEqual(['<payment id>', '<paymentId>']);
  });

  it('are all in the list of guides', () => {
    const list = readFileSync(join(guides, 'README.md'), 'utf8');
    for (const name of guideFiles()) if (name !== 'README.md') expect(list).toContain(`](${name})`);
  });
});
