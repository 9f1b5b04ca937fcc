/** What the global set-up started and the global tear-down stops; both run in the same process. */
type Running = { stop(): Promise<void>; dataDir: string };

const key = Symbol.for('crypto-payments tests: running');
const shared = globalThis as unknown as Record<symbol, Running[] | undefined>;
export const running: Running[] = (shared[key] ??= []);
