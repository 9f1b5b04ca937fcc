import { setTimeout as pause } from 'node:timers/promises';

/** Whether PostgreSQL undid a transaction for the sake of another. */
export function wasUndone(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === '40001' || code === '40P01';
}

/** Does `act`, a transaction, once more after a moment where PostgreSQL undid it for the sake of another. Invariants:
 *  6. */
export async function unlessUndone<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!wasUndone(error)) throw error;
    await pause(50 + Math.random() * 150);
    return act();
  }
}
