import { join } from 'node:path';
import { goBuild, goMinor, pinned } from './go-build.mjs';
import { oneAtATime } from './one-at-a-time.mjs';
import { cache, isProgram, onPath } from './places.mjs';
import { skip } from './not-run.mjs';
import { say, SetupError } from './say.mjs';

const path = 'github.com/lightningnetwork/lnd';
const version = pinned(path, 'lightning');
const folder = join(cache, `lnd-${version}`);

/** Path of lnd, the Lightning node; built where it is not there. Whoever does not ask for Lightning does not pay for
 *  it. Throws SetupError. */
export const lightning = () => oneAtATime('lnd', find, make);

/** What tests may ask for beside what every run has, in TESTS_WITH, with commas between. */
const onRequest = ['lightning'];

/** Path of lnd for tests, where TESTS_WITH asks for it; undefined after a line that says what is not run. Throws
 *  SetupError for a request that nobody knows. */
export async function lightningForTests(env = process.env, bring = lightning) {
  const asked = (env.TESTS_WITH ?? '').split(',').flatMap((one) => one.trim() || []);
  const strange = asked.find((one) => !onRequest.includes(one));
  if (strange) throw new SetupError(`TESTS_WITH is ${onRequest.join(', ')} or empty: it names '${strange}'`);
  if (asked.includes('lightning')) return bring();
  return skip('Tests with Lightning nodes', 'nobody asked for them (TESTS_WITH=lightning builds lnd, once)');
}

function find() {
  const named = process.env.LND_PATH;
  if (named && !isProgram(named)) throw new SetupError(`LND_PATH names ${named}, which is no program`);
  const found = [named, join(folder, 'lnd'), onPath('lnd')].find((place) => place && isProgram(place));
  if (found) say(`lnd: ${found}`);
  return found;
}

/** Of what lnd leaves out unless it is told, hold invoices alone are built in. */
async function make() {
  if (goMinor() < 25)
    throw new SetupError(
      `lnd, the Lightning node of the sandbox, is missing. Any of these gives one: install Go 1.25 or newer ` +
        `(https://go.dev/dl), and it is built; put lnd ${version} on the PATH; set LND_PATH to its path`,
    );
  await goBuild(`lnd ${version}`, folder, { lnd: `${path}/cmd/lnd` }, { module: 'lightning', tags: 'invoicesrpc' });
  return find();
}
