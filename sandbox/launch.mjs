// Behind `npm start`, `npm test` and the rest: brings what is missing (each step once), then runs the command. Needs no
// package and works with any Node from 18 on; what it starts runs on Node 22 or newer.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './setup/build.mjs';
import { runChecks } from './setup/check.mjs';
import { lightning, lightningForTests } from './setup/lightning.mjs';
import { newEnoughNode, nodesOfTheSdk } from './setup/node.mjs';
import { packages } from './setup/packages.mjs';
import { root } from './setup/places.mjs';
import { carryOut, planOf } from './setup/plan.mjs';
import { browser, btcd, goModules, litecoind, php, promtool, temporal, testServer } from './setup/programs.mjs';
import { python, pythonsOfTheSdk } from './setup/python.mjs';
import { endOnSignals, say, SetupError } from './setup/say.mjs';
import { temporalOnPostgres } from './setup/temporal-on-postgres.mjs';
import { temporalStore } from './setup/temporal-store.mjs';
import { runTests } from './setup/test.mjs';

const jestNode = '24.9.0'; // from here on Jest can require() packages that are ES modules only

/** Per command: the least Node, where that is not `leastNode`. `takesStore`: it takes the option `--temporal`. What it
 *  needs besides is in `planOf`. */
const leastNode = '22.12.0';
const commands = {
  start: { takesStore: true },
  pay: {},
  reset: {},
  cli: {},
  doctor: {},
  audit: {},
  reconcile: {},
  liabilities: {},
  operator: {},
  screening: {},
  guides: {},
  'docs-states': {},
  build: {},
  check: { node: jestNode },
  bench: { takesStore: true },
  torture: { takesStore: true },
  'restore-drill': {},
  'upgrade-drill': {},
  soak: { takesStore: true },
  test: { node: jestNode, takesStore: true },
};

/** What each step of a plan does. Returns variables that name what it brought. */
const acts = (node) => ({
  packages: () => packages(),
  build: () => build(node),
  temporal: async (done) => ({ TEMPORAL_CLI_PATH: await temporal(node, done('packages')) }),
  'temporal-on-postgres': () => temporalOnPostgres(),
  btcd: async () => ({ BTCD_PATH: await btcd() }),
  litecoind: async () => ({ LITECOIND_PATH: await litecoind() }),
  lnd: async () => ({ LND_PATH: await lightning() }),
  lightning: async () => ({ LND_PATH: await lightningForTests() }),
  'test-server': async (done) => ({ TEST_SERVER_PATH: await testServer(node, done('packages')) }),
  browser: async () => ({ CHROME_PATH: await browser() }),
  python: async () => ({ PYTHON_PATH: await python() }),
  pythons: async () => ({ PYTHONS: await pythonsOfTheSdk() }),
  php: async () => ({ PHP_PATH: await php() }),
  promtool: async () => ({ PROMTOOL_PATH: await promtool() }),
  'go-modules': async () => ({ GO_MODULES: await goModules() }),
  nodes: () => nodesOfTheSdk(),
});

async function main([name, ...given]) {
  const command = Object.hasOwn(commands, name ?? '') ? commands[name] : undefined;
  if (!command) throw new SetupError(`Usage: node sandbox/launch.mjs <${Object.keys(commands).join('|')}> [arguments]`);
  const { store, rest: args } = command.takesStore
    ? temporalStore(given, process.env)
    : { store: 'sqlite', rest: given };
  process.chdir(root);
  const release = endOnSignals();
  const node = await newEnoughNode(command.node ?? leastNode);
  const programs = await carryOut(planOf(name, store, args), acts(node));
  release();
  const env = { ...withPrograms(programs), SANDBOX_TEMPORAL: store };
  if (name === 'check') return runChecks(node, args);
  if (name === 'test') return runTests(node, args, env, () => build(node));
  if (name === 'build') return 0;
  const script = [`dist/sandbox/${name}.js`, `dist/tests/${name}/index.js`, `sdk/${name}/dist/main.js`].find((file) =>
    existsSync(join(root, file)),
  );
  if (!script)
    throw new SetupError(`dist/sandbox/${name}.js is missing: this build does not have the command '${name}'`);
  return run(node, ['--enable-source-maps', script, ...args], env);
}

const withPrograms = (programs) => ({
  ...process.env,
  ...Object.fromEntries(Object.entries(programs).filter(([, path]) => path !== undefined)),
});

/** Runs it in our place: our terminal, our signals, its exit code. */
function run(program, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: 'inherit' });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? 128 + (constants.signals[signal] ?? 0)));
  });
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error) => {
    say(error instanceof SetupError ? error.message : error.stack);
    process.exit(1);
  },
);
