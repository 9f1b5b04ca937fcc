import { inspect, parseArgs } from 'node:util';
import { optionalNetworks } from '../../sandbox/stack/networks';
import { chosenStore } from '../../sandbox/temporal-store';
import { networksNamed } from './networks';
import { kindsWith, type Kind } from './plan';
import { torture } from './run';

/** `npm run torture -- [--seed S] [--runs N] [--minutes M] [--only kind,…] [--networks name,…]
 *  [--calm] [--weather] [--adversaries] [--temporal postgres]`: payments, withdrawals, payouts, conversions and refunds
 *  under random kills, drawn from a seed. */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    runs: { type: 'string', default: '100' },
    minutes: { type: 'string', default: '5' },
    only: { type: 'string' },
    networks: { type: 'string', default: '' },
    calm: { type: 'boolean', default: false },
    weather: { type: 'boolean', default: false },
    adversaries: { type: 'boolean', default: false },
  },
});
const seed = parseInt(values.seed, 10);
const runs = parseInt(values.runs, 10);
const minutes = parseFloat(values.minutes);
const asked = networksNamed(values.networks);
if (!asked) {
  console.error(`--networks takes ${optionalNetworks.join(', ')}, lightning, separated by commas, or all`);
  process.exit(2);
}
const { networks, lightning } = asked;
const kinds = kindsWith(lightning);
const only = (values.only?.split(',') ?? kinds) as Kind[];
const unknown = only.filter((kind) => !kinds.includes(kind));
if (unknown.length || !(runs > 0) || !(minutes > 0) || !Number.isInteger(seed)) {
  console.error(`--only takes ${kinds.join(', ')}, separated by commas; --seed, --runs and --minutes take numbers`);
  process.exit(2);
}
const parts = [...networks, ...(lightning ? ['lightning'] : [])];
const switches = [
  parts.length > 0 && `--networks ${parts.join(',')}`,
  ...[values.calm && '--calm', values.weather && '--weather', values.adversaries && '--adversaries'],
  chosenStore(process.env) === 'postgres' && '--temporal postgres',
].filter(Boolean);
const again = [`--seed ${seed} --runs ${runs} --minutes ${minutes} --only ${only.join(',')}`, ...switches].join(' ');
console.log(`The same schedule again: npm run torture -- ${again}`);

const listOf = (done: Readonly<Record<string, number>>): string =>
  `${Object.values(done).reduce((sum, n) => sum + n, 0)} (${Object.entries(done)
    .map(([name, n]) => `${name} ${n}`)
    .join(', ')})`;

torture({
  seed,
  runs,
  minutes,
  only,
  networks,
  lightning,
  kills: !values.calm,
  weather: values.weather,
  adversaries: values.adversaries,
  say: (line) => console.log(line),
}).then(
  ({ kills, mischief, weather, problems, seconds }) => {
    console.log(
      `${runs} runs, kills ${listOf(kills)}, calls gone wrong ${listOf(mischief)}, ` +
        `weather ${listOf(weather)}, ${seconds} s, ${problems.length} problems`,
    );
    for (const problem of problems) console.log(`PROBLEM (seed ${seed}): ${problem}`);
    process.exit(problems.length ? 1 : 0);
  },
  (error: unknown) => {
    console.error(`Seed ${seed}: ${inspect(error)}`); // with its causes
    process.exit(1);
  },
);
