import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { logOf, root } from './places.mjs';
import { step } from './say.mjs';

const dist = join(root, 'dist');
const marker = join(dist, '.built-from');
const dashboard = join('web', 'dashboard');
const docs = join('web', 'docs');
const docsMarker = join(dist, '.docs-built-from');
const sdk = join('sdk', 'typescript');
const cli = join('sdk', 'cli');
const pythonSdk = join('sdk', 'python');
/** What the documentation is made of, beside the API and its own tools. */
const docsSources = [docs, 'docs', ...[sdk, cli, pythonSdk].map((folder) => join(folder, 'README.md'))];
/** What the build makes, or the documentation alone is made of: no source of the services. */
const made = [
  docs,
  join(dashboard, 'generated'),
  join(sdk, 'src', 'generated'),
  join(sdk, 'dist'),
  join(pythonSdk, 'src', 'crypto_payment_service', '_generated'),
  join(pythonSdk, 'dist'),
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
  'tests/upgrade-drill',
  'tests/soak',
  'tests/bench',
];
const single = [
  'tests/world.ts',
  'tests/faults/rpc-proxy.ts',
  'tsconfig.json',
  'tsconfig.build.json',
  'package-lock.json',
];

/** Brings `dist/` up to date: compiled code, the files that lie beside it, the bundle of the workflows, the pages. */
export async function build(node) {
  const files = [
    ...places.flatMap((place) => filesBelow(join(root, place))),
    ...single.map((file) => join(root, file)),
  ].filter((file) => existsSync(file));
  const hash = stateOf(files);
  if (!isBuilt(marker, hash)) {
    await buildServices(node, files);
    writeFileSync(marker, `${hash}\n`);
  }
  const docsHash = stateOf(
    docsSources.flatMap((source) => filesBelow(join(root, source), [])),
    hash,
  );
  if (isBuilt(docsMarker, docsHash)) return;
  await step('Building the documentation', node, [join(docs, 'build.mjs')], { log: logOf('build'), cwd: root });
  writeFileSync(docsMarker, `${docsHash}\n`);
}

const isBuilt = (file, hash) => existsSync(file) && readFileSync(file, 'utf8').trim() === hash;

function stateOf(files, ...more) {
  const state = createHash('sha256');
  for (const one of more) state.update(`${one}\n`);
  for (const file of files) {
    const { size, mtimeMs } = statSync(file);
    state.update(`${relative(root, file)}:${size}:${mtimeMs}\n`);
  }
  return state.digest('hex');
}

async function buildServices(node, files) {
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
  await step('Making the Python SDK', node, [join(pythonSdk, 'build.mjs')], { log, cwd: root });
  await step('Building the command-line tool', node, [join(cli, 'build.mjs')], { log, cwd: root });
}

const bundler = `
  const { bundleWorkflowCode } = require('@temporalio/worker');
  const { renameSync, writeFileSync } = require('node:fs');
  bundleWorkflowCode({
    workflowsPath: require.resolve('./dist/workflows/index.js'),
    workflowInterceptorModules: [require.resolve('./dist/workflows/tracing.js')],
  }).then(({ code }) => {
    writeFileSync('dist/workflow-bundle.js.new', code);
    renameSync('dist/workflow-bundle.js.new', 'dist/workflow-bundle.js');
  }).catch((error) => { console.error(error); process.exit(1); });
`;

/** A file itself, or the files below a folder but what `without` names. */
function filesBelow(folder, without = made) {
  if (!existsSync(folder) || without.includes(folder)) return [];
  if (!statSync(folder).isDirectory()) return [folder];
  return readdirSync(folder)
    .sort((a, b) => (a < b ? -1 : 1))
    .filter((name) => name !== '__pycache__')
    .flatMap((name) => filesBelow(join(folder, name), without));
}
