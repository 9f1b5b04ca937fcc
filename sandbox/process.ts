import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandOf, descendantsOf, sendSignal, startOf } from './process-table';

export type ProcessOptions = Readonly<{
  /** Names the log, the pid file and the process in messages. */
  name: string;
  /** Holds `logs/<name>.log` and `run/<name>.pid`. */
  dataDir: string;
  command: string;
  /** A function is asked anew at each start. */
  args: readonly string[] | (() => readonly string[]);
  /** The whole environment of the process. */
  env: NodeJS.ProcessEnv;
  cwd?: string;
  uid?: number;
  gid?: number;
  /** Asks for an orderly end; SIGTERM unless told. */
  stopSignal?: NodeJS.Signals;
  /** How long an orderly end may take before SIGKILL; 10 s unless told. */
  graceMs?: number;
  /** Told when the process ends without having been asked to. */
  onCrash?: (how: string) => void;
}>;

/** How to run something that does not start: what it was and where its log is. */
export class StartError extends Error {}

/** A child in a process group of its own, its output in a log file. It ends with its parent, however that ends: a pid
 *  file and a watchdog see to it (`endLeftovers` at the next start where even the watchdog was killed). */
export class ManagedProcess {
  private child: ChildProcess | undefined;
  private ended: Promise<void> = Promise.resolve();
  private asked = false;
  private how = '';

  constructor(readonly options: ProcessOptions) {}

  get name(): string {
    return this.options.name;
  }

  get logFile(): string {
    return join(this.options.dataDir, 'logs', `${this.name}.log`);
  }

  private get pidFile(): string {
    return join(this.options.dataDir, 'run', `${this.name}.pid`);
  }

  /** Undefined while it does not run. */
  pid(): number | undefined {
    return this.child?.pid;
  }

  /** Starts it, unless it runs. That it is ready is another matter: `untilReady`. */
  start(): void {
    if (this.child) return;
    const { dataDir, command, args, env, cwd, uid, gid } = this.options;
    mkdirSync(join(dataDir, 'logs'), { recursive: true });
    mkdirSync(join(dataDir, 'run'), { recursive: true });
    watch(dataDir);
    const log = openSync(this.logFile, 'a');
    this.asked = false;
    const child = spawn(command, typeof args === 'function' ? args() : args, {
      env,
      cwd,
      uid,
      gid,
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.child = child;
    this.ended = new Promise((resolve) => {
      const end = (how: string): void => {
        if (this.child !== child) return;
        this.child = undefined;
        this.how = how;
        rmSync(this.pidFile, { force: true });
        resolve();
        if (!this.asked) this.options.onCrash?.(how);
      };
      child.once('error', (error) => end(error.message));
      child.once('exit', (code, signal) => end(signal ? `was ended by ${signal}` : `ended with code ${code}`));
    });
    if (child.pid) writeFileSync(this.pidFile, `${child.pid}\n${startOf(child.pid) ?? ''}\n${command}\n`);
  }

  /** Resolves when `isReady` says so (a throw means not yet). Rejects with StartError when the process ends before, or
   *  after `withinMs`. */
  async untilReady(isReady: () => Promise<boolean>, withinMs = 60_000): Promise<void> {
    const until = Date.now() + withinMs;
    let last = 'it did not answer';
    while (this.child) {
      try {
        if (await isReady()) return;
      } catch (error) {
        last = error instanceof Error ? error.message || error.name : String(error);
      }
      if (Date.now() > until)
        throw new StartError(
          `${this.name} is not ready after ${Math.round(withinMs / 1000)} s (${last}). ${this.logEnd()}`,
        );
      await sleep(50);
    }
    throw new StartError(`${this.name} ${this.how}. ${this.logEnd()}`);
  }

  /** Asks for an orderly end and waits for it; after the grace it is killed. */
  async stop(): Promise<void> {
    const pid = this.child?.pid;
    if (!pid) return;
    this.asked = true;
    sendSignal(pid, this.options.stopSignal ?? 'SIGTERM');
    const late = new AbortController();
    const inTime = await Promise.race([
      this.ended.then(() => true),
      sleep(this.options.graceMs ?? 10_000, false, { signal: late.signal }).catch(() => true),
    ]);
    late.abort();
    if (!inTime) await this.kill9();
    else sendSignal(-pid, 'SIGKILL'); // what it may have left in its group
  }

  /** SIGKILL to it, its group and all its descendants, at once. */
  async kill9(): Promise<void> {
    const pid = this.child?.pid;
    if (!pid) return;
    this.asked = true;
    const family = descendantsOf(pid);
    sendSignal(-pid, 'SIGKILL');
    for (const child of family) sendSignal(child, 'SIGKILL');
    await this.ended;
  }

  async restart(): Promise<void> {
    await this.stop();
    this.start();
  }

  /** The end of its log, for a message. */
  private logEnd(): string {
    const lines = readFileSync(this.logFile, 'utf8').trimEnd().split('\n').slice(-3);
    return `Log: ${this.logFile}${lines.join('').trim() ? `, ends with:\n  ${lines.join('\n  ')}` : ''}`;
  }
}

/** Ends what an earlier start in `dataDir` left running, each verified by its start time to be the one we started.
 *  Returns their names. */
export async function endLeftovers(dataDir: string): Promise<string[]> {
  const left = leftovers(dataDir);
  for (const { pid } of left) sendSignal(pid, 'SIGTERM');
  const until = Date.now() + 8000;
  while (left.some(isAlive) && Date.now() < until) await sleep(50);
  for (const process of left.filter(isAlive)) {
    for (const child of descendantsOf(process.pid)) sendSignal(child, 'SIGKILL');
    sendSignal(-process.pid, 'SIGKILL');
  }
  while (left.some(isAlive)) await sleep(20);
  for (const { name } of left) rmSync(join(dataDir, 'run', `${name}.pid`), { force: true });
  return left.map(({ name }) => name);
}

type Leftover = Readonly<{ name: string; pid: number; started: string }>;

/** Processes, other than this one, that still run by the pid files of `dataDir`. */
export function leftovers(dataDir: string): Leftover[] {
  const folder = join(dataDir, 'run');
  if (!statSync(folder, { throwIfNoEntry: false })) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith('.pid'))
    .map((file) => {
      const [pid = '0', started = ''] = readFileSync(join(folder, file), 'utf8').split('\n');
      return { name: file.slice(0, -'.pid'.length), pid: parseInt(pid, 10), started };
    })
    .filter(isAlive);
}

const isAlive = ({ pid, started }: Leftover): boolean =>
  pid > 1 && pid !== process.pid && started !== '' && startOf(pid) === started;

/** Makes this process known in `dataDir` as the one that runs the sandbox. */
export function claim(dataDir: string, name: string): () => void {
  const file = join(dataDir, 'run', `${name}.pid`);
  mkdirSync(join(dataDir, 'run'), { recursive: true });
  writeFileSync(file, `${process.pid}\n${startOf(process.pid) ?? ''}\n${commandOf(process.pid)}\n`);
  return () => rmSync(file, { force: true });
}

/** The watchdog reads a pipe that only we hold. When we end, however that happens, it reads the end of it and ends what
 *  the pid files of `dataDir` still name: asked first, killed 8 s later. An orderly end leaves it nothing to do. */
const watchdog = `
cat > /dev/null
pids=
for file in "$0"/run/*.pid; do
  [ -f "$file" ] && read -r pid < "$file" && [ "$pid" != "$1" ] && kill -TERM "$pid" && pids="$pids $pid"
done
[ -z "$pids" ] && exit
sleep 8
for pid in $pids; do kill -KILL -- "-$pid"; done
`;
const watched = new Set<string>();

function watch(dataDir: string): void {
  if (watched.has(dataDir) || process.platform === 'win32') return;
  watched.add(dataDir);
  const dog = spawn('/bin/sh', ['-c', watchdog, dataDir, String(process.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  dog.once('error', () => watched.delete(dataDir));
  dog.once('exit', () => watched.delete(dataDir));
  dog.unref();
  (dog.stdin as unknown as { unref(): void }).unref();
}
