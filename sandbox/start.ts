import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { networkOf } from '../domain/chains/assets';
import { ConfigError, parseConfig } from '../domain/config';
import { configSchema } from '../domain/settings';
import { askedParts, type AskedParts } from './asked-parts';
import { lostChains } from './lost-chains';
import { root, sandboxFolder } from './paths';
import { startShop } from './parts/shop';
import { takenPort } from './ports';
import { claim, endLeftovers, leftovers, StartError } from './process';
import { writeSandboxFile, type SandboxFile } from './sandbox-file';
import { seedSandbox } from './seed';
import { startStack, type Stack } from './stack';
import { localChains, optionalNetworks } from './stack/networks';
import { fixedPorts, nodePortVariables, type Ports, type PortVariable } from './stack/ports';
import { chosenStore } from './temporal-store';

/** `npm start [-- --with litecoin,lightning … --temporal postgres]`: the whole service on this machine, until
 *  Ctrl-C. */

/** What listens at each port, and the variable that sets it. */
const portVariables: Readonly<Record<keyof Ports, PortVariable>> = {
  postgres: ['PostgreSQL', 'POSTGRES_PORT'],
  temporal: ['Temporal', 'TEMPORAL_PORT'],
  temporalUi: ['Temporal UI', 'TEMPORAL_UI_PORT'],
  temporalHistory: ['Temporal, history', 'TEMPORAL_HISTORY_PORT'],
  temporalMatching: ['Temporal, matching', 'TEMPORAL_MATCHING_PORT'],
  temporalWorker: ['Temporal, its workers', 'TEMPORAL_WORKER_PORT'],
  temporalFrontendMember: ['Temporal, membership', 'TEMPORAL_FRONTEND_MEMBER_PORT'],
  temporalHistoryMember: ['Temporal, membership of history', 'TEMPORAL_HISTORY_MEMBER_PORT'],
  temporalMatchingMember: ['Temporal, membership of matching', 'TEMPORAL_MATCHING_MEMBER_PORT'],
  temporalWorkerMember: ['Temporal, membership of its workers', 'TEMPORAL_WORKER_MEMBER_PORT'],
  ...nodePortVariables,
  lightning: ['Lightning node', 'LIGHTNING_PORT'],
  smtp: ['mail, SMTP', 'SMTP_PORT'],
  mail: ['mail, page', 'MAIL_PORT'],
  swap: ['swap provider', 'SWAP_PORT'],
  simulator: ['payers of a test instance', 'SIMULATOR_PORT'],
  api: ['API', 'API_PORT'],
  checkout: ['checkout', 'CHECKOUT_PORT'],
  shop: ['demo shop', 'SHOP_PORT'],
  metrics: ['metrics of the API', 'METRICS_PORT'],
};

const dataDir = sandboxFolder;
let stack: Stack | undefined;
let endingSince = 0;

async function main(): Promise<void> {
  if (existsSync(join(root, '.env'))) process.loadEnvFile(join(root, '.env'));
  const env: Record<string, string> = { AML_PROVIDER: 'list', ...ownSettings() };
  if (env.NODE_ENV === 'production')
    throw new StartError(
      'npm start runs the sandbox, never production: unset NODE_ENV (production is docker-compose.yml)',
    );
  const parts = askedParts(process.argv.slice(2));
  const ports = portsOf(process.env);
  // One name for the API and the dashboard: cookies and passkeys are the name's.
  env.API_URL ??= `http://localhost:${ports.api}`;
  parseConfig({ DASHBOARD_URL: `${env.API_URL}/dashboard`, ...localChains, ...env });
  const running = leftovers(dataDir).find(({ name }) => name === 'sandbox');
  if (running)
    throw new StartError(
      `The sandbox of this checkout runs already, as process ${running.pid}: ` +
        `see ${relative(root, dataDir)}/sandbox.json, or end it with Ctrl-C there`,
    );
  process.once('exit', claim(dataDir, 'sandbox'));
  const ended = await endLeftovers(dataDir);
  if (ended.length) console.log(`Ended what an earlier start had left running: ${ended.join(', ')}`);
  await refuseTakenPorts(ports, env, parts);

  stack = await startStack({
    dataDir,
    ports,
    env,
    ...parts,
    swap: true,
    restartAfterMs: 1000,
    say: (line) => console.log(line),
    onCrash: (name, how) => {
      if (endingSince) return;
      console.log(`${name} ${how}; starting it again. Its log: ${relative(root, dataDir)}/logs/${name}.log`);
      if (stack && !stack.services.has(name)) void startAgain(stack, name);
    },
  });
  if (endingSince) return; // the signal came while the last service started
  for (const line of await lostChains(stack)) console.log(line);
  console.log('Seeding the demo merchant');
  const merchant = await seedSandbox(stack);
  const { apiUrl, checkoutUrl } = stack;
  const shop = await startShop({
    port: ports.shop,
    apiUrl,
    checkoutUrl,
    publishableKey: merchant.publishableKey,
    widgets: merchant.widgets,
  });
  console.log(table(writeSandboxFile(stack, merchant, shop.url)));
}

/** The variables of the service that the shell or `.env` set, to be passed on. */
function ownSettings(): Record<string, string> {
  const set: Record<string, string> = {};
  for (const name of Object.keys(configSchema.properties)) {
    const value = process.env[name];
    if (value && !['API_PORT', 'CHECKOUT_PORT', 'METRICS_PORT'].includes(name)) set[name] = value;
  }
  return set;
}

function portsOf(env: NodeJS.ProcessEnv): Ports {
  const ports: Record<string, number> = {};
  for (const [name, [, variable]] of Object.entries(portVariables)) {
    const given = env[variable];
    if (given && !/^[1-9]\d{0,4}$/.test(given)) throw new StartError(`${variable}: '${given}' is not a port`);
    ports[name] = given ? parseInt(given, 10) : fixedPorts[name as keyof Ports];
  }
  return ports as Ports;
}

/** Ports between the services of a Temporal on PostgreSQL. */
const isOnPostgres = /^temporal(History|Matching|Worker|.*Member)/;

async function refuseTakenPorts(ports: Ports, env: Record<string, string>, parts: AskedParts): Promise<void> {
  const lines: string[] = [];
  for (const [name, [what, variable]] of Object.entries(portVariables)) {
    const network = optionalNetworks.find((one) => one === name);
    if (network && !parts.networks.includes(network)) continue;
    if (name === 'lightning' && !parts.lightning) continue;
    if (env.DATABASE_URL && name === 'postgres') continue;
    if (env.TEMPORAL_ADDRESS && name.startsWith('temporal')) continue;
    if (isOnPostgres.test(name) && chosenStore(process.env) !== 'postgres') continue;
    if (name === 'simulator' && env.MODE !== 'test') continue;
    const line = await takenPort(ports[name as keyof Ports], what, variable);
    if (line) lines.push(line);
  }
  if (lines.length) throw new StartError(lines.join('\n'));
}

/** A part that died by itself comes back on its data, tried until it does. */
async function startAgain(of: Stack, name: string): Promise<void> {
  for (;;) {
    await sleep(1000);
    if (endingSince) return;
    try {
      return await of.part(name).start();
    } catch (error) {
      console.log((error as Error).message);
    }
  }
}

function table(file: SandboxFile): string {
  const { merchant } = file;
  const known: Array<[string, string | null]> = [
    ['API', file.apiUrl],
    ['Documentation', file.docsUrl],
    ['Dashboard', file.dashboardUrl],
    ['Checkout', file.checkoutUrl],
    ['Demo shop', file.shopUrl],
    ['Temporal UI', file.temporalUiUrl],
    ['Metrics', file.metricsUrl],
    ['Mail', file.mailUrl],
    ['Swap provider', file.swapUrl],
    ['Ethereum RPC', file.ethRpcUrl],
    ['Bitcoin RPC', file.btcRpcUrl],
    ...Object.entries(file.coins).map(([currency, { url }]): [string, string] => [
      `${networkOf(currency).name} RPC`,
      url,
    ]),
    ...Object.entries(file.evm).map(([currency, url]): [string, string] => [`${networkOf(currency).name} RPC`, url]),
    ...Object.entries(file.simulators).map(([currency, url]): [string, string] => [
      `${networkOf(currency).name}, simulated`,
      url,
    ]),
    ['Lightning node', file.lightning?.url ?? null],
    ["Payer's Lightning node", file.lightning?.payer.key ?? null],
    ['PostgreSQL', file.databaseUrl],
    ['Merchant', merchant.id],
    ['E-mail', merchant.email],
    ['Password', merchant.password],
    ['TOTP secret', merchant.totpSecret],
    ['Secret key', merchant.secretKey],
    ['Publishable key', merchant.publishableKey],
    ['IPN secret', merchant.ipnSecret],
  ];
  const rows = known.filter((row): row is [string, string] => row[1] !== null);
  const [left, right] = [0, 1].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length))) as [
    number,
    number,
  ];
  const line = (a: string, b: string, c: string): string =>
    `${a}${'─'.repeat(left + 2)}${b}${'─'.repeat(right + 2)}${c}`;
  return [
    '',
    line('┌', '┬', '┐'),
    ...rows.map(([name, value]) => `│ ${name.padEnd(left)} │ ${value.padEnd(right)} │`),
    line('└', '┴', '┘'),
    `Dashboard, with the demo login filled in: ${file.demoLoginUrl}`,
    `Also in ${relative(root, dataDir)}/sandbox.json. Ctrl-C ends everything; the next npm start goes on from here; ` +
      'npm run reset empties it.',
  ].join('\n');
}

async function end(): Promise<void> {
  const now = Date.now();
  if (endingSince) {
    if (now - endingSince > 1000) process.exit(1); // asked again: the watchdog ends what is left
    return; // the terminal and npm both pass a Ctrl-C on
  }
  endingSince = now;
  console.log('\nEnding everything');
  if (stack) await stack.stop();
  else await endLeftovers(dataDir); // in the middle of starting
  process.exit(0);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end());
main().catch(async (error: unknown) => {
  if (endingSince) return;
  endingSince = Date.now();
  console.error(error instanceof StartError || error instanceof ConfigError ? error.message : error);
  await stack?.stop();
  process.exit(1);
});
