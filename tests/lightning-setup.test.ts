import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../sandbox/paths';

type Script = Readonly<{
  lightningForTests: (
    env: Readonly<Record<string, string>>,
    bring: () => Promise<string>,
  ) => Promise<string | undefined>;
}>;
/** Plain JavaScript, because it runs before anything is compiled. */
const script: string = join(root, 'sandbox', 'setup', 'lightning.mjs');

it('lnd is brought for tests where they ask for it, and nowhere else', async () => {
  const said = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  const { lightningForTests } = (await import(script)) as Script;
  const bring = jest.fn(async () => '/cache/lnd');
  expect(await lightningForTests({ TESTS_WITH: ' lightning ,' }, bring)).toBe('/cache/lnd');
  bring.mockClear();
  expect(await lightningForTests({}, bring)).toBeUndefined();
  expect(await lightningForTests({ TESTS_WITH: '' }, bring)).toBeUndefined();
  expect(said.mock.calls.flat().join('')).toContain('NOT RUN: Tests with Lightning nodes');
  await expect(lightningForTests({ TESTS_WITH: 'lightening' }, bring)).rejects.toThrow("it names 'lightening'");
  expect(bring).not.toHaveBeenCalled();
});

it('lnd is built from the modules that it was made with', () => {
  const module = readFileSync(join(root, 'sandbox', 'setup', 'lightning', 'go.mod'), 'utf8');
  const replaced = [...module.matchAll(/^replace (\S+) => (\S+) (\S+)$/gm)].map(([, from, to, version]) => [
    ...[from, to, version],
  ]);
  // Those of lnd's own go.mod: what it replaces, a module that needs it does not inherit.
  expect(replaced).toEqual([
    ['github.com/ulikunitz/xz', 'github.com/ulikunitz/xz', 'v0.5.11'],
    ['github.com/gogo/protobuf', 'github.com/gogo/protobuf', 'v1.3.2'],
    ['google.golang.org/protobuf', ...['github.com/lightninglabs/protobuf-go-hex-display', 'v1.33.0-hex-display']],
  ]);
  expect(module).toMatch(/^\tgithub\.com\/lightningnetwork\/lnd v0\.20\.0-beta/m);
});
