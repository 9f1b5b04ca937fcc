import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporalServerBinary, temporalUiBinary } from '../../binaries';
import { ManagedProcess, StartError } from '../../process';
import { placeOf } from '../../temporal-store';
import type { Part } from '../part';
import { prepareDatabases } from './databases';
import { isServing } from './namespace';
import { dynamicSettings, serverSettings, uiSettings, type PostgresPlace, type ServicePorts } from './settings';

export type TemporalOnPostgresOptions = Readonly<{
  /** Holds the configuration of server and UI; the workflows are in PostgreSQL. */
  dataDir: string;
  ports: ServicePorts;
  uiPort: number;
  /** A superuser's address of the server that holds the databases. */
  postgresUrl: string;
  /** Of the role that Temporal has there. */
  password: string;
  onCrash?: (how: string) => void;
}>;

/** The server of a production on PostgreSQL, all services in one process, and Temporal's UI beside it; both on
 *  loopback. Its number of history shards is for good. `url` is host:port of the frontend. */
export async function startTemporalOnPostgres(options: TemporalOnPostgresOptions): Promise<Part & { uiUrl: string }> {
  const { ports, uiPort, postgresUrl, password } = options;
  const { hostname: host, port } = new URL(postgresUrl);
  const postgres = { host, port, password };
  await prepareDatabases(postgresUrl, postgres);
  const { server, ui } = processes(options, postgres);
  const url = `127.0.0.1:${ports.frontend.grpcPort}`;
  const uiUrl = `http://127.0.0.1:${uiPort}`;
  const start = async (): Promise<void> => {
    // It ends by itself where PostgreSQL does not answer yet.
    for (const until = Date.now() + 60_000; ; await sleep(500)) {
      server.start();
      try {
        await server.untilReady(() => isServing(url));
        break;
      } catch (error) {
        if (!(error instanceof StartError) || server.pid() || Date.now() > until) throw error;
      }
    }
    ui.start();
    await ui.untilReady(async () => (await fetch(uiUrl)).ok);
  };
  const both = async (act: (one: ManagedProcess) => Promise<void>): Promise<void> => {
    await Promise.all([act(server), act(ui)]);
  };
  const part = {
    ...{ name: 'temporal', url, uiUrl, pid: () => server.pid(), start },
    stop: () => both((one) => one.stop()),
    kill9: () => both((one) => one.kill9()),
  };
  try {
    await start();
    return part;
  } catch (error) {
    await part.kill9();
    throw error;
  }
}

function processes(
  { dataDir, ports, uiPort, onCrash }: TemporalOnPostgresOptions,
  postgres: PostgresPlace,
): Readonly<{ server: ManagedProcess; ui: ManagedProcess }> {
  const place = placeOf(dataDir, 'postgres');
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const dynamicFile = join(place, 'dynamic.yaml');
  const write = (file: string, settings: object): void =>
    writeFileSync(file, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  write(dynamicFile, dynamicSettings());
  write(join(place, 'server.yaml'), serverSettings(ports, postgres, dynamicFile));
  write(join(place, 'ui.yaml'), uiSettings(uiPort, ports.frontend.grpcPort));
  const one = (name: string, command: string, args: readonly string[]): ManagedProcess =>
    new ManagedProcess({
      ...{ name, dataDir, command, cwd: place, graceMs: 20_000, onCrash },
      args: ['--root', place, '--config', '.', ...args, 'start'],
      env: { PATH: process.env.PATH, HOME: process.env.HOME },
    });
  return {
    server: one('temporal', temporalServerBinary(), ['--env', 'server', '--allow-no-auth']),
    ui: one('temporal-ui', temporalUiBinary(), ['--env', 'ui']),
  };
}
