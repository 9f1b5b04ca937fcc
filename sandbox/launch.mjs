// Behind `npm start`, `npm test` and the rest: brings what is missing (each step once), then runs the command. Needs no
// package and works with any Node from 18 on; what it starts runs on Node 22 or newer.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './setup/build.mjs';
import { runChecks } from './setup/check.mjs';
import { lightningForTests } from './setup/lightning.mjs';
import { newEnoughNode, nodesOfTheSdk } from './setup/node.mjs';
import { packages } from './setup/packages.mjs';
import { root } from './setup/places.mjs';
import { browser, btcd, goModules, litecoind, php, promtool, temporal, testServer } from './setup/programs.mjs';
import { python, pythonsOfTheSdk } from './setup/python.mjs';
import { say, SetupError } from './setup/say.mjs';
import { temporalOnPostgres } from './setup/temporal-on-postgres.mjs';
import { temporalStore } from './setup/temporal-store.mjs';
import { runTests } from './setup/test.mjs';

const servers = async (node, installed) => ({
  TEMPORAL_CLI_PATH: await temporal(node, installed),
  BTCD_PATH: await btcd(),
});
/** The same for a command that takes `--temporal`. */
const chosenServers = async (node, installed, _, store) =>
  store === 'postgres' ? { ...(await temporalOnPostgres()), BTCD_PATH: await btcd() } : servers(node, installed);
const nothing = async () => ({});

const jestNode = '24.9.0'; // from here on Jest can require() packages that are ES modules only

/** Per command: the least Node, and what it needs besides packages and the build, as variables that name the programs.
 *  `installed`: settles once the packages are there; the programs are brought meanwhile. `takesStore`: the command
 *  takes the option `--temporal`. */
const commands = {
  start: {
    node: '22.12.0',
    takesStore: true,
    programs: async (node, installed, args, store) => ({
      ...(await chosenServers(node, installed, args, store)),
      ...(args.some((one) => one.includes('litecoin')) ? { LITECOIND_PATH: await litecoind() } : {}),
    }),
  },
  pay: { node: '22.12.0', programs: nothing },
  reset: { node: '22.12.0', programs: nothing },
  cli: { node: '22.12.0', programs: nothing },
  doctor: { node: '22.12.0', programs: nothing },
  audit: { node: '22.12.0', programs: nothing },
  reconcile: { node: '22.12.0', programs: nothing },
  liabilities: { node: '22.12.0', programs: nothing },
  operator: { node: '22.12.0', programs: nothing },
  screening: { node: '22.12.0', programs: nothing },
  guides: { node: '22.12.0', programs: nothing },
  'docs-states': { node: '22.12.0', programs: nothing },
  build: { node: '22.12.0', programs: nothing },
  check: { node: jestNode, programs: nothing },
  bench: { node: '22.12.0', programs: chosenServers, takesStore: true },
  torture: { node: '22.12.0', programs: chosenServers, takesStore: true },
  'restore-drill': { node: '22.12.0', programs: servers },
  'upgrade-drill': { node: '22.12.0', programs: servers },
  soak: { node: '22.12.0', programs: servers },
  test: {
    node: jestNode,
    takesStore: true,
    programs: async (node, installed, _, store) => ({
      ...(await servers(node, installed)),
      ...(store === 'postgres' ? await temporalOnPostgres() : {}),
      TEST_SERVER_PATH: await testServer(node, installed),
      CHROME_PATH: await browser(),
      LITECOIND_PATH: await litecoind(),
      LND_PATH: await lightningForTests(),
      PYTHON_PATH: await python(),
      PYTHONS: await pythonsOfTheSdk(),
      PHP_PATH: await php(),
      PROMTOOL_PATH: await promtool(),
      GO_MODULES: await goModules(),
      ...(await nodesOfTheSdk()),
    }),
  },
};

async function main([name, ...given]) {
  const command = Object.hasOwn(commands, name ?? '') ? commands[name] : undefined;
  if (!command) throw new SetupError(`Usage: node sandbox/launch.mjs <${Object.keys(commands).join('|')}> [arguments]`);
  const { store, rest: args } = command.takesStore
    ? temporalStore(given, process.env)
    : { store: 'sqlite', rest: given };
  process.chdir(root);
  const node = await newEnoughNode(command.node);
  const installed = packages();
  // A test builds beside its checks; everything else at once.
  const built = name === 'test' || name === 'check' ? installed : installed.then(() => build(node));
  const [programs] = await Promise.all([command.programs(node, installed, args, store), built]);
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
