import { utxoNetworks } from '../domain/chains/assets';
import { askedParts } from '../sandbox/asked-parts';
import { root } from '../sandbox/paths';
import { coinNodeName } from '../sandbox/stack/coin-nodes';
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

it('brings the node of each coin to who asks for it, by any of its names, and to nobody else', async () => {
  const { planOf } = (await import(join(root, 'sandbox', 'setup', 'plan.mjs'))) as Plan;
  for (const { id, native } of utxoNetworks().filter((network) => network.id !== 'bitcoin')) {
    const program = coinNodeName(id)!.replace(`-${id}`, '');
    for (const [command, args] of [
      ['start', ['--with', `base,${id}`]],
      ['start', [`--with=${id}`]],
      ['torture', ['--networks', `${id},tron`]],
      ['torture', [`--networks=tron,${native}`]],
      ['torture', ['--networks', 'all']],
      ['bench', ['networks']],
    ] as const)
      expect([command, args, planOf(command, 'sqlite', args)]).toMatchObject([command, args, { [program]: [] }]);
    for (const command of ['start', 'torture', 'bench'])
      expect(planOf(command, 'sqlite', ['--with', 'base'])).not.toHaveProperty(program);
  }
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
