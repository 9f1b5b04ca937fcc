import { built, isHere, newestRelease } from '../upgrade-drill/release';
import { upgradeDrill } from '../upgrade-drill/scenario';

/** An upgrade of a running service, as operators do it. The long form: `npm run upgrade-drill`. */

const { version, commit } = newestRelease();
const can = isHere(commit);
const lost = can ? '' : ': NOT RUN, this clone has no such commit';

(can ? it : it.skip)(
  `work of every kind, begun by release ${version}, ends in this code${lost}`,
  async () => {
    expect(await upgradeDrill({ release: built(commit), pauseMs: 0 })).toEqual([
      'every process of the earlier release is replaced',
      'no request failed meanwhile',
      'all that was paid meanwhile is settled',
      'all that was under way has come to its end',
      'the new code goes on with every workflow',
      'no workflow has failed',
      'audit and reconciliation are clean',
    ]);
  },
  1_200_000,
);
