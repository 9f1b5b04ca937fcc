'use strict';

/** Files that try one rule on everything there is: each operation, page, state or network. They last long, and stand on
 *  what other files have tested already, so that they run last (docs/decisions/0051-what-runs-last.md). In the order in
 *  which they run. */
module.exports = [
  'tests/schemathesis/schemathesis.test.ts',
  'tests/browser/docs.test.ts',
  'tests/browser/hostile.test.ts',
  'tests/e2e/evm-networks.test.ts',
  'tests/browser/states.test.ts',
  'tests/e2e/litecoin.test.ts',
  'tests/e2e/expiring-networks.test.ts',
];
