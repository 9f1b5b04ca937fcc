'use strict';
const Sequencer = require('@jest/test-sequencer').default;

/** Files that last longest, the longest first: begun last, one of them would keep a single worker busy at the end. */
const longest = [
  'schemathesis/schemathesis',
  'e2e/rows',
  'faults/torture',
  'e2e/refunds',
  'e2e/withdrawals',
  'faults/nodes',
  'faults/kill-steps',
  'e2e/swaps',
  'api/accounts',
  'faults/machine',
];

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const rank = ({ path }) => {
      const at = longest.findIndex((name) => path.endsWith(`tests/${name}.test.ts`));
      return at < 0 ? longest.length : at;
    };
    return [...super.sort(tests)].sort((a, b) => rank(a) - rank(b));
  }
};
