import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseConfig } from '../domain/config';
import { dashboardLink } from '../domain/mail/mail';
import { chainsOf } from './chain-tools';
import { payerNodeOf, type PayerNode } from './lightning-payer';
import type { LocalCoins } from './miner';
import { root, sandboxFolder } from './paths';
import type { Stack } from './stack';

/** The demo merchant, with everything one needs to act as it. */
export type DemoMerchant = Readonly<{
  id: string;
  email: string;
  password: string;
  totpSecret: string;
  secretKey: string;
  publishableKey: string;
  ipnSecret: string;
  /** On the pages of its shop. */
  widgets: ReadonlyArray<Readonly<{ id: string; title: string }>>;
}>;

/** `.data/sandbox.json`: where everything is and how to get in, for people, scripts and `npm run pay`. */
export type SandboxFile = Readonly<{
  /** The checkout that it runs from. */
  root: string;
  apiUrl: string;
  checkoutUrl: string;
  /** A page of the demo merchant with its widgets. */
  shopUrl: string;
  docsUrl: string;
  dashboardUrl: string;
  /** The dashboard with the demo login filled in: works in a sandbox alone. */
  demoLoginUrl: string;
  temporalUiUrl: string;
  /** Of the API. */
  metricsUrl: string;
  mailUrl: string;
  /** Of the swap provider; its faults are scripted there. */
  swapUrl: string | null;
  ethRpcUrl: string;
  /** With user and password in it. */
  btcRpcUrl: string;
  /** Of other UTXO networks that were asked for, by ticker. */
  coins: Readonly<Record<string, LocalCoins>>;
  /** Of other EVM networks that were asked for, by the ticker of the native coin. */
  evm: Readonly<Record<string, string>>;
  /** Of simulators that were asked for, by the ticker of the native coin. */
  simulators: Readonly<Record<string, string>>;
  /** The service's Lightning node, and a payer's; null: not asked for. */
  lightning: Readonly<{
    url: string;
    /** Of the chain worker. */
    invoiceMacaroonFile: string;
    payer: PayerNode;
  }> | null;
  databaseUrl: string;
  /** What its processes are configured with, without the keys. */
  settings: Readonly<Record<string, string>>;
  merchant: DemoMerchant;
}>;

const fileOf = (dataDir: string): string => join(dataDir, 'sandbox.json');

/** The file of the sandbox in `dataDir`; throws with one clear line where there is none. */
export function readSandboxFile(dataDir = sandboxFolder): SandboxFile {
  try {
    return JSON.parse(readFileSync(fileOf(dataDir), 'utf8')) as SandboxFile;
  } catch {
    throw new Error(`${fileOf(dataDir)} is missing: start the sandbox with npm start`);
  }
}

/** In the fragment, which is sent to no server. */
const demoLogin = (dashboardUrl: string, { email, password, totpSecret }: DemoMerchant): string =>
  dashboardLink({ dashboardUrl }, '/sign-in', { email, password, totp: totpSecret });

function lightningIn({ lightning }: Stack): SandboxFile['lightning'] {
  if (!lightning) return null;
  const { ours, settings } = lightning;
  return {
    url: ours.url,
    invoiceMacaroonFile: settings.LIGHTNING_INVOICE_MACAROON_FILE!,
    payer: payerNodeOf(lightning),
  };
}

export function writeSandboxFile(stack: Stack, merchant: DemoMerchant, shopUrl: string): SandboxFile {
  const { ethRpcUrl, btcRpcUrl, coins = {}, evm = {}, simulators = {} } = chainsOf(stack);
  const { DASHBOARD_URL: dashboardUrl } = parseConfig(stack.env);
  const { SECRETS_KEY: _, LIGHTNING_PREIMAGE_KEY: __, LIGHTNING_INVOICE_MACAROON_FILE: ___, ...settings } = stack.env;
  const file: SandboxFile = {
    root,
    apiUrl: stack.apiUrl,
    checkoutUrl: stack.checkoutUrl,
    shopUrl,
    docsUrl: `${stack.apiUrl}/docs`,
    dashboardUrl,
    demoLoginUrl: demoLogin(dashboardUrl, merchant),
    temporalUiUrl: stack.temporal.uiUrl,
    metricsUrl: stack.metricsUrl,
    mailUrl: stack.mail.url,
    swapUrl: stack.swap?.url ?? null,
    ethRpcUrl,
    btcRpcUrl,
    coins,
    evm,
    simulators,
    lightning: lightningIn(stack),
    databaseUrl: stack.postgres.url,
    settings,
    merchant,
  };
  const place = fileOf(stack.dataDir);
  writeFileSync(`${place}.new`, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${place}.new`, place);
  return file;
}
