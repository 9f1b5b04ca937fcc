import { mkdirSync, readdirSync, readFileSync, unlinkSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { OutsideRecord } from '../db/recovery/lost';

/** Days that a recovery may go back. */
const keptDays = 90;
const dayMs = 86_400_000;
const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10);

/** Records what the signer does in `folder`: a file for each day, a line for each signature or call. */
export function outsideRecord<One>(folder: string): OutsideRecord<One> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const days = (): string[] =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .sort();
  let today = '';
  const forgetOld = (): void => {
    const oldest = `${dayOf(new Date(Date.now() - keptDays * dayMs))}.jsonl`;
    for (const name of days()) if (name < oldest) unlinkSync(join(folder, name));
  };
  return {
    async keep(records): Promise<void> {
      const now = new Date();
      if (today !== dayOf(now)) forgetOld();
      today = dayOf(now);
      const file = await open(join(folder, `${today}.jsonl`), 'a', 0o600);
      try {
        const lines = records.map((one) => JSON.stringify({ at: now.toISOString(), ...one }));
        await file.writeFile(`${lines.join('\n')}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
    },
    since(moment): One[] {
      const first = `${dayOf(moment)}.jsonl`;
      const lines = days()
        .filter((name) => name >= first)
        .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
      return lines.flatMap((line) => {
        const one = parsed<One>(line);
        return one && one.at >= moment.toISOString() ? [one] : [];
      });
    },
  };
}

/** null: a line that a crash has cut. What it tells of was not stored, and nothing of it has left. */
function parsed<One>(line: string): (One & { at: string }) | null {
  try {
    return JSON.parse(line) as One & { at: string };
  } catch {
    return null;
  }
}
