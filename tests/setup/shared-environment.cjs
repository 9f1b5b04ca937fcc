'use strict';
const { TestEnvironment } = require('jest-environment-node');

/** What jest-circus keeps in the globals for one file. Left there, handlers of the file before would take errors of the
 *  next for their own, and that would pass. */
const ofOneFile = [
  'EVENT_HANDLERS',
  'TEST_TIMEOUT_SYMBOL',
  'RETRY_TIMES',
  'RETRY_IMMEDIATELY',
  'WAIT_BEFORE_RETRY',
].map((name) => Symbol.for(name));

/** The globals of a worker of Jest, for all test files that it runs one after the other: the modules which these files
 *  share (shared-runtime.cjs) belong to them. What Jest kept of a file, and what the file changed in its environment
 *  variables, is gone before the next. A file that begins with `@jest-environment node` has globals and modules of its
 *  own (docs/decisions/0046-modules-of-the-tests.md). */
class SharedEnvironment extends TestEnvironment {
  setup() {
    this.global.sharesModules = true;
    for (const name of ofOneFile) delete this.global[name];
    const { env } = this.global.process;
    for (const name of Object.keys(env)) delete env[name];
    Object.assign(env, process.env);
    return Promise.resolve();
  }

  /** The next file goes on with it. */
  teardown() {
    return Promise.resolve();
  }
}

let shared;

module.exports = function environment(config, context) {
  return (shared ??= new SharedEnvironment(config, context));
};
module.exports.isShared = (one) => one === shared;
