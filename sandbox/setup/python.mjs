import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { cache, logOf, onPath, root } from './places.mjs';
import { oneAtATime } from './one-at-a-time.mjs';
import { installed } from './programs.mjs';
import { skip, skipUnlessCi } from './not-run.mjs';
import { SetupError, step } from './say.mjs';

const requirements = join(root, 'tests', 'python', 'requirements.txt');
const ofTheSdk = join(root, 'tests', 'python', 'sdk-requirements.txt');

/** The Python of a virtual environment with all that tests need; undefined where there is none. */
export async function python() {
  const { folder, program, isThere } = environment('python', requirements);
  if (isThere) return program;
  const found = await installed('python3', findPython, 'python3', 'python3-venv');
  if (!found) {
    return none('Python 3.11 or newer with venv is missing (Debian: apt-get install python3-venv)');
  }
  try {
    await make(found, folder, requirements, 'Schemathesis and what else tests need of Python');
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return none(error.message);
  }
  return program;
}
const none = (why) => skipUnlessCi('python', 'Tests and samples in Python', why);

/** Versions that the Python SDK promises to run on, each in an environment with its one dependency: as JSON, paths by
 *  version. A version that is not on this machine is left out. */
export async function pythonsOfTheSdk() {
  const found = {};
  for (const version of ['3.9', '3.10', '3.11', '3.12', '3.13', '3.14']) {
    const { folder, program, isThere } = environment(`python-${version}`, ofTheSdk);
    const own = isThere ? undefined : pythonOf(version);
    try {
      if (own) await make(own, folder, ofTheSdk, `httpx and pytest for Python ${version}`);
      if (isThere || own) found[version] = program;
      else skip(`The SDK on Python ${version}`, 'this version is not on this machine');
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      skipUnlessCi(`python-${version}`, `The SDK on Python ${version}`, error.message);
    }
  }
  return JSON.stringify(found);
}

/** The place of an environment: its contents are those of a file of requirements. */
function environment(name, file) {
  const hash = createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 12);
  const folder = join(cache, `${name}-${hash}`);
  return { folder, program: programIn(folder), isThere: isWhole(folder) };
}
const programIn = (folder) => join(folder, 'bin', 'python');
const isWhole = (folder) => existsSync(join(folder, '.complete')) && existsSync(programIn(folder));

const make = (python, folder, file, what) =>
  oneAtATime(
    basename(folder),
    () => isWhole(folder),
    () => makeAnew(python, folder, file, what),
  );

async function makeAnew(python, folder, file, what) {
  rmSync(folder, { recursive: true, force: true }); // half of it, from an interrupted set-up
  mkdirSync(folder, { recursive: true });
  const log = logOf('python');
  await step('Making a Python environment', python, ['-m', 'venv', folder], { log });
  const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', '--requirement', file];
  await step(`Installing ${what}`, programIn(folder), pip, { log });
  writeFileSync(join(folder, '.complete'), '');
}

/** A Python of that very version, on the PATH or beside others in pyenv. */
function pythonOf(version) {
  const versions = join(process.env.PYENV_ROOT || join(homedir(), '.pyenv'), 'versions');
  const others = existsSync(versions) ? readdirSync(versions).filter((name) => name.startsWith(`${version}.`)) : [];
  const places = [onPath(`python${version}`), ...others.map((name) => join(versions, name, 'bin', 'python3'))];
  const check = `import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (${version.replace('.', ', ')}))`;
  return places.filter(Boolean).find((place) => ends(place, check));
}

/** A Python that is new enough and can make virtual environments. */
function findPython() {
  const names = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11'].map(onPath).filter(Boolean);
  return names.find((name) => ends(name, 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'));
}

/** Whether a program in Python ends well: not where the version is another, or nothing makes environments. */
function ends(python, program) {
  try {
    execFileSync(python, ['-c', program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
