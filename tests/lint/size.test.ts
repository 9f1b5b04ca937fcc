import { ESLint, Linter } from 'eslint';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import tseslint from 'typescript-eslint';
import { root } from '../../sandbox/paths';

type Rule = 'max-lines' | 'max-lines-per-function';

const list: string = join(root, 'eslint.exceptions.mjs');
const limits: Record<Rule, ['error', object]> = {
  'max-lines': ['error', { max: 400 }],
  'max-lines-per-function': ['error', { max: 80, IIFEs: true }],
};

/** What these two rules alone say of a text; no types are needed, so it is quick. */
function broken(text: string, filename: string): Set<string | null> {
  const messages = new Linter().verify(
    text,
    [{ files: ['**/*.*'], languageOptions: { parser: tseslint.parser as Linter.Parser }, rules: { ...limits } }],
    filename,
  );
  return new Set(messages.map(({ ruleId }) => ruleId));
}

describe('the length of files and functions', () => {
  it('is limited outside tests, by these rules', async () => {
    const eslint = new ESLint({ cwd: root });
    for (const file of ['domain/money.ts', 'sandbox/setup/check.mjs']) {
      const { rules } = (await eslint.calculateConfigForFile(join(root, file))) as { rules: Record<Rule, unknown[]> };
      for (const rule of Object.keys(limits) as Rule[])
        expect([file, rule, rules[rule]]).toEqual([file, rule, [2, expect.objectContaining(limits[rule][1])]]);
    }
    expect([...broken(`export const f = () => {\n${'f();\n'.repeat(79)}};`, 'a.ts')]).toEqual([
      'max-lines-per-function',
    ]);
    expect([...broken('// no code\n'.repeat(401), 'a.ts')]).toEqual(['max-lines']);
  });

  it.each([
    ['longFiles', 'max-lines'],
    ['longFunctions', 'max-lines-per-function'],
  ] as const)('%s has no file that does not need it', async (name, rule) => {
    const files = ((await import(list)) as Record<string, string[]>)[name]!;
    const needless = files.filter((file) => !broken(readFileSync(join(root, file), 'utf8'), file).has(rule));
    expect(needless).toEqual([]);
  });
});
