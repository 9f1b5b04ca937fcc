import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { cache, isProgram, logOf, onPath } from './places.mjs';
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

/** Path of a Node that is new enough: the one that runs us, or Node 24 as a package, kept in the cache. It comes first on PATH
 *  from here on, so that everything we start finds it. */
export async function newEnoughNode(atLeast) {
  if (isAtLeast(process.version, atLeast)) return process.execPath;
  const folder = join(cache, `node-${version}`);
  const node = join(folder, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!runs(node)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, allowScripts: { node: true } }));
    await step(`Fetching Node ${version} (this is ${process.version}, ${atLeast} is wanted)`, ...npm(), {
      log: logOf('node'),
      cwd: folder,
    });
    if (!runs(node))
      throw new SetupError(`Node ${version} did not arrive in ${folder}: install Node 24 yourself, then try again`);
  }
  process.env.PATH = `${dirname(node)}${delimiter}${process.env.PATH}`;
  return node;

  function npm() {
    const [program, first] = npmProgram();
    return [
      program,
      [...first, 'install', `node@${version}`, '--ignore-scripts=false', '--no-audit', '--no-fund', '--save-exact'],
    ];
  }
}

/** How to run npm: the one that started us, else the one on PATH. */
export function npmProgram() {
  const script = process.env.npm_execpath;
  if (script && /\.c?js$/.test(script)) return [process.execPath, [script]];
  const program = onPath('npm');
  if (!program) throw new SetupError('npm is missing: install it with Node');
  return [program, []];
}

function runs(node) {
  if (!isProgram(node)) return false;
  try {
    return execFileSync(node, ['--version'], { encoding: 'utf8' }).trim() === `v${version}`;
  } catch {
    return false; // half of it, from an interrupted start
  }
}
