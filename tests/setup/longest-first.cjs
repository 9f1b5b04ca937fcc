'use strict';
const Sequencer = require('@jest/test-sequencer').default;

/** Files that last longest, the longest first: begun last, one of them would keep a single worker busy at the end.
 *  `npm test` prints how long each took. */
const longest = [
  'e2e/rows',
  'browser/dashboard-money',
  'browser/dashboard',
  'faults/torture',
  'browser/checkout',
  'e2e/refunds',
  'e2e/withdrawals',
  'faults/nodes',
  'faults/kill-steps',
  'sdk/cli',
  'e2e/swaps',
  'api/accounts',
  'faults/machine',
];
const ofTheStack = /tests\/(e2e|browser|faults)\//;

/** The place of a file: the longest, then the others that start whole services, then the rest, whose order stays. */
function rank({ path }) {
  const at = longest.findIndex((name) => path.endsWith(`tests/${name}.test.ts`));
  if (at >= 0) return at;
  return ofTheStack.test(path) ? longest.length : longest.length + 1;
}

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    return [...super.sort(tests)].sort((a, b) => rank(a) - rank(b));
  }
};
