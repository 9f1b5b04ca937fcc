import { spawn } from 'node:child_process';
import { ended } from './child';

/** Runs the Python of the tests, with the packages of tests/python/requirements.txt, or the one that `env` names.
 *  Returns what it wrote, errors apart; throws both where the program fails. */
export async function pythonSaid(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Readonly<{ out: string; errors: string }>> {
  const program = env.PYTHON_PATH ?? process.env.PYTHON_PATH;
  if (!program) throw new Error('PYTHON_PATH is not set: npm test makes the Python environment, or says why it cannot');
  const child = spawn(program, args, {
    // Nothing is written beside the sources, and pytest takes no plugin that happens to be installed.
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTEST_DISABLE_PLUGIN_AUTOLOAD: '1', ...env },
  });
  const { code, out, errors } = await ended(child);
  if (code !== 0) throw new Error(`python ${args.join(' ')} ended with ${code}\n${out}\n${errors}`);
  return { out, errors };
}

/** What a program in Python wrote that ended well. */
export const python = async (args: readonly string[], env?: Readonly<Record<string, string>>): Promise<string> =>
  (await pythonSaid(args, env)).out;
