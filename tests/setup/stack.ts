import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack, type Stack, type StackOptions } from '../../sandbox/stack';

/** The whole service for one suite, on free ports and in a folder of its own; `end` leaves nothing of it. Needs the
 *  build. */
export async function suiteStack(
  options: Omit<Partial<StackOptions>, 'dataDir' | 'ports'> = {},
): Promise<{ stack: Stack; end(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-suite-'));
  chmodSync(dataDir, 0o711); // the server of PostgreSQL must be able to pass
  const remove = (): void => rmSync(dataDir, { recursive: true, force: true });
  try {
    const stack = await startStack({ ...options, dataDir, ports: 'free' });
    return {
      stack,
      end: async () => {
        await stack.stop();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}
