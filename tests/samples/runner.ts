import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { root } from '../../sandbox/paths';
import { ended, type Ended } from '../child';

/** Runs the samples of docs/samples as they are printed in the guides. What needs a language that this machine does not
 *  have is reported as skipped. */

const python = process.env['PYTHON_PATH'];
const php = process.env['PHP_PATH'];
const found = (command: string, flag = '--version'): boolean => spawnSync(command, [flag]).status === 0;
/** Where languages find what samples import. Nothing is fetched while tests run. */
const libraries = { PYTHONPATH: join(root, 'sdk', 'python', 'src'), PYTHONDONTWRITEBYTECODE: '1', GOPROXY: 'off' };
/** How a sample is run, by its ending; null: the language is not here. */
const commands: Readonly<Record<string, readonly string[] | null>> = {
  sh: ['sh'],
  mjs: [process.execPath],
  ts: [process.execPath, '--no-warnings'], // Node 22 says that it strips types
  py: python ? [python] : null, // the one that has the packages of requirements.txt, standardwebhooks among them
  go: found('go', 'version') ? [] : null, // compiled first
  // Its library is fetched at the set-up.
  'library.go': process.env['GO_MODULES'] ? [] : null,
  php: php ? [php] : null,
};
export const samples = join(root, 'docs', 'samples');
export const filesOf = (topic: string): string[] => readdirSync(join(samples, topic)).sort();
export const endingOf = (file: string): string => file.slice(file.lastIndexOf('.') + 1);
const commandOf = (file: string): readonly string[] | null =>
  commands[basename(file)] ?? (basename(file) in commands ? null : commands[endingOf(file)]!);

/** A copy of the samples with their packages beside them, as a shop has them. */
export class Samples {
  readonly folder = mkdtempSync(join(tmpdir(), 'samples-'));

  constructor() {
    cpSync(samples, this.folder, { recursive: true });
    writeFileSync(join(this.folder, 'package.json'), '{"type": "module"}');
    mkdirSync(join(this.folder, 'node_modules', '@crypto-payment-service'), { recursive: true });
    symlinkSync(join(root, 'sdk', 'typescript'), join(this.folder, 'node_modules', '@crypto-payment-service', 'sdk'));
    symlinkSync(join(root, 'node_modules', 'standardwebhooks'), join(this.folder, 'node_modules', 'standardwebhooks'));
  }

  /** A sample as a process, with `env` beside what this machine has. */
  start(file: string, given: NodeJS.ProcessEnv) {
    const env = { ...process.env, ...libraries, ...given };
    // A server in PHP is a page that the server of PHP runs.
    const served = basename(file) === 'server.php' ? ['-S', `127.0.0.1:${given['PORT']}`] : [];
    const [program, ...args] = [...commandOf(file)!, ...served, this.compiled(file, env)];
    return spawn(program!, args, { cwd: this.folder, env });
  }

  /** A program in Go ends when it is told to, which one behind `go run` does not. */
  private compiled(file: string, env: NodeJS.ProcessEnv): string {
    const source = join(this.folder, file);
    if (endingOf(file) !== 'go') return source;
    const program = source.replace(/\.go$/, '');
    if (!existsSync(program)) execFileSync('go', ['build', '-o', program, source], { cwd: this.folder, env });
    return program;
  }

  run = (file: string, env: NodeJS.ProcessEnv, input: string | Buffer = ''): Promise<Ended> =>
    ended(this.start(file, env), input);

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** One test per file of a topic; skipped, by name, where its language is missing. `npm run samples` finds the tests by
 *  the word in their names. */
export function eachSample(topic: string, check: (file: string) => Promise<void>, files = filesOf(topic)): void {
  for (const file of files) {
    const isHere = commandOf(file) !== null;
    const name = `the sample ${topic}/${file}${isHere ? '' : `: NOT RUN, ${endingOf(file)} is not on this machine`}`;
    (isHere ? it : it.skip)(name, () => check(`${topic}/${file}`));
  }
}
