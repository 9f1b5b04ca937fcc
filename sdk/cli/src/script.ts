import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from './refusal.js';
import type { Sandbox } from './settings.js';

/** Runs a command of the checkout on its sandbox, as `npm run <name>` does, and answers what it prints. Throws Refusal
 *  with what it says. */
export async function script(sandbox: Sandbox, name: string, args: readonly string[], code: string): Promise<string> {
  const file = join(sandbox.root, 'dist', 'sandbox', `${name}.js`);
  if (!existsSync(file)) throw new Refusal(`${file} is missing: run npm run build there`, 'NO_SANDBOX');
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...process.env, SANDBOX_DATA: sandbox.folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const ended = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (ended !== 0) throw new Refusal(errors.trim() || `npm run ${name} ended with ${ended}`, code);
  return out;
}
