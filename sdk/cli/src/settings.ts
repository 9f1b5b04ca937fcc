import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { CryptoPayments } from '@crypto-payment-service/sdk';
import { Refusal } from './refusal.js';

/** Who calls which instance: from the environment, a login, or the sandbox of the checkout that one stands in. */

type DemoSession = Readonly<{ apiUrl: string; accessToken: string; until: number }>;
type Settings = Readonly<{
  apiUrl?: string;
  apiKey?: string;
  /** `sandbox.json` of a local sandbox. */
  sandbox?: string;
  /** Signs what `listen` forwards. */
  listenSecret?: string;
  /** The demo user of a sandbox, signed in until a moment in milliseconds. */
  demoSession?: DemoSession;
}>;

/** What `sandbox.json` says that is used here. */
export type Sandbox = Readonly<{
  /** The checkout that it runs from. */
  root: string;
  /** Its folder of data. */
  folder: string;
  apiUrl: string;
  checkoutUrl: string;
  dashboardUrl: string;
  demoLoginUrl: string;
  docsUrl: string;
  mailUrl: string;
  temporalUiUrl: string;
  ethRpcUrl: string;
  /** Of the swap provider, where there is one. */
  swapUrl: string | null;
  secretKey: string;
  /** Its demo user. */
  demo: Readonly<{ email: string; password: string; totpSecret: string }>;
}>;

export type Access = Readonly<{ apiUrl: string; apiKey: string; sandbox: Sandbox | null; client: CryptoPayments }>;

const { env } = process;
const settingsFile = (): string =>
  env['CRYPTO_PAYMENTS_CONFIG'] ??
  join(env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config'), 'crypto-payments', 'config.json');

function readSettings(): Settings {
  const file = settingsFile();
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Settings;
  } catch (error) {
    throw new Refusal(`${file} cannot be read (${(error as Error).message}): log in again`, 'BAD_SETTINGS');
  }
}

/** Writes what changes, for its owner alone; what is undefined goes. Returns the file. */
export function changeSettings(change: Settings): string {
  const file = settingsFile();
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const text = `${JSON.stringify({ ...readSettings(), ...change }, null, 2)}\n`;
  const made = `${file}.${process.pid}`;
  rmSync(made, { force: true }); // one that was there would keep its mode
  writeFileSync(made, text, { mode: 0o600, flag: 'wx' });
  renameSync(made, file);
  return file;
}

/** The sandbox whose `sandbox.json` is at `path`, a file or a folder. Throws Refusal. */
export function readSandbox(path: string): Sandbox {
  const file = path.endsWith('.json') ? resolve(path) : resolve(path, 'sandbox.json');
  let read: Omit<Sandbox, 'folder' | 'secretKey' | 'demo'> & { merchant: Sandbox['demo'] & { secretKey: string } };
  try {
    read = JSON.parse(readFileSync(file, 'utf8')) as typeof read;
  } catch {
    throw new Refusal(`${file} is missing: start the sandbox with npm start`, 'NO_SANDBOX');
  }
  return { ...read, folder: dirname(file), secretKey: read.merchant.secretKey, demo: read.merchant };
}

/** `sandbox.json` in the folder that `SANDBOX_DATA` names, as for `npm start`. */
const sandboxNamed = (): string | undefined =>
  env['SANDBOX_DATA'] ? resolve(env['SANDBOX_DATA'], 'sandbox.json') : undefined;

/** `sandbox.json` that `SANDBOX_DATA` names, else that in `.data` of the checkout around `folder`. */
export function sandboxAround(folder: string): string | undefined {
  const named = sandboxNamed();
  if (named) return named;
  for (let at = folder; ; at = dirname(at)) {
    const file = join(at, '.data', 'sandbox.json');
    if (existsSync(file)) return file;
    if (dirname(at) === at) return undefined;
  }
}

/** The origin of an API. Throws Refusal. */
export function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
    throw new Refusal(`'${text}' is no address of an API, such as https://payments.example.com`, 'BAD_URL');
  return url.origin;
}

/** A secret key without the space around it. Throws Refusal, which does not repeat it. */
export function keyOf(text: string): string {
  const key = text.trim();
  if (!/^svc_(live|test)_[!-~]+$/.test(key))
    throw new Refusal('That is no secret key: it begins with svc_live_ or svc_test_', 'BAD_KEY');
  return key;
}

export const clientOf = (baseUrl: string, apiKey: string): CryptoPayments => new CryptoPayments({ baseUrl, apiKey });

/** How to reach the API. Throws Refusal where nobody has logged in. */
export function access(): Access {
  const apiUrl = env['CRYPTO_PAYMENTS_API_URL'];
  const apiKey = env['CRYPTO_PAYMENTS_API_KEY'];
  if (apiUrl && apiKey) return accessTo(originOf(apiUrl), keyOf(apiKey), null);
  // One alone would send a key to an instance that it is not of.
  if (apiUrl || apiKey) {
    const [there, missing] = apiUrl ? ['URL', 'KEY'] : ['KEY', 'URL'];
    const message = `CRYPTO_PAYMENTS_API_${missing} is missing: CRYPTO_PAYMENTS_API_${there} needs it`;
    throw new Refusal(message, 'NO_LOGIN');
  }
  const named = sandboxNamed();
  const settings: Settings = named ? { sandbox: named } : readSettings();
  if (settings.apiUrl && settings.apiKey) return accessTo(settings.apiUrl, settings.apiKey, null);
  const place = settings.sandbox ?? sandboxAround(process.cwd());
  if (!place)
    throw new Refusal('Nobody is logged in: crypto-payments login --sandbox, or login --api-url <url>', 'NO_LOGIN');
  // Its key and address are read each time: a sandbox that was reset has others.
  const sandbox = readSandbox(place);
  return accessTo(sandbox.apiUrl, sandbox.secretKey, sandbox);
}

const accessTo = (apiUrl: string, apiKey: string, sandbox: Sandbox | null): Access => ({
  apiUrl,
  apiKey,
  sandbox,
  client: clientOf(apiUrl, apiKey),
});

/** The access, which has to be that of a sandbox. Throws Refusal. */
export function sandboxAccess(what: string): Access & Readonly<{ sandbox: Sandbox }> {
  const { sandbox, ...rest } = access();
  if (!sandbox) throw new Refusal(`${what} works in a sandbox alone: log in to one with login --sandbox`, 'NO_SANDBOX');
  return { ...rest, sandbox };
}

/** The secret that signs what is forwarded; made once, so that a server can keep it. */
export function listenSecret(): string {
  const known = readSettings().listenSecret;
  if (known) return known;
  const made = `whsec_${randomBytes(24).toString('base64')}`;
  changeSettings({ listenSecret: made });
  return made;
}

/** The access token of the demo user at `apiUrl`, where it is still good. */
export function demoSession(apiUrl: string): string | undefined {
  const known = readSettings().demoSession;
  return known?.apiUrl === apiUrl && known.until > Date.now() ? known.accessToken : undefined;
}

export const keepDemoSession = (session: DemoSession): void => void changeSettings({ demoSession: session });
