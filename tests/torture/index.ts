import { parseArgs } from 'node:util';
import { torture } from './run';

/** `npm run torture -- [--seed S] [--payments N] [--minutes M] [--calm]`: random payments under random kills, from a seed. */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    payments: { type: 'string', default: '100' },
    minutes: { type: 'string', default: '4' },
    calm: { type: 'boolean', default: false },
  },
});
const seed = parseInt(values.seed, 10);
const payments = parseInt(values.payments, 10);
const minutes = parseFloat(values.minutes);
console.log(
  `Seed ${seed}: ${payments} payments in ${minutes} minutes. The same seed repeats the schedule: npm run torture -- --seed ${seed} --payments ${payments} --minutes ${minutes}`,
);

torture({ seed, payments, minutes, kills: !values.calm, say: (line) => console.log(line) }).then(
  ({ kills, problems, seconds }) => {
    const total = Object.values(kills).reduce((sum, n) => sum + n, 0);
    console.log(
      `${payments} payments, ${total} kills (${Object.entries(kills)
        .map(([name, n]) => `${name} ${n}`)
        .join(', ')}), ${seconds} s, ${problems.length} problems`,
    );
    for (const problem of problems) console.log(`PROBLEM (seed ${seed}): ${problem}`);
    process.exit(problems.length ? 1 : 0);
  },
  (error: Error) => {
    console.error(`Seed ${seed}: ${error.stack ?? error.message}`);
    process.exit(1);
  },
);
