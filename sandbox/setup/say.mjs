import { spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** A step that cannot be done; the message is one clear line for whoever typed the command. */
export class SetupError extends Error {}

export const say = (line) => process.stderr.write(`${line}\n`);

/** Runs a program with its output in `log`, and shows how long it has been at it: on one line that is written over on a
 *  terminal, every 30 s elsewhere. Throws SetupError with the end of the output. */
export async function step(label, program, args, { log, cwd, env = process.env } = {}) {
  mkdirSync(dirname(log), { recursive: true });
  const began = Date.now();
  const elapsed = () => `${Math.round((Date.now() - began) / 1000)} s`;
  const overwrite = process.stderr.isTTY;
  if (!overwrite) say(`${label} …`);
  const timer = setInterval(
    () => (overwrite ? process.stderr.write(`\r${label} … ${elapsed()} `) : say(`${label} … ${elapsed()}`)),
    overwrite ? 1000 : 30_000,
  );
  const out = createWriteStream(log);
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.pipe(out, { end: false });
  child.stderr.pipe(out, { end: false });
  const ending = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(signal ?? code));
  });
  clearInterval(timer);
  await new Promise((resolve) => out.end(resolve));
  if (overwrite) process.stderr.write('\r\u001b[K');
  if (ending === 0) return say(`${label}: done in ${elapsed()}`);
  const last = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-5).join('\n  ');
  throw new SetupError(`${label} failed (${ending}). ${log} ends with:\n  ${last}`);
}
