import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { cache, isProgram, logOf, onPath } from './places.mjs';
import { skipUnlessCi } from './not-run.mjs';
import { oneAtATime } from './one-at-a-time.mjs';
import { SetupError, step } from './say.mjs';

const version = '24.21.0';

const isAtLeast = (have, wanted) => {
  const [a, b] = [have, wanted].map((text) =>
    text
      .replace(/^v/, '')
      .split('.')
      .map((part) => parseInt(part, 10)),
  );
  for (let i = 0; i < b.length; i++) if (a[i] !== b[i]) return a[i] > b[i];
  return true;
};

/** Path of a Node that is new enough: the one that runs us, or Node 24 as a package, kept in the cache. It comes first
 *  on PATH from here on, so that everything we start finds it. */
export async function newEnoughNode(atLeast) {
  if (isAtLeast(process.version, atLeast)) return process.execPath;
  const node = await fetchedNode(version, `this is ${process.version}, ${atLeast} is wanted`);
  process.env.PATH = `${dirname(node)}${delimiter}${process.env.PATH}`;
  return node;
}

/** Versions that the SDK promises to run on, besides the one that tests run on. */
const ofTheSdk = { NODE_20_PATH: '20.20.2', NODE_22_PATH: '22.23.3' };

/** Paths of these versions, as variables; without one that cannot be fetched. */
export async function nodesOfTheSdk() {
  const found = {};
  for (const [variable, wanted] of Object.entries(ofTheSdk))
    try {
      found[variable] = process.env[variable] ?? (await fetchedNode(wanted, 'the SDK is tested on it'));
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      skipUnlessCi(`node-${wanted.split('.')[0]}`, `The SDK on Node ${wanted}`, error.message);
    }
  return found;
}

/** Path of that very version as a package, kept in the cache. */
async function fetchedNode(wanted, why) {
  const folder = join(cache, `node-${wanted}`);
  const node = join(folder, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  return oneAtATime(
    basename(folder),
    () => (runs(node, wanted) ? node : undefined),
    () => fetchNode(wanted, why, folder, node),
  );
}

async function fetchNode(wanted, why, folder, node) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, allowScripts: { node: true } }));
  const [program, first] = npmProgram();
  const options = ['--ignore-scripts=false', '--no-audit', '--no-fund', '--save-exact'];
  await step(`Fetching Node ${wanted} (${why})`, program, [...first, 'install', `node@${wanted}`, ...options], {
    log: logOf('node'),
    cwd: folder,
    fetches: 'some 60 MB',
  });
  if (!runs(node, wanted))
    throw new SetupError(
      `Node ${wanted} did not arrive in ${folder}: install Node ${wanted.split('.')[0]} yourself, then try again`,
    );
  return node;
}

/** How to run npm: the one that started us, else the one on PATH. */
export function npmProgram() {
  const script = process.env.npm_execpath;
  if (script && /\.c?js$/.test(script)) return [process.execPath, [script]];
  const program = onPath('npm');
  if (!program) throw new SetupError('npm is missing: install it with Node');
  return [program, []];
}

function runs(node, wanted) {
  if (!isProgram(node)) return false;
  try {
    return execFileSync(node, ['--version'], { encoding: 'utf8' }).trim() === `v${wanted}`;
  } catch {
    return false; // half of it, from an interrupted start
  }
}
