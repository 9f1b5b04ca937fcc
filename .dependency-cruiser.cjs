'use strict';

/** Import cycles that are there today, a list per cycle; no other file may be in one. A list may only become shorter:
 *  tests/lint/cycles.test.ts fails where a file of it is in no cycle any more. */
const known = [
  ['api/http/docs.ts', 'api/routes.ts'],
  ['db/audit/audit-chain.ts', 'db/audit/audit.ts'],
  ['sandbox/chain-tools.ts', 'sandbox/stack.ts'],
].flat();
const exactly = known.map((file) => `^${file.replaceAll('.', '\\.')}$`);

module.exports = {
  forbidden: [
    {
      name: 'no-cycle',
      comment: 'Move what both files need to a third file; `import type` counts as well.',
      severity: 'error',
      from: { pathNot: exactly },
      to: { circular: true },
    },
    {
      name: 'known-cycle',
      severity: 'info',
      from: { path: exactly },
      to: { circular: true },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    includeOnly: '^(domain|db|commands|chains|txmanager|activities|workflows|workers|api|web|sandbox|tests)/',
  },
};
