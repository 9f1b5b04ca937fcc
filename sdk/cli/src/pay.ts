import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Refusal } from './refusal.js';
import type { Sandbox } from './settings.js';

/** Pays on the local chains of a sandbox, as its own payer does: `npm run pay`. */

export type Paid = Readonly<{
  txId: string;
  currency: string;
  amount: string;
  depositAddress: string;
  blocks: number;
  status: string;
  invoiceUrl: string;
}>;
export type HowToPay = Readonly<{ amount?: string; asset?: string; with?: string; confirm?: string }>;

/** `payment`: its id, or the URL or id of its invoice. Throws Refusal with what the payer says. */
export async function pay(sandbox: Sandbox, payment: string, how: HowToPay = {}): Promise<Paid> {
  const script = join(sandbox.root, 'dist', 'sandbox', 'pay.js');
  if (!existsSync(script)) throw new Refusal(`${script} is missing: run npm run build there`, 'NO_SANDBOX');
  const options = Object.entries(how).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
  const child = spawn(process.execPath, [script, payment, '--json', ...options], {
    env: { ...process.env, SANDBOX_DATA: sandbox.folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Refusal(errors.trim() || `The payer ended with ${code}`, 'NOT_PAID');
  return JSON.parse(out) as Paid;
}
