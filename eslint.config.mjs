import tseslint from 'typescript-eslint';
import { longFiles, longFunctions } from './eslint.exceptions.mjs';

/** Which folders a folder may import from; no arrow has a way back. See docs/decisions/0006-arrows.md. */
const arrows = {
  domain: [],
  db: ['domain'],
  commands: ['domain', 'db'],
  chains: ['domain'],
  txmanager: ['domain', 'db', 'commands', 'chains'],
  activities: ['domain', 'db', 'commands', 'txmanager', 'chains'],
  workflows: ['domain'],
  workers: ['domain', 'db', 'commands', 'chains', 'activities', 'workflows'],
  api: ['domain', 'db', 'commands'],
  web: ['domain'],
};
const folders = [...Object.keys(arrows), 'sandbox', 'tests'];

/** Patterns of every folder that a file of `from`, `depth` folders deep, may not import. Feature folders have the names
 *  of layers (chains), so the number of steps up tells them apart. `except`: single modules that it may; `typesOnly`:
 *  folders whose types it may. */
const forbidden = (from, depth, { except = [], typesOnly = [] } = {}) => [
  {
    regex: `^(\\./)?(\\.\\./){${depth}}${from}/`,
    message: `${from} names its own files from where they are, and not from the root`,
  },
  ...folders
    .filter((folder) => folder !== from && !arrows[from].includes(folder))
    .map((folder) => {
      const allowed = except
        .filter((module) => module.startsWith(`${folder}/`))
        .map((module) => `${module.slice(folder.length + 1)}$`);
      return {
        regex: `^(\\./)?(\\.\\./){${depth}}${folder}(/${allowed.length ? `(?!${allowed.join('|')})` : ''}|$)`,
        allowTypeImports: typesOnly.includes(folder),
        message: `${from} may not import ${folder}: see docs/decisions/0006-arrows.md`,
      };
    }),
];

const moneyBans = [
  { selector: "CallExpression[callee.name='parseFloat']", message: 'Money is a decimal string: use domain/money.ts' },
  {
    selector: "CallExpression[callee.object.name='Number'][callee.property.name='parseFloat']",
    message: 'Money is a decimal string: use domain/money.ts',
  },
  { selector: "CallExpression[callee.name='Number']", message: 'Money is a decimal string: use domain/money.ts' },
  { selector: "UnaryExpression[operator='+']", message: 'Money is a decimal string: use domain/money.ts' },
  {
    selector: "CallExpression[callee.property.name='save']",
    message: 'Rows change by guarded SQL, never by save(): Invariants 1.3',
  },
  {
    selector: "CallExpression[callee.object.name='ctx'][callee.property.name='redirect'][arguments.0.value='back']",
    message: 'Redirect to an address that was checked',
  },
];
const environment = [
  "MemberExpression[object.name='process'][property.name='env']",
  "MemberExpression[object.name='process'][property.value='env']",
  'ImportDeclaration[source.value=/^(node:)?process$/]',
].map((selector) => ({
  selector,
  message: 'Configuration is read where a process starts, through domain/config.ts',
}));

export default tseslint.config(
  {
    ignores: [
      'dist/**',
      'node_modules/**',
      '.data*/**',
      'coverage/**',
      'tests/lint/samples/**',
      'web/dashboard/generated/**',
      'sdk/typescript/dist/**',
      'sdk/typescript/src/generated/**',
      'sdk/cli/dist/**',
    ],
  },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': [
        'error',
        { checksVoidReturn: { arguments: false, attributes: false } },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { fixStyle: 'inline-type-imports', disallowTypeAnnotations: false },
      ],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-expressions': ['error', { allowShortCircuit: true, allowTernary: true }],
      eqeqeq: ['error', 'always'],
    },
  },
  ...Object.keys(arrows).flatMap((folder) =>
    [1, 2, 3].map((depth) => ({
      files: [`${folder}/${'*/'.repeat(depth - 1)}*.{ts,tsx}`],
      rules: {
        '@typescript-eslint/no-restricted-imports': [
          'error',
          {
            patterns: forbidden(
              folder,
              depth,
              {
                workflows: { typesOnly: ['activities', 'txmanager'] },
                // The API names workflows, derives addresses, reads invoices, and has internal port and traces of every
                // process; it reaches no nodes.
                api: {
                  except: [
                    'workflows/messages',
                    'workflows/start-options',
                    'chains/codecs',
                    'chains/lightning/invoice',
                    'workers/internal-port',
                    'workers/tracing/client',
                    'workers/tracing/start',
                  ],
                },
              }[folder],
            ),
          },
        ],
      },
    })),
  ),
  {
    files: ['domain', 'db', 'commands', 'chains', 'txmanager', 'activities', 'workflows', 'api'].map(
      (folder) => `${folder}/**/*.ts`,
    ),
    ignores: [
      'domain/payments/shown.ts',
      'db/migrate.ts',
      'api/server.ts',
      'api/main.ts',
      'api/operator.ts',
      'api/erase.ts',
    ],
    rules: { 'no-restricted-syntax': ['error', ...moneyBans, ...environment] },
  },
  // A file is read in one sitting, a function on one screen. Comments count: what is explained at length belongs in
  // docs.
  {
    files: ['**/*.{ts,tsx}', '**/*.mjs', '**/*.cjs', '**/*.js'],
    ignores: ['tests/**', ...longFiles],
    rules: { 'max-lines': ['error', { max: 400 }] },
  },
  {
    files: ['**/*.{ts,tsx}', '**/*.mjs', '**/*.cjs', '**/*.js'],
    ignores: ['tests/**', 'db/migrations/**', ...longFunctions], // a migration is a text that never changes again
    rules: { 'max-lines-per-function': ['error', { max: 80, IIFEs: true }] },
  },
  {
    files: ['**/*.mjs', '**/*.cjs', '**/*.js'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        fetch: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        setInterval: 'readonly',
        clearInterval: 'readonly',
        module: 'writable',
        require: 'readonly',
        __dirname: 'readonly',
        Buffer: 'readonly',
        AbortSignal: 'readonly',
        document: 'readonly',
        window: 'readonly',
        navigator: 'readonly',
        EventSource: 'readonly',
        Intl: 'readonly',
      },
    },
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
);
