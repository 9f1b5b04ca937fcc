import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { Refusal } from './refusal.js';

/** The key that was given, from standard input for `-`, or asked for. Throws Refusal. */
export async function readKey(given: string | undefined): Promise<string> {
  const key = given === '-' ? await text(process.stdin) : (given ?? (await asked()));
  const trimmed = key.trim();
  if (!/^svc_(live|test)_[!-~]+$/.test(trimmed))
    throw new Refusal('That is no secret key: it begins with svc_live_ or svc_test_', 'BAD_KEY');
  return trimmed;
}

async function asked(): Promise<string> {
  if (!process.stdin.isTTY) throw new Refusal('Give a secret key with --key, or --key - for standard input');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question('Secret key: ');
  } finally {
    lines.close();
  }
}
