import type { DataSource } from 'typeorm';
import { checkSignerNode } from '../../chains/expiring-nodes';
import type { MacaroonSetting } from '../../chains/lightning/node';
import { createDataSource } from '../../db/data-source';
import { networks } from '../../domain/chains/assets';
import { ConfigError, parseConfig, type Config } from '../../domain/config';
import { fault, good, type Finding } from '../../domain/finding';
import { expiringAmong } from '../../domain/signer-nodes';
import { checkLightning, checkLightningFollower, checkMacaroon } from './lightning';
import { checkFollowers, checkKeys, checkNetwork } from './nodes';
import { checkPostgres } from './postgres';
import { checkMail, checkRates } from './services';
import { checkTemporal } from './temporal';

/** One finding under the part of the installation that it is about. */
export type Examined = Finding & Readonly<{ subject: string }>;
/** Files of macaroons that other processes have. */
export type MacaroonFiles = Readonly<{ [name in MacaroonSetting]?: string }>;
type Check = Readonly<{ subject: string; fix: string; run: () => Promise<Finding[]> }>;

/** The settings alone: what they are, or every fault in them. */
export function checkSettings(
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
): Readonly<{ config: Config | null; findings: Examined[] }> {
  const subject = 'Settings';
  try {
    const config = parseConfig(env, readFile, 'payments');
    return { config, findings: [{ subject, ...good(`Complete for a ${config.MODE} instance (${config.NODE_ENV})`) }] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return {
      config: null,
      findings: error.faults.map((what) => ({ subject, ...fault(what, 'Each setting is described in .env.example') })),
    };
  }
}

/** Every part that the settings name, as the payments worker reaches it. A part that does not answer is a fault of
 *  its own and hides no other. With `isRunning`, also what only a running service has: workers, registered keys, fresh
 *  prices. */
export async function checkParts(
  config: Config,
  isRunning: boolean,
  macaroons: MacaroonFiles = {},
): Promise<Examined[]> {
  const db = createDataSource(config.DATABASE_URL, { pool: 2, name: 'doctor', connectTimeoutMs: 5000 });
  const checks: Check[] = [
    {
      subject: 'PostgreSQL',
      fix: 'Start it, or correct DATABASE_URL',
      run: async () => checkPostgres(await db.initialize(), config),
    },
    {
      subject: 'Temporal',
      fix: 'Start it, or correct TEMPORAL_ADDRESS, TEMPORAL_TLS and TEMPORAL_API_KEY',
      run: () => checkTemporal(config, isRunning),
    },
    ...config.networks.map((id) => ({
      subject: networks[id].name,
      fix: 'Start the node, or correct its address and credentials',
      run: () => checkNetwork(id, config),
    })),
    ...(config.LIGHTNING_URL ? [{ subject: 'Lightning', fix: fixOfLightning, run: () => checkLightning(config) }] : []),
    ...macaroonChecks(config, macaroons),
    // At its start the payments worker is not told where the signer's nodes are.
    ...(isRunning ? expiringAmong(config.networks) : []).map((id) => ({
      subject: `${networks[id].name}, the signer`,
      fix: 'Start the node of the signer, or correct SIGNER_NODES',
      run: () => checkSignerNode(id, config),
    })),
    { subject: 'Mail', fix: 'Correct SMTP_URL', run: () => checkMail(config) },
  ];
  try {
    const found = await Promise.all(checks.map(examined));
    return isRunning && db.isInitialized ? [...found.flat(), ...(await checkRunning(db, config))] : found.flat();
  } finally {
    if (db.isInitialized) await db.destroy();
  }
}

const macaroonChecks = (config: Config, files: MacaroonFiles): Check[] =>
  (Object.entries(files) as Array<[MacaroonSetting, string]>).map(([name, path]) => ({
    subject: 'Lightning',
    fix: fixOfLightning,
    run: () => checkMacaroon(config, name, path),
  }));

const fixOfLightning = 'Start the node, or correct LIGHTNING_URL and its files: see docs/operations/lightning.md';

async function checkRunning(db: DataSource, config: Config): Promise<Examined[]> {
  const fix = 'Run the migration step, then ask again';
  const found = [
    await examined({ subject: 'Followers', fix, run: () => checkFollowers(db, config) }),
    await examined({ subject: 'Keys', fix, run: () => checkKeys(db, config) }),
    await examined({ subject: 'Prices', fix, run: () => checkRates(db, config) }),
    ...(config.LIGHTNING_URL
      ? [
          await examined({
            subject: 'Lightning',
            fix: fixOfLightning,
            run: () => checkLightningFollower(db, config),
          }),
        ]
      : []),
  ];
  return found.flat();
}

async function examined({ subject, fix, run }: Check): Promise<Examined[]> {
  try {
    return (await run()).map((finding) => ({ subject, ...finding }));
  } catch (error) {
    return [{ subject, ...fault((error as Error).message.split('\n')[0]!, fix) }];
  }
}
