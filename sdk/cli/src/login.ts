import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Refusal } from './refusal.js';
import { keyOf } from './settings.js';

/** The key that was given, from standard input for `-`, or asked for. Throws Refusal. */
export async function readKey(given: string | undefined): Promise<string> {
  return keyOf(given === '-' ? await text(process.stdin) : (given ?? (await asked())));
}

/** What is typed is not shown: terminals are recorded and looked at. */
async function asked(): Promise<string> {
  if (!process.stdin.isTTY) throw new Refusal('Give a secret key on standard input with --key -');
  process.stderr.write('Secret key (it is not shown): ');
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('close', () => reject(new Refusal('No key was given', 'BAD_KEY'))); // Ctrl-C, Ctrl-D
    });
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
