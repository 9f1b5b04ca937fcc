import { readFileSync } from 'node:fs';
import { descendantsOf } from '../../sandbox/process-table';
import type { World } from '../world';

/** Memory of the processes of a stack, by /proc: what each has for itself. Pages of files, and what PostgreSQL shares
 *  between its processes, are no part of it: they fill once and stay. */

/** Ours, of which none may grow. */
export const ours = ['api-1', 'payments-1', 'chain-1', 'signer-1', 'checkout-1'] as const;
/** Of others: the development server of Temporal and anvil keep in memory what production has on a disk. */
export const others = ['postgres', 'temporal', 'anvil', 'btcd'] as const;
export type Part = (typeof ours)[number] | (typeof others)[number];

/** Bytes of a process; 0 where it has ended. */
function ownBytes(pid: number): number {
  try {
    const line = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return line ? parseInt(line[1]!, 10) * 1024 : 0;
  } catch {
    return 0; // it has ended since it was listed
  }
}

/** Bytes of a part with all processes under it. Throws where it runs elsewhere. */
export function bytesOf(world: World, part: Part): number {
  const pid = world.stack.part(part).pid();
  if (pid === undefined) throw new Error(`${part} runs elsewhere: its memory cannot be read`);
  return [pid, ...descendantsOf(pid)].reduce((sum, one) => sum + ownBytes(one), 0);
}
