import { ESLint } from 'eslint';
import { root } from '../../sandbox/paths';

/** What eslint.config.mjs refuses, and that the good form of each passes. Samples are read as if they stood in an
 *  existing file, because typed rules need a file that the compiler knows. */
const eslint = new ESLint({ cwd: root });
const fileOf = {
  domain: 'domain/money.ts',
  db: 'db/ledger/balances.ts',
  commands: 'commands/payments/create.ts',
  chains: 'chains/codecs.ts',
  txmanager: 'txmanager/book.ts',
  activities: 'activities/rest.ts',
  rates: 'activities/pricing/source.ts',
  workflows: 'workflows/outgoing.ts',
  workers: 'workers/chain.ts',
  api: 'api/http/dates.ts',
  routes: 'api/http/health.ts',
  web: 'web/checkout/texts.ts',
  sandbox: 'sandbox/pay.ts',
  tests: 'tests/world.ts',
  start: 'api/main.ts',
} as const;
type Place = keyof typeof fileOf;

/** What is said of each sample, by sample; each is a statement on a line of its own. */
async function findings(place: Place, samples: readonly string[]): Promise<Record<string, string[]>> {
  const [result] = await eslint.lintText(`${samples.join('\n')}\n`, { filePath: `${root}/${fileOf[place]}` });
  const said: Record<string, string[]> = Object.fromEntries(samples.map((sample) => [sample, []]));
  for (const { line, ruleId, message } of result!.messages) said[samples[line - 1]!]!.push(`${ruleId}: ${message}`);
  return said;
}
/** Every sample is refused once, in words that match. */
async function refuses(place: Place, samples: readonly string[], words: string): Promise<void> {
  const expected = samples.map((sample) => [sample, [expect.stringContaining(words)]]);
  expect(await findings(place, samples)).toEqual(Object.fromEntries(expected));
}
async function accepts(place: Place, samples: readonly string[]): Promise<void> {
  expect(await findings(place, samples)).toEqual(Object.fromEntries(samples.map((sample) => [sample, []])));
}

describe('arrows between folders', () => {
  const folders = [
    'domain',
    'db',
    'commands',
    'chains',
    'txmanager',
    'activities',
    'workflows',
    'workers',
    'api',
    'web',
    'sandbox',
    'tests',
  ] as const;
  const may: Readonly<Record<(typeof folders)[number], readonly string[]>> = {
    domain: [],
    db: ['domain'],
    commands: ['domain', 'db'],
    chains: ['domain'],
    txmanager: ['domain', 'db', 'commands', 'chains'],
    activities: ['domain', 'db', 'commands', 'txmanager', 'chains'],
    workflows: ['domain'],
    workers: ['domain', 'db', 'commands', 'chains', 'activities', 'workflows'],
    api: ['domain', 'db', 'commands'],
    web: ['domain'],
    sandbox: folders,
    tests: folders,
  };

  it.each(folders)('from %s', async (from) => {
    const up = '../'.repeat(fileOf[from].split('/').length - 1);
    const expected: Record<string, unknown> = {};
    for (const to of folders.filter((folder) => folder !== from)) {
      const said = may[from].includes(to) ? [] : [expect.stringContaining(`${from} may not import ${to}`)];
      for (const sample of [
        `export * from '${up}${to}';`,
        `export { thing as ${to} } from '${up}${to}/thing';`,
        `import '${up}${to}/some/thing';`,
      ])
        expected[sample] = said;
    }
    expect(await findings(from, Object.keys(expected))).toEqual(expected);
  });

  it('holds for types, and from a deeper folder', async () => {
    await refuses('domain', [`export type { Thing } from '../db/thing';`], 'domain may not import db');
    await refuses('rates', [`export * from '../../api/access/keys';`], 'activities may not import api');
    await accepts('rates', [`export * from '../rest';`, `export * from '../../domain/money';`]);
  });

  it('names files of its own folder from where they are', async () => {
    await refuses('commands', [`export * from '../../commands/payouts/queue';`], 'from where they are');
    await accepts('commands', [`export * from '../payouts/queue';`, `export * from './cancel';`]);
  });

  it('does not take a name for another that begins alike', async () => {
    await accepts('db', [`export * from './api-keys';`, `export * from '../api/keys';`, `export * from '../../apis';`]);
  });

  it('lets a workflow name the types of activities, and nothing that runs', async () => {
    await accepts('workflows', [`export type { PaymentActivities } from '../activities';`]);
    await refuses('workflows', [`export * from '../activities/outbound';`], 'workflows may not import activities');
    await accepts('workflows', [`export type { OpenIntent } from '../txmanager/next-intent';`]);
    await refuses('workflows', [`export type { Row } from '../db/payments';`], 'workflows may not import db');
  });

  it('lets the API name workflows, derive addresses and open the internal port, and nothing beside', async () => {
    await accepts('api', [`export * from '../../workflows/messages';`, `export * from '../../chains/codecs';`]);
    await accepts('api', [`export * from '../../workers/internal-port';`]);
    await accepts('routes', [`export * from '../../workflows/messages';`]);
    for (const folder of ['workflows', 'chains', 'txmanager', 'workers'])
      await refuses(
        'api',
        ['messages-more', 'payment', 'codecs/more', 'evm/node', 'signing', 'internal-port-more'].map(
          (module) => `export * from '../../${folder}/${module}';`,
        ),
        `api may not import ${folder}`,
      );
  });
});

describe('promises', () => {
  const given = 'declare function work(): Promise<void>; export declare function later(act: () => void): void;';
  const floating = ['work();', 'work().then(() => 1);', 'Promise.all([work()]);', 'for (;;) work();'];
  const misused = ['export const is = work() ? 1 : 2;', 'export const run: () => void = work;'];
  const good = [
    given,
    'await work();',
    'export const back = (): Promise<void> => work();',
    'void work();',
    'work().catch(() => undefined);',
    'later(() => work());',
  ];

  it.each(['domain', 'activities', 'workflows', 'tests'] as const)('in %s', async (place) => {
    const said = await findings(place, [given, ...floating, ...misused]);
    for (const sample of floating) expect(said[sample]).toEqual([expect.stringContaining('no-floating-promises')]);
    for (const sample of misused) expect(said[sample]).toEqual([expect.stringContaining('no-misused-promises')]);
    await accepts(place, good);
  });
});

describe('money code', () => {
  const given = `const text = '1';`;
  const floats = [
    'export const a = parseFloat(text);',
    'export const b = Number.parseFloat(text);',
    'export const c = Number(text);',
    'export const d = +text;',
    'export const e = [text].map((one) => +one);',
  ];
  const saves = ['export const f = (rows: { save(row: object): void }) => rows.save({});'];
  const settings = [
    'export const g = process.env.SECRET;',
    'export const h = { ...process.env };',
    "export const i = process['env'];",
    "import { env } from 'node:process'; export const j = env;",
  ];
  const good = [
    given,
    'export const i = add(text, text);',
    'export const j = parseInt(text, 10) + 1;',
    'export const k = -text.length;',
    'export const l = (tx: { query(sql: string): void }) => tx.query(`UPDATE payment SET slug = 1 WHERE status = 2`);',
    'export const m = (config: { SECRET: string }) => config.SECRET;',
  ];

  it.each(['domain', 'db', 'activities', 'rates', 'workflows', 'api', 'routes'] as const)('in %s', async (place) => {
    const said = await findings(place, [given, ...floats, ...saves, ...settings]);
    for (const sample of floats) expect(said[sample]).toEqual([expect.stringContaining('Money is a decimal string')]);
    for (const sample of saves) expect(said[sample]).toEqual([expect.stringContaining('never by save()')]);
    for (const sample of settings) expect(said[sample]).toEqual([expect.stringContaining('domain/config.ts')]);
    const up = '../'.repeat(fileOf[place].split('/').length - 1);
    const sums = place === 'domain' ? './money' : `${up}domain/money`;
    await accepts(place, [`import { add } from '${sums}';`, ...good]);
  });

  it('is not what tools, pages and the start of a process are', async () => {
    for (const place of ['sandbox', 'web', 'start'] as const)
      await accepts(place, [given, ...floats, ...saves, ...settings]);
  });
});
