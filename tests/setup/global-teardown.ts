import { rmSync } from 'node:fs';
import { running } from './running';

export default async function globalTeardown(): Promise<void> {
  for (const { stop, dataDir } of running.splice(0)) {
    await stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
