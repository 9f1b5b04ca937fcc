import { parseArgs } from 'node:util';
import { built, newestRelease } from './release';
import { upgradeDrill } from './scenario';

/** `npm run upgrade-drill -- [--from COMMIT] [--pause S]`: an upgrade of a running service from the newest release, or
 *  from any commit, to this code. `--pause`: how many seconds the old and the new process of a role run beside each
 *  other. */
const { values } = parseArgs({ options: { from: { type: 'string' }, pause: { type: 'string', default: '15' } } });
const pauseMs = parseFloat(values.pause) * 1000;
if (!(pauseMs >= 0)) {
  console.error('--pause takes a number of seconds');
  process.exit(2);
}

async function main(): Promise<void> {
  const from = values.from ?? newestRelease().commit;
  console.log(`Building ${from}`);
  const shown = await upgradeDrill({ release: built(from), pauseMs, say: (line) => console.log(`  ${line}`) });
  console.log(`From ${from}: ${shown.length} things shown`);
}

main().then(
  () => process.exit(0),
  (error: Error) => {
    console.error(error.stack ?? error.message);
    process.exit(1);
  },
);
