import { parseArgs } from 'node:util';
import { soak } from './soak';

/** `npm run soak -- [--minutes M] [--share S] [--temporal postgres]`: half an hour at half of what the machine can do,
 *  and what memory, times and tables did meanwhile. */
const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '30' }, share: { type: 'string', default: '0.5' } },
});
const [minutes, share] = [parseFloat(values.minutes), parseFloat(values.share)];
if (!(minutes > 0) || !(share > 0 && share <= 1)) {
  console.error('--minutes takes a number, --share one up to 1');
  process.exit(2);
}

soak({ minutes, load: { share }, say: (line) => console.log(line) }).then(
  (findings) => {
    for (const { what, holds } of findings) console.log(`${holds === undefined ? ' ' : holds ? '✓' : '✗'} ${what}`);
    process.exit(findings.every(({ holds }) => holds !== false) ? 0 : 1);
  },
  (error: Error) => {
    console.error(error.stack ?? error.message);
    process.exit(1);
  },
);
