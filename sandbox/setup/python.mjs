import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cache, logOf, onPath, root } from './places.mjs';
import { aptInstall } from './programs.mjs';
import { say, SetupError, step } from './say.mjs';

const requirements = join(root, 'tests', 'python', 'requirements.txt');

/** The Python of a virtual environment with all that tests need, or undefined after a line that says why they fail. */
export async function python() {
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const folder = join(cache, `python-${hash}`);
  const program = join(folder, 'bin', 'python');
  const marker = join(folder, '.complete');
  if (existsSync(marker)) return program;
  const found = findPython() ?? ((await aptInstall('python3', 'python3-venv')) ? findPython() : undefined);
  if (!found) {
    say('Tests in Python cannot run: Python 3.11 or newer with venv is missing (Debian: apt-get install python3-venv)');
    return undefined;
  }
  rmSync(folder, { recursive: true, force: true }); // half of it, from an interrupted set-up
  mkdirSync(folder, { recursive: true });
  const log = logOf('python');
  try {
    await step('Making a Python environment', found, ['-m', 'venv', folder], { log });
    const pip = ['-m', 'pip', 'install', '--disable-pip-version-check', '--requirement', requirements];
    await step('Installing Schemathesis and what else tests need of Python', program, pip, { log });
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(error.message);
    return undefined;
  }
  writeFileSync(marker, '');
  return program;
}

/** A Python that is new enough and can make virtual environments. */
function findPython() {
  const names = ['python3', 'python3.14', 'python3.13', 'python3.12', 'python3.11'].map(onPath).filter(Boolean);
  return names.find((name) => {
    try {
      execFileSync(name, ['-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'], {
        stdio: 'ignore',
      });
      return true;
    } catch {
      return false; // too old, or without what makes environments
    }
  });
}
