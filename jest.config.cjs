'use strict';
const longFiles = require('./tests/setup/long-files.cjs');

/** Layers: `unit` needs no service, `parts` real servers of its own, `e2e` the whole stack, `faults` kills it, `alone`
 *  measures. */
const common = {
  rootDir: __dirname,
  testEnvironment: './tests/setup/shared-environment.cjs',
  runtime: './tests/setup/shared-runtime.cjs',
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          target: 'es2023',
          keepClassNames: true,
        },
        module: { type: 'commonjs' },
        sourceMaps: 'inline',
      },
    ],
  },
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json'],
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/.data'],
  restoreMocks: true,
  setupFilesAfterEnv: ['./tests/setup/disarmed.ts'],
};
const withServers = {
  globalSetup: './tests/setup/global-setup.ts',
  globalTeardown: './tests/setup/global-teardown.ts',
};
const unit = ['/tests/domain/', '/tests/lint/', '/tests/web/', '/tests/[^/]+\\.test\\.ts$'];
const ofTheStack = ['/tests/e2e/', '/tests/browser/'];
const faults = ['/tests/faults/', '/tests/alone/'];
/** `npm test` runs these apart, and last. */
const apart = process.env.TEST_LONG === 'without' ? longFiles.map((file) => `/${file}$`) : [];

module.exports = {
  maxWorkers: 2,
  // Modules of finished files stay in a worker's heap: it begins anew before that is full.
  workerIdleMemoryLimit: '1.5GB',
  testSequencer: './tests/setup/longest-first.cjs',
  testTimeout: 300_000,
  projects: [
    {
      ...common,
      displayName: 'unit',
      testRegex: unit.map((place) => (place.endsWith('$') ? place : `${place}.*\\.test\\.ts$`)),
    },
    {
      ...common,
      ...withServers,
      displayName: 'parts',
      testMatch: ['<rootDir>/tests/**/*.test.ts'],
      testPathIgnorePatterns: [...unit, ...ofTheStack, ...faults, ...apart],
    },
    {
      ...common,
      ...withServers,
      displayName: 'e2e',
      testMatch: ['<rootDir>/tests/{e2e,browser}/**/*.test.ts'],
      testPathIgnorePatterns: apart,
    },
    { ...common, ...withServers, displayName: 'faults', testMatch: ['<rootDir>/tests/faults/**/*.test.ts'] },
    { ...common, ...withServers, displayName: 'alone', testMatch: ['<rootDir>/tests/alone/**/*.test.ts'] },
  ],
};
