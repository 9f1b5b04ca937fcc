import { inParallel } from '../../chains/json-rpc';
import type { World } from '../world';

/** What every measurement uses. */

export const rounds = 3;
export const createSeconds = 5;
export const clients = 8;
type Line = Readonly<{ name: string; value: number; unit: string; limit?: string; holds?: boolean; detail: string }>;
export const lines: Line[] = [];

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
export const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!;
export const report = (line: Line): void => {
  lines.push(line);
  const mark = line.holds === undefined ? ' ' : line.holds ? '✓' : '✗';
  const limit = line.limit ? ` (limit ${line.limit})` : '';
  console.log(`${mark} ${line.name}: ${line.value.toFixed(2)} ${line.unit}${limit} — ${line.detail}`);
};

/** Calls `act` from `width` lanes for some seconds; how many a second, and how long each took (ms). */
export async function rate(
  width: number,
  seconds: number,
  act: (n: number) => Promise<unknown>,
): Promise<{ perSecond: number; times: number[] }> {
  const times: number[] = [];
  const began = performance.now();
  let n = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() - began < seconds * 1000) {
      const start = performance.now();
      await act(n++);
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return { perSecond: times.length / ((performance.now() - began) / 1000), times };
}

/** Acts so many times, from all lanes. */
export const times = (count: number, act: (n: number) => Promise<unknown>): Promise<unknown> =>
  inParallel(
    Array.from({ length: count }, (_, n) => n),
    clients,
    act,
  );

/** Temporal has been told of all that was asked for. */
export const dispatched = (world: World): Promise<void> =>
  world.until(
    'the outbox is empty',
    async () => !(await world.db.query('SELECT FROM temporal_request LIMIT 1')).length,
    300_000,
  );
