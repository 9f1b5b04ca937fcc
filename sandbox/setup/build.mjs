import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { logOf, root } from './places.mjs';
import { step } from './say.mjs';

const dist = join(root, 'dist');
const marker = join(dist, '.built-from');
const dashboard = join('web', 'dashboard');
const sdk = join('sdk', 'typescript');
const cli = join('sdk', 'cli');
/** What the build makes: it is no source. */
const made = [
  join(dashboard, 'generated'),
  join(sdk, 'src', 'generated'),
  join(sdk, 'dist'),
  join(cli, 'dist'),
  join(cli, 'node_modules'),
].map((path) => join(root, path));
const places = [
  'domain',
  'db',
  'commands',
  'chains',
  'txmanager',
  'activities',
  'workflows',
  'workers',
  'api',
  'web',
  'sandbox',
  'sdk',
  'tests/torture',
  'tests/restore-drill',
  'tests/bench',
];
const single = [
  'tests/world.ts',
  'tests/faults/rpc-proxy.ts',
  'tsconfig.json',
  'tsconfig.build.json',
  'package-lock.json',
];

/** Brings `dist/` up to date: compiled code, the files that lie beside it, the bundle of the workflows. */
export async function build(node) {
  const files = [
    ...places.flatMap((place) => filesBelow(join(root, place))),
    ...single.map((file) => join(root, file)),
  ].filter((file) => existsSync(file));
  const state = createHash('sha256');
  for (const file of files) {
    const { size, mtimeMs } = statSync(file);
    state.update(`${relative(root, file)}:${size}:${mtimeMs}\n`);
  }
  const hash = state.digest('hex');
  if (existsSync(marker) && readFileSync(marker, 'utf8').trim() === hash) return;
  const log = logOf('build');
  await step('Compiling', node, [join(root, 'node_modules/typescript7/bin/tsc'), '-p', 'tsconfig.build.json'], {
    log,
    cwd: root,
  });
  for (const file of files) {
    const path = relative(root, file);
    if (/\.(ts|mjs|md)$/.test(file) || single.includes(path) || path.startsWith(dashboard)) continue;
    if (path.startsWith('sdk')) continue; // a package of its own
    const to = join(dist, path);
    mkdirSync(dirname(to), { recursive: true });
    cpSync(file, to, { preserveTimestamps: true });
  }
  if (existsSync(join(root, 'workflows', 'index.ts')))
    await step('Bundling the workflows', node, ['-e', bundler], { log, cwd: root });
  await step('Building the dashboard', node, [join(dashboard, 'build.mjs')], { log, cwd: root });
  await step('Building the SDK', node, [join(sdk, 'build.mjs')], { log, cwd: root });
  await step('Building the command-line tool', node, [join(cli, 'build.mjs')], { log, cwd: root });
  writeFileSync(marker, `${hash}\n`);
}

const bundler = `
  const { bundleWorkflowCode } = require('@temporalio/worker');
  const { renameSync, writeFileSync } = require('node:fs');
  bundleWorkflowCode({ workflowsPath: require.resolve('./dist/workflows/index.js') }).then(({ code }) => {
    writeFileSync('dist/workflow-bundle.js.new', code);
    renameSync('dist/workflow-bundle.js.new', 'dist/workflow-bundle.js');
  }).catch((error) => { console.error(error); process.exit(1); });
`;

function filesBelow(folder) {
  if (!existsSync(folder) || made.includes(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)]));
}
