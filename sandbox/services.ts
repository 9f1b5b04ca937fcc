import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { passwordVariable, roles as databaseRoles, urlOf, type DatabaseRole } from '../db/roles/roles';
import { asked } from '../domain/config';
import type { Part } from './parts/part';
import { root } from './paths';
import { freePort } from './ports';
import { ManagedProcess, StartError } from './process';

/** Our own processes: what the build produces, which variable holds the port that `/readyz` answers on, and which role
 *  of the database each connects with. */
export const roles = {
  signer: { file: 'workers/signer.js', port: 'METRICS_PORT', database: 'signer' },
  chain: { file: 'workers/chain.js', port: 'METRICS_PORT', database: 'chain' },
  payments: { file: 'workers/payments.js', port: 'METRICS_PORT', database: 'payments' },
  api: { file: 'api/server.js', port: 'API_PORT', database: 'api' },
  checkout: { file: 'web/checkout/server.js', port: 'CHECKOUT_PORT', database: null },
} as const;

export type Role = keyof typeof roles;
export type Copies = Readonly<Record<Role, number>>;
export const oneOfEach: Copies = { signer: 1, chain: 1, payments: 1, api: 1, checkout: 1 };

export type ServiceOptions = Readonly<{
  role: Role;
  /** Counts from 1; the name is `<role>-<copy>`. */
  copy: number;
  dataDir: string;
  /** Where `/readyz` answers; any free port unless told. */
  port?: number;
  /** The folder whose build runs, say of an earlier release; our own unless told. */
  release?: string;
  env: Readonly<Record<string, string>>;
  /** Starts it again this long after it ended by itself; never unless told. */
  restartAfterMs?: number;
  onCrash?: (name: string, how: string) => void;
}>;

/** Arguments of Node: stack traces name lines of our TypeScript. */
const ownSourceMaps = ['--require', join(root, 'sandbox', 'setup', 'own-source-maps.cjs')];
/** Room for new objects, of one size at all times, as in the image (Dockerfile): Node would let it grow to 134 MB. */
export const newObjects = ['--min-semi-space-size=16', '--max-semi-space-size=16'];
/** Two arenas of the C library for all threads, as in the image: left to itself it opens sixteen on two processors, and
 *  each keeps the most that it ever held. docs/decisions/0104-two-arenas.md */
export const arenas = { MALLOC_ARENA_MAX: '2' } as const;

/** What every process of ours inherits from the shell; all else comes from its configuration. */
const inherited = (): Record<string, string> => {
  const kept: Record<string, string> = {};
  for (const name of ['PATH', 'HOME', 'LANG', 'TMPDIR', 'SYSTEMROOT', 'NODE_EXTRA_CA_CERTS']) {
    const value = process.env[name];
    if (value !== undefined) kept[name] = value;
  }
  // Compiled once for all processes and starts.
  return { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compile'), ...kept };
};

/** The password of a role in the sandbox: whoever may read the owner's address may have it. */
export const rolePassword = (ownerUrl: string, role: DatabaseRole): string =>
  createHmac('sha256', decodeURIComponent(new URL(ownerUrl).password))
    .update(role)
    .digest('hex');
/** The address of the database for a role, made from that of the owner. */
export const databaseFor = (ownerUrl: string, role: DatabaseRole): string =>
  urlOf(ownerUrl, role, rolePassword(ownerUrl, role));

/** Settings of our Lightning node that one process alone may have: the others refuse to start with them. */
const ofOneProcess: Readonly<Record<string, Role>> = {
  LIGHTNING_INVOICE_MACAROON_FILE: 'chain',
  LIGHTNING_PREIMAGE_KEY: 'chain',
  LIGHTNING_PAY_MACAROON_FILE: 'signer',
};

/** The environment of a process: the database as its own role knows it, and no secret that it is not asked for. */
function environmentOf(role: Role, env: Readonly<Record<string, string>>): Record<string, string> {
  const { DATABASE_URL: ownerUrl, SECRETS_KEY: secretsKey, ...others } = env;
  const { database } = roles[role];
  const own = Object.entries(others).filter(([name]) => (ofOneProcess[name] ?? role) === role);
  const isAsked = (asked[role] as readonly string[]).includes('SECRETS_KEY');
  return {
    ...Object.fromEntries(own),
    ...(database && ownerUrl ? { DATABASE_URL: databaseFor(ownerUrl, database) } : {}),
    ...(isAsked && secretsKey ? { SECRETS_KEY: secretsKey } : {}),
  };
}

/** One process of the service, not started yet. */
export async function service(options: ServiceOptions): Promise<Part> {
  const { role, copy, dataDir, env, release = root } = options;
  const { file, port: variable } = roles[role];
  const name = `${role}-${copy}`;
  const port = options.port ?? (await freePort());
  const url = `http://127.0.0.1:${port}`;
  let wanted = false;
  const child = new ManagedProcess({
    name,
    dataDir,
    command: process.execPath,
    args: [...ownSourceMaps, ...newObjects, built(file, release)],
    env: { ...arenas, ...inherited(), ...environmentOf(role, env), [variable]: String(port) },
    cwd: release,
    graceMs: 30_000,
    onCrash: (how) => {
      options.onCrash?.(name, how);
      if (options.restartAfterMs !== undefined) void startAgain(options.restartAfterMs);
    },
  });
  const ready = async (): Promise<boolean> =>
    (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5000) })).status === 200;
  const startAgain = async (afterMs: number): Promise<void> => {
    await sleep(afterMs, undefined, { ref: false });
    if (wanted) child.start();
  };
  return {
    name,
    url,
    pid: () => child.pid(),
    start: async () => {
      wanted = true;
      child.start();
      await child.untilReady(ready, 120_000);
    },
    stop: () => {
      wanted = false;
      return child.stop();
    },
    kill9: () => {
      wanted = false;
      return child.kill9();
    },
  };
}

/** Brings the database to the schema of a release, our own unless told, as a deployment does: in a process of its own,
 *  before the rest. */
export function migrateDatabase(url: string, mode = 'live', release = root): void {
  const passwords = Object.fromEntries(databaseRoles.map((role) => [passwordVariable(role), rolePassword(url, role)]));
  try {
    execFileSync(process.execPath, [...ownSourceMaps, built('db/migrate.js', release)], {
      env: { ...inherited(), MODE: mode, DATABASE_URL: url, ...passwords },
      encoding: 'utf8',
      stdio: 'pipe',
    });
  } catch (error) {
    throw new StartError(
      `The database could not be migrated: ${String((error as { stderr?: unknown }).stderr ?? error).trim()}`,
    );
  }
}

function built(file: string, release: string): string {
  const path = join(release, 'dist', file);
  if (!existsSync(path)) throw new StartError(`${path} is missing: run npm run build`);
  return path;
}
