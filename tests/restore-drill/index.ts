import { parseArgs } from 'node:util';
import { restoreDrill } from './scenario';

/** `npm run restore-drill -- [--seconds S] [--temporal kept|empty]`: a restore to a minute back, twice: Temporal
 *  goes on, or is empty. */
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, temporal: { type: 'string' } },
});
const lossSeconds = parseInt(values.seconds, 10);
const ways = (['kept', 'empty'] as const).filter((way) => (values.temporal ?? way) === way);
if (!(lossSeconds >= 0) || !ways.length) {
  console.error('--seconds takes a number, --temporal takes kept or empty');
  process.exit(2);
}

async function main(): Promise<void> {
  for (const temporal of ways) {
    console.log(`Temporal ${temporal}, ${lossSeconds} s are lost`);
    await restoreDrill({ lossSeconds, temporal, say: (line) => console.log(`  ${line}`) });
  }
}

main().then(
  () => process.exit(0),
  (error: Error) => {
    console.error(error.stack ?? error.message);
    process.exit(1);
  },
);
