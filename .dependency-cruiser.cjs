'use strict';

module.exports = {
  forbidden: [
    {
      name: 'no-cycle',
      comment: 'Move what both files need to a third file; `import type` counts as well.',
      severity: 'error',
      from: {},
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
