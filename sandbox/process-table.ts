import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** What the operating system knows about running processes: /proc where it is there, else `ps`. */

const hasProc = process.platform === 'linux';

/** A text that two processes with the same pid never share: when it started. Undefined: no such process. */
export function startOf(pid: number): string | undefined {
  try {
    if (!hasProc) return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    const fields = statOf(pid);
    return fields[0] === 'Z' ? undefined : fields[19]; // a zombie has ended; field 22 counts from the first
  } catch {
    return undefined; // it has ended
  }
}

/** Its command line, words parted by spaces; empty where nobody may know it. */
export function commandOf(pid: number): string {
  try {
    if (hasProc) return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return ''; // it has ended
  }
}

/** Children, their children and so on of `pid`. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map<number, number>();
  if (hasProc) {
    for (const entry of readdirSync('/proc'))
      if (/^\d+$/.test(entry))
        try {
          parents.set(parseInt(entry, 10), parseInt(statOf(parseInt(entry, 10))[1] ?? '0', 10));
        } catch {
          // it has ended since the folder was listed
        }
  } else {
    for (const line of execFileSync('ps', ['-axo', 'pid=,ppid='], { encoding: 'utf8' }).split('\n')) {
      const [child, parent] = line.trim().split(/\s+/);
      if (child && parent) parents.set(parseInt(child, 10), parseInt(parent, 10));
    }
  }
  const found: number[] = [];
  const search = [pid];
  for (let next = search.pop(); next !== undefined; next = search.pop())
    for (const [child, parent] of parents)
      if (parent === next) {
        search.push(child);
        found.push(child);
      }
  return found;
}

/** Sends `signal` to a process (or to its group, as -pid); false when it has ended. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** The fields of /proc/pid/stat after the command in brackets: state, parent, … */
function statOf(pid: number): string[] {
  const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return line.slice(line.lastIndexOf(')') + 2).split(' ');
}
