import type { DataSource } from 'typeorm';
import { changedRows } from './query';

type FailPoints = Readonly<{ enabled: boolean; db: DataSource }>;
let active: FailPoints | undefined;

/** Turns the fail points on, for the fault rig alone: configuration refuses FAIL_POINTS in production. */
export const armFailPoints = (points: FailPoints): void => {
  active = points.enabled ? points : undefined;
};

/** A place where the fault rig may kill, hang or fail this very process. Costs nothing unless armed;
 *  tests/lint/wiring.test.ts finds one that no test arms. */
export async function failPoint(name: string): Promise<void> {
  if (!active) return;
  const rows = await changedRows<{ action: string }>(
    active.db,
    'UPDATE fail_point SET remaining = remaining - 1 WHERE name = $1 AND remaining > 0 RETURNING action',
    [name],
  );
  const action = rows[0]?.action;
  if (action === 'kill') process.kill(process.pid, 'SIGKILL');
  if (action === 'kill') await new Promise(() => undefined);
  if (action === 'hang') await new Promise((resolve) => setTimeout(resolve, 20_000));
  if (action === 'throw') throw new Error(`Fail point ${name}`);
}
