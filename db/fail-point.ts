import type { DataSource } from 'typeorm';
import { changedRows } from './query';

/** Where the fail points of this process are told what to do; undefined while they do nothing. */
let armedBy: DataSource | undefined;

/** Turns the fail points on, for the fault rig alone: configuration refuses FAIL_POINTS in production. */
export const armFailPoints = (db: DataSource): void => {
  armedBy = db;
};
export const disarmFailPoints = (): void => {
  armedBy = undefined;
};

/** A place where the fault rig may kill, hang or fail this very process. Costs nothing unless armed;
 *  tests/lint/wiring.test.ts finds one that no test arms. */
export async function failPoint(name: string): Promise<void> {
  if (!armedBy) return;
  const rows = await changedRows<{ action: string }>(
    armedBy,
    'UPDATE fail_point SET remaining = remaining - 1 WHERE name = $1 AND remaining > 0 RETURNING action',
    [name],
  );
  const action = rows[0]?.action;
  if (action === 'kill') process.kill(process.pid, 'SIGKILL');
  if (action === 'kill') await new Promise(() => undefined);
  if (action === 'hang') await new Promise((resolve) => setTimeout(resolve, 20_000));
  if (action === 'throw') throw new Error(`Fail point ${name}`);
}
