import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { descendantsOf } from '../../sandbox/process-table';
import type { World } from '../world';

/** CPU time of the processes of a stack, by /proc: what stays the same on a machine that others use too. */

export const measured = ['api', 'postgres', 'temporal', 'payments', 'chain', 'signer'] as const;
export type Process = (typeof measured)[number];
/** Milliseconds of CPU. */
export type CpuTimes = Readonly<Record<Process, number>>;

export const shownTimes = (each: CpuTimes): string =>
  measured.map((name) => `${name} ${each[name].toFixed(2)}`).join(', ');

const parts: Readonly<Record<Process, string>> = {
  ...{ api: 'api-1', postgres: 'postgres', temporal: 'temporal' },
  ...{ payments: 'payments-1', chain: 'chain-1', signer: 'signer-1' },
};
const ticksPerSecond = parseInt(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }), 10);

/** Of a process itself, and of its children that have ended. */
function ticksOf(pid: number): { own: number; ended: number } {
  const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The fields after the command in brackets begin with the third.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const [own, system, ended, endedSystem] = [11, 12, 13, 14].map((n) => parseInt(fields[n]!, 10));
  return { own: own! + system!, ended: ended! + endedSystem! };
}

/** Milliseconds of CPU of a process with its children. */
function millisecondsOf(pid: number): number {
  const { own, ended } = ticksOf(pid);
  let ticks = own + ended;
  for (const child of descendantsOf(pid))
    try {
      ticks += ticksOf(child).own;
    } catch {
      // It has ended since: its parent counts it now, and the next reading has it.
    }
  return (ticks / ticksPerSecond) * 1000;
}

/** Milliseconds of CPU of a part of the stack, by its name. */
export function cpuOf(world: World, part: string): number {
  const pid = world.stack.part(part).pid();
  if (pid === undefined) throw new Error(`${part} runs elsewhere: its CPU time cannot be read`);
  return millisecondsOf(pid);
}

const cpuTimes = (world: World): CpuTimes =>
  Object.fromEntries(measured.map((name) => [name, cpuOf(world, parts[name])])) as CpuTimes;

/** What was used from `before` on, less what the processes use a second without work. */
const since = (before: CpuTimes, after: CpuTimes, seconds: number, idle?: CpuTimes): CpuTimes =>
  Object.fromEntries(
    measured.map((name) => [name, Math.max(0, after[name] - before[name] - (idle ? idle[name] * seconds : 0))]),
  ) as CpuTimes;

/** What the processes use in a second without work. */
export async function idleTimes(world: World, seconds: number): Promise<CpuTimes> {
  const before = cpuTimes(world);
  const began = performance.now();
  await sleep(seconds * 1000);
  const passed = (performance.now() - began) / 1000;
  const used = since(before, cpuTimes(world), passed);
  return Object.fromEntries(measured.map((name) => [name, used[name] / passed])) as CpuTimes;
}

/** Nothing is left to do: two seconds one after the other have used no more than a tenth of a core above idle. */
async function untilQuiet(world: World, idle: CpuTimes): Promise<void> {
  for (let quiet = 0, looks = 0; quiet < 2; looks += 1) {
    if (looks === 600) throw new Error('The service is still at work after ten minutes');
    const before = cpuTimes(world);
    const began = performance.now();
    await sleep(1000);
    const seconds = (performance.now() - began) / 1000;
    const used = since(before, cpuTimes(world), seconds, idle);
    quiet = measured.reduce((sum, name) => sum + used[name], 0) <= 100 * seconds ? quiet + 1 : 0;
  }
}

export type Cost = Readonly<{ count: number; perSecond: number; each: CpuTimes }>;

/** What each of `count` acts costs, with all that follows from it. */
export async function costOf(world: World, idle: CpuTimes, count: number, act: () => Promise<unknown>): Promise<Cost> {
  await untilQuiet(world, idle);
  const before = cpuTimes(world);
  const began = performance.now();
  await act();
  const acted = (performance.now() - began) / 1000;
  await untilQuiet(world, idle);
  const used = since(before, cpuTimes(world), (performance.now() - began) / 1000, idle);
  const each = Object.fromEntries(measured.map((name) => [name, used[name] / count])) as CpuTimes;
  return { count, perSecond: count / acted, each };
}
