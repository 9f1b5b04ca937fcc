import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { lastTime, noteTime } from './durations.mjs';

/** A step that cannot be done; the message is one clear line for whoever typed the command. */
export class SetupError extends Error {}

const isTerminal = process.stderr.isTTY;
/** Steps that are under way, with when they began (ms since 1970). */
const underWay = new Map();
const children = new Set();
process.on('exit', () => children.forEach((child) => child.kill()));

const seconds = (ms) => `${Math.round(ms / 1000)} s`;
const elapsedMs = (label) => Date.now() - underWay.get(label);
const progress = (label) => `${label} … ${seconds(elapsedMs(label))}`;

export function say(line) {
  process.stderr.write(isTerminal ? `\r\u001b[K${line}\n` : `${line}\n`);
  show();
}

/** On a terminal: the steps that are under way, on one line that is written over. */
function show() {
  if (!isTerminal || !underWay.size) return;
  const line = [...underWay.keys()].map(progress).join(' · ');
  process.stderr.write(`\r\u001b[K${line.slice(0, (process.stderr.columns || 80) - 1)}`);
}

/** Runs a program with its output in `log`, beside other steps, and shows how long it has been at it: each second on a
 *  terminal, every 30 s elsewhere. `fetches`: how much a first time brings from the network. Throws SetupError with the
 *  end of the output. */
export async function step(label, program, args, { log, cwd, env = process.env, fetches } = {}) {
  mkdirSync(dirname(log), { recursive: true });
  const before = lastTime(label);
  const known = [fetches && `fetches ${fetches}`, before && `${seconds(before)} last time`].filter(Boolean).join(', ');
  underWay.set(label, Date.now());
  say(`${label} …${known && ` (${known})`}`);
  const timer = isTerminal ? setInterval(show, 1000) : setInterval(() => say(progress(label)), 30_000);
  const ending = await run(program, args, { cwd, env }, log);
  clearInterval(timer);
  const took = elapsedMs(label);
  underWay.delete(label);
  if (ending === 0) {
    noteTime(label, took);
    return say(`${label}: done in ${seconds(took)}`);
  }
  const last = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-5).join('\n  ');
  throw new SetupError(`${label} failed (${ending}). ${log} ends with:\n  ${last}`);
}

/** Its exit code, or what ended it. It ends with us. */
async function run(program, args, options, log) {
  const out = createWriteStream(log);
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  child.stdout.pipe(out, { end: false });
  child.stderr.pipe(out, { end: false });
  const ending = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(signal ?? code));
  });
  children.delete(child);
  await new Promise((resolve) => out.end(resolve));
  return ending;
}
