import { Connection } from '@temporalio/client';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { attributeTypes } from '../../workers/search-attributes';
import { temporalBinary } from '../binaries';
import { ManagedProcess } from '../process';
import type { Part } from './part';

export type TemporalOptions = Readonly<{
  /** State goes to `<dataDir>/temporal.db`. */
  dataDir: string;
  port: number;
  uiPort: number;
  /** See the stack's. */
  isHasty?: boolean | undefined;
  onCrash?: (how: string) => void;
}>;

/** Temporal's development server on a SQLite file, with its Web UI, on loopback. `url` is host:port of the frontend. */
export async function startTemporal(options: TemporalOptions): Promise<Part & { uiUrl: string }> {
  const { dataDir, port, uiPort } = options;
  const url = `127.0.0.1:${port}`;
  mkdirSync(dataDir, { recursive: true });
  const server = new ManagedProcess({
    name: 'temporal',
    dataDir,
    command: temporalBinary(),
    args: [
      ...['server', 'start-dev', '--ip', '127.0.0.1', '--log-level', 'warn'],
      ...['--port', String(port), '--ui-port', String(uiPort), '--db-filename', join(dataDir, 'temporal.db')],
      ...(options.isHasty ? ['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'] : []),
      ...attributeTypes.flatMap(({ name, word }) => ['--search-attribute', `${name}=${word}`]),
    ],
    env: { PATH: process.env.PATH, HOME: process.env.HOME },
    onCrash: options.onCrash,
  });
  const start = async (): Promise<void> => {
    server.start();
    await server.untilReady(() => answers(url));
  };
  await start();
  return {
    name: 'temporal',
    url,
    uiUrl: `http://127.0.0.1:${uiPort}`,
    pid: () => server.pid(),
    start,
    stop: () => server.stop(),
    kill9: () => server.kill9(),
  };
}

async function answers(address: string): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: 2000 });
  try {
    await connection.workflowService.describeNamespace({ namespace: 'default' });
    return true;
  } finally {
    await connection.close();
  }
}
