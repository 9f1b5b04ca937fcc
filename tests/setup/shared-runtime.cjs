'use strict';
const { join, sep } = require('node:path');
const { default: Runtime } = require('jest-runtime');
const { isShared } = require('./shared-environment.cjs');

/** Loads what all test files of a worker share, and outlives each of them. */
class SharedModules extends Runtime {
  teardown() {}
}
let shared;

/** Jest loads every module anew for each test file, which took a third of the suite's CPU time. This one loads the
 *  service and its packages once for each worker, as a process of the service does, and anew only what tests are made
 *  of, except for tests/shared: what keeps nothing of a test. A property of Jest's own (`_resolution`) tells which file
 *  a name stands for: its version is pinned. */
module.exports = class TestRuntime extends Runtime {
  constructor(config, environment, ...rest) {
    super(config, environment, ...rest);
    this.ofTests = join(config.rootDir, 'tests') + sep;
    this.ofAllTests = join(this.ofTests, 'shared') + sep;
    if (isShared(environment)) this.shared = shared ??= new SharedModules(config, environment, ...rest);
  }

  requireModule(from, name, options, isActual) {
    return this.isOfAll(from, name, options)
      ? this.shared.requireModule(from, name, options, isActual)
      : super.requireModule(from, name, options, isActual);
  }

  isOfAll(from, name, options) {
    if (!this.shared || !name || options?.isInternalModule || this._resolution.isCoreModule(name)) return false;
    const path = this._resolution.resolveCjs(from, name);
    return !path.startsWith(this.ofTests) || path.startsWith(this.ofAllTests);
  }

  /** Where the source maps of its own modules and of the shared ones are, by the path of the file. */
  getSourceMaps() {
    const own = super.getSourceMaps();
    if (!this.shared) return own;
    const ofAll = this.shared.getSourceMaps();
    return (this.maps ??= {
      get: (file) => own.get(file) ?? ofAll.get(file),
      *[Symbol.iterator]() {
        yield* own;
        yield* ofAll;
      },
    });
  }
};
