import { askedParts } from '../sandbox/asked-parts';
import { root } from '../sandbox/paths';
import { join } from 'node:path';

type Plan = Readonly<{ planOf: (command: string, store: string, args: readonly string[]) => Record<string, string[]> }>;

it.each([
  [[], { networks: ['base'], lightning: false }],
  [['--with', 'lightning'], { networks: ['base'], lightning: true }],
  [['--with', 'tron, lightning', '--with=litecoin,base'], { networks: ['litecoin', 'base', 'tron'], lightning: true }],
])('npm start %j runs what it names', (args, parts) => {
  expect(askedParts(args)).toEqual(parts);
});

it('refuses a part that there is not, and says which there are', () => {
  expect(() => askedParts(['--with', 'lightening'])).toThrow(
    /^--with 'lightening': there is no such part here\nUsage: npm start .*litecoin,.*tron,lightning --temporal/,
  );
  expect(() => askedParts(['--without', 'base'])).toThrow(/^Unknown option '--without'.*\nUsage: npm start/s);
});

it('builds lnd for who asks for Lightning, and for nobody else', async () => {
  const { planOf } = (await import(join(root, 'sandbox', 'setup', 'plan.mjs'))) as Plan;
  expect(planOf('start', 'sqlite', ['--with', 'litecoin,lightning'])).toMatchObject({ lnd: ['btcd'] });
  expect(planOf('torture', 'sqlite', ['--networks=lightning'])).toMatchObject({ lnd: ['btcd'] });
  for (const [command, args] of [
    ['start', []],
    ['torture', []],
    ['start', ['--with', 'tron']],
    ['pay', ['--asset', 'lightning']],
  ] as const)
    expect(planOf(command, 'sqlite', args)).not.toHaveProperty('lnd');
});
