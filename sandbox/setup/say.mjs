import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lastTime, noteTime } from './durations.mjs';

/** A step that cannot be done; the message is one clear line for whoever typed the command. */
export class SetupError extends Error {}

const isTerminal = process.stderr.isTTY;
/** Steps that are under way, with when they began (ms since 1970). */
const underWay = new Map();
const children = new Set();
process.on('exit', () => children.forEach((child) => child.kill()));

/** How long programs have for their end after an interrupt: Go finishes what it compiles, and keeps it. */
const forTheEndMs = 20_000;
let isInterrupted = false;
const never = () => new Promise(() => undefined);

/** From here on a signal ends the programs of all steps before it ends us, so that none works on unseen, and the next
 *  start goes on with what they have kept. Returns what takes that back. */
export function endOnSignals() {
  const end = (signal) => {
    if (isInterrupted) return;
    isInterrupted = true;
    void endSteps().then(() => {
      say('Interrupted. What is fetched and compiled is kept: the next start goes on with it.');
      process.exit(128 + constants.signals[signal]);
    });
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  signals.forEach((signal) => process.on(signal, end));
  return () => signals.forEach((signal) => process.off(signal, end));
}

async function endSteps() {
  const ends = [...children].map((child) => new Promise((resolve) => child.once('close', resolve)));
  children.forEach((child) => child.kill('SIGINT'));
  await Promise.race([Promise.all(ends), sleep(forTheEndMs)]);
}

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
 *  end of the output; after an interrupt it neither begins nor returns. */
export async function step(label, program, args, { log, cwd, env = process.env, fetches } = {}) {
  if (isInterrupted) return never();
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
  if (isInterrupted) return never();
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
