import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';

export type Ended = Readonly<{ code: number | null; out: string; errors: string }>;

/** Gives a program all its input, and waits for its end. `out`: without the white space around. */
export async function ended(child: ChildProcessWithoutNullStreams, input: string | Buffer = ''): Promise<Ended> {
  let [out, errors] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  child.stdin.on('error', () => undefined); // it may have seen enough
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out: out.trim(), errors };
}
