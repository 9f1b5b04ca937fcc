import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { goBuild, goMinor, pinned } from './go-build.mjs';
import { cache, isDebianRoot, isProgram, logOf, onPath, root } from './places.mjs';
import { skip } from './not-run.mjs';
import { oneAtATime } from './one-at-a-time.mjs';
import { say, SetupError, step } from './say.mjs';

const bin = join(cache, 'bin');
const temporalVersion = pinned('github.com/temporalio/cli'); // newer ones have a go.mod that stands in the way
const btcdVersion = 'v0.26.2';
const testServerVersion = '1.38.0';

/** Path of the Temporal CLI; undefined where a server is given by TEMPORAL_ADDRESS. `installed`: settles once the
 *  packages are there, one of which can download a server. A build does not wait for them. */
export async function temporal(node, installed) {
  if (process.env.TEMPORAL_ADDRESS) return undefined;
  const find = () => known('temporal', 'TEMPORAL_CLI_PATH', `temporal-${temporalVersion}`);
  return oneAtATime('temporal', find, () => makeTemporal(node, installed));
}

async function makeTemporal(node, installed) {
  const canBuild = goMinor() >= 25;
  const download = () => sdkDownload('a Temporal server', node, installed, 'createLocal', /^temporal-(?!test-server)/);
  const downloaded = !canBuild || (await reachesDownloads()) ? await download() : undefined;
  if (downloaded) return downloaded;
  if (canBuild) return buildTemporal();
  throw new SetupError(
    'A Temporal server is missing. Any of these gives one: set TEMPORAL_ADDRESS to a running one; put the Temporal ' +
      'CLI on the PATH; install Go 1.25 or newer, and it is built',
  );
}

async function buildTemporal() {
  const folder = join(cache, `temporal-${temporalVersion}`);
  await goBuild(`Temporal CLI ${temporalVersion}`, folder, { temporal: 'github.com/temporalio/cli/cmd/temporal' });
  return join(folder, 'temporal');
}

export async function btcd() {
  return oneAtATime('btcd', () => known('btcd', 'BTCD_PATH', `btcd-${btcdVersion}`), makeBtcd);
}

async function makeBtcd() {
  if (!onPath('go'))
    throw new SetupError(
      'btcd, the Bitcoin node of the sandbox, is missing. Any of these gives one: install Go (https://go.dev/dl), ' +
        'and it is built; put btcd on the PATH; set BTCD_PATH to its path',
    );
  return goInstall('btcd', 'github.com/btcsuite/btcd', btcdVersion, 'btcd', { flags: [], fetches: 'some 10 MB' });
}

/** Path of the time-skipping test server, or undefined after a line that says why the tests which want it are
 *  skipped. */
export async function testServer(node, installed) {
  const folder = join(cache, `test-server-${testServerVersion}`);
  const wrapper = join(folder, 'temporal-test-server');
  const find = () => [process.env.TEST_SERVER_PATH, wrapper].find((path) => path && isProgram(path));
  return oneAtATime('test-server', find, () => makeTestServer(node, installed, folder, wrapper));
}

async function makeTestServer(node, installed, folder, wrapper) {
  const label = 'the Temporal test server';
  const downloaded = await sdkDownload(label, node, installed, 'createTimeSkipping', /^temporal-test-server/);
  if (downloaded) return downloaded;
  if (!onPath('java'))
    return without('The time-skipping tests', 'Java 11 or newer is missing (it runs the Temporal test server)');
  if (!onPath('mvn') && !(await aptInstall('maven')))
    return without('The time-skipping tests', 'Maven is missing (it fetches the Temporal test server)');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'pom.xml'), pom);
  await step(
    'Fetching the Temporal test server',
    'mvn',
    ['-B', '-q', 'dependency:copy-dependencies', '-DoutputDirectory=lib'],
    {
      log: logOf('test-server'),
      cwd: folder,
      fetches: 'some 40 MB',
    },
  );
  writeFileSync(
    `${wrapper}.new`,
    `#!/bin/sh\nexec java -cp '${join(folder, 'lib')}/*' io.temporal.testserver.TestServer "$@"\n`,
  );
  chmodSync(`${wrapper}.new`, 0o755);
  renameSync(`${wrapper}.new`, wrapper);
  return wrapper;
}

/** Path of Chromium, or undefined after a line that says why the browser tests are skipped. Its build without windows
 *  is taken where it can be had: the same engine takes a fifth less time for the same pages
 *  (docs/decisions/0048-chromium-without-windows.md). */
export async function browser() {
  const first = (paths) => paths.find((path) => path && isProgram(path));
  const withoutWindows = () => first([process.env.CHROME_PATH, onPath('chromium-headless-shell')]);
  const any = () =>
    first([
      ...['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'].map(onPath),
      '/usr/bin/chromium',
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
      '/Applications/Chromium.app/Contents/MacOS/Chromium',
      'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
    ]);
  const found =
    (await installed('chromium-headless-shell', withoutWindows, 'chromium-headless-shell')) ??
    (await installed('chromium', any, 'chromium'));
  return found ?? without('The browser tests', 'Chrome or Chromium is missing (install one, or set CHROME_PATH)');
}

/** Path of litecoind, or undefined after a line that says why tests with Litecoin are skipped. */
export async function litecoind() {
  const find = () => [process.env.LITECOIND_PATH, onPath('litecoind')].find((path) => path && isProgram(path));
  const found = await installed('litecoind', find, 'litecoind');
  return found ?? without('Tests with a Litecoin node', 'litecoind is missing (install it, or set LITECOIND_PATH)');
}

/** Path of php; undefined where there is none. */
export async function php() {
  const find = () => [process.env.PHP_PATH, onPath('php')].find((path) => path && isProgram(path));
  const found = await installed('php', find, 'php-cli');
  return found ?? skip('The samples in PHP', 'php is missing (install it, or set PHP_PATH)');
}

/** What `find` finds, after an installation from Debian where it is not there yet; undefined where that cannot be. */
export const installed = (name, find, ...packages) =>
  oneAtATime(name, find, async () => ((await aptInstall(...packages)) ? find() : undefined));

/** Path of promtool; undefined after a line that says why what Prometheus would check is skipped. Of Debian's package
 *  the program alone is taken: installed whole it would start a server. */
export async function promtool() {
  const folder = join(cache, 'prometheus');
  const unpacked = join(folder, 'usr', 'bin', 'promtool');
  const find = () => [process.env.PROMTOOL_PATH, onPath('promtool'), unpacked].find((path) => path && isProgram(path));
  const found = await oneAtATime('promtool', find, async () =>
    (await aptDownload('prometheus', folder)) ? find() : undefined,
  );
  return found ?? skip('Checks by promtool', 'promtool is missing (install Prometheus, or set PROMTOOL_PATH)');
}

/** Fetches the modules that samples in Go import. Returns whether they are there; '' where they are not. */
export async function goModules() {
  if (!onPath('go')) {
    skip('The samples in Go', 'go is missing (https://go.dev/dl)');
    return '';
  }
  try {
    await step('Fetching the modules of samples in Go', 'go', ['mod', 'download'], {
      cwd: join(root, 'docs', 'samples'),
      log: logOf('go-modules'),
    });
    return 'true';
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    skip('The sample with the library of Go', error.message);
    return '';
  }
}

/** With CI=true what is missing fails the run instead of thinning it out. */
function without(what, why) {
  if (process.env.CI === 'true') throw new SetupError(`${what} cannot run: ${why}`);
  return skip(what, why);
}

function known(program, variable, keyed) {
  const named = process.env[variable];
  if (named && !isProgram(named)) throw new SetupError(`${variable} names ${named}, which is no program`);
  const place = [named, onPath(program), join(cache, keyed, program), join(bin, program)].find(
    (path) => path && isProgram(path),
  );
  if (place) say(`${program}: ${place}`);
  return place;
}

async function goInstall(label, module, version, program, { flags, fetches }) {
  const folder = join(cache, `${program}-${version}`);
  mkdirSync(folder, { recursive: true });
  await step(
    `Building ${label} ${version} with Go, once (minutes)`,
    'go',
    ['install', ...flags, `${module}@${version}`],
    {
      log: logOf(program),
      cwd: folder,
      env: { ...process.env, GOBIN: folder, GOFLAGS: '' },
      fetches,
    },
  );
  return join(folder, program);
}

/** Whether a download of Temporal is worth waiting for the packages: its host tells where the archive is, as the SDK
 *  will ask it. A no means a build, which begins at once; what a filter answers in place of the host is a no. `host`:
 *  for tests.
 *  @public */
export const reachesDownloads = (host = 'https://temporal.download') =>
  fetch(`${host}/cli/default?arch=amd64&platform=linux`, { signal: AbortSignal.timeout(5000) })
    .then((answer) => (answer.ok ? answer.json() : undefined))
    .then(
      (info) => typeof info?.archiveUrl === 'string',
      () => false,
    );

/** Lets the SDK fetch the server it wants; undefined where it cannot reach its download host. */
async function sdkDownload(label, node, installed, kind, name) {
  const folder = join(cache, 'download');
  mkdirSync(folder, { recursive: true });
  const find = () => {
    const file = readdirSync(folder).find((entry) => name.test(entry) && isProgram(join(folder, entry)));
    return file && join(folder, file);
  };
  if (find()) return find();
  await installed;
  const script = `
    const { TestWorkflowEnvironment } = require('@temporalio/testing');
    const server = { executable: { type: 'cached-download', downloadDir: ${JSON.stringify(folder)} } };
    TestWorkflowEnvironment.${kind}({ server })
      .then((env) => env.teardown())
      .catch((error) => { console.error(error); process.exit(1); });`;
  try {
    await step(`Downloading ${label}`, node, ['-e', script], { log: logOf(`sdk-${kind}`), cwd: root });
    return find();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say('The download host of Temporal cannot be reached; going on with the next way');
    return undefined;
  }
}

const aptEnvironment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };

async function readPackageLists() {
  if (!existsSync('/var/lib/apt/lists') || readdirSync('/var/lib/apt/lists').length < 3)
    await step('Reading the package lists', 'apt-get', ['update'], { log: logOf('apt-update'), env: aptEnvironment });
}

/** Whether the files of a Debian package are in `folder` now; nothing of it is installed. */
async function aptDownload(name, folder) {
  if (!isDebianRoot()) return false;
  const env = aptEnvironment;
  try {
    await readPackageLists();
    mkdirSync(folder, { recursive: true });
    const log = logOf(`apt-${name}`);
    await step(`Downloading ${name}`, 'apt-get', ['download', name], { log, env, cwd: folder });
    const file = readdirSync(folder).find((entry) => entry.startsWith(`${name}_`) && entry.endsWith('.deb'));
    await step(`Unpacking ${name}`, 'dpkg-deb', ['--extract', file, '.'], { log, env, cwd: folder });
    rmSync(join(folder, file));
    return true;
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(error.message);
    return false;
  }
}

/** Whether the Debian packages could be installed; false where we are not root on Debian. */
async function aptInstall(...names) {
  if (!isDebianRoot()) return false;
  const env = aptEnvironment;
  try {
    await readPackageLists();
    await step(`Installing ${names.join(', ')}`, 'apt-get', ['install', '-y', '--no-install-recommends', ...names], {
      log: logOf(`apt-${names[0]}`),
      env,
    });
    return true;
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(error.message);
    return false;
  }
}

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>sandbox</groupId>
  <artifactId>test-server</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>io.temporal</groupId>
      <artifactId>temporal-test-server</artifactId>
      <version>${testServerVersion}</version>
    </dependency>
  </dependencies>
</project>
`;
