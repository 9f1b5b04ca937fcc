import { readFileSync } from 'node:fs';
import { X509Certificate } from 'node:crypto';
import type { BitcoinNetwork } from './invoice';
import type { LndLogin } from './http';
import { lndHistory, type LndHistory } from './history';
import { lndInvoices, type LndInvoices } from './invoices';
import { rightsIn } from './macaroon';
import { lndPayments, type LndPayments } from './payments';
import { preimageKeysIn, type PreimageKeys } from './preimage';
import { lndReadings, type LndReadings } from './readings';
import type { ChainSettings } from '../../domain/chains/assets';
import type { LightningSettings } from '../../domain/lightning/settings';

/** Our Lightning node by the settings. The files are read once, at the start; what is wrong with one of them keeps the
 *  process from starting, in words that name it. See docs/operations/lightning.md. */

export type LightningConfig = LightningSettings & Readonly<{ chain: Pick<ChainSettings, 'chainNames'> }>;

/** Rights of the macaroons, exactly: one that may more is refused, so that the signer alone can pay. */
export const macaroonRights = {
  LIGHTNING_READ_MACAROON_FILE: ['info:read', 'invoices:read', 'offchain:read', 'onchain:read'],
  LIGHTNING_INVOICE_MACAROON_FILE: ['invoices:read', 'invoices:write'],
  LIGHTNING_PAY_MACAROON_FILE: ['info:read', 'offchain:read', 'offchain:write'],
} as const;
export type MacaroonSetting = keyof typeof macaroonRights;

function fileOf(name: keyof LightningSettings, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
  }
}

function certificateOf({ LIGHTNING_TLS_FILE: path }: LightningConfig): string {
  const text = fileOf('LIGHTNING_TLS_FILE', path).toString('utf8');
  try {
    new X509Certificate(text);
  } catch (error) {
    throw new Error(`LIGHTNING_TLS_FILE: ${path} is no certificate in PEM`, { cause: error });
  }
  return text;
}

/** Hex of what the file holds: lnd writes bytes, `lncli bakemacaroon` prints hex. */
function macaroonOf(config: LightningConfig, name: MacaroonSetting): string {
  const bytes = fileOf(name, config[name]);
  const text = bytes.toString('latin1').trim();
  const macaroon = /^([0-9a-f]{2})+$/i.test(text) ? text.toLowerCase() : bytes.toString('hex');
  const [wanted, has] = [macaroonRights[name] as readonly string[], rightsOf(name, macaroon)];
  const [missing, more] = [wanted.filter((one) => !has.includes(one)), has.filter((one) => !wanted.includes(one))];
  if (more.length) throw new Error(`${name} may ${more.join(', ')}, which nobody here must: ${bake(wanted)}`);
  if (missing.length) throw new Error(`${name} lacks ${missing.join(', ')}: ${bake(wanted)}`);
  return macaroon;
}

function rightsOf(name: MacaroonSetting, macaroon: string): string[] {
  try {
    return rightsIn(macaroon);
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
  }
}

const bake = (rights: readonly string[]): string => `make one by lncli bakemacaroon ${rights.join(' ')}`;

const loginOf = (config: LightningConfig, name: MacaroonSetting): LndLogin => ({
  url: config.LIGHTNING_URL,
  certificate: certificateOf(config),
  macaroon: macaroonOf(config, name),
});
/** The settings are refused where this would be no network of Lightning. */
const networkOf = ({ chain }: LightningConfig): BitcoinNetwork => chain.chainNames.bitcoin as BitcoinNetwork;

/** What reads and nothing else: of the node, of its invoices, and of what it has paid. */
export type LightningReader = LndReadings &
  LndHistory &
  Pick<LndInvoices, 'lookUp' | 'pending'> &
  Pick<LndPayments, 'track'>;

/** For who holds books and node against each other; undefined: there is no node. Throws where a file is not as it
 *  must be. */
export function lightningReader(config: LightningConfig): LightningReader | undefined {
  if (!config.LIGHTNING_URL) return undefined;
  const login = loginOf(config, 'LIGHTNING_READ_MACAROON_FILE');
  const { lookUp, pending } = lndInvoices(login, networkOf(config));
  const { track } = lndPayments(login);
  return { ...lndReadings(login, networkOf(config)), ...lndHistory(login), lookUp, pending, track };
}

/** For the one process that makes invoices and takes their money; undefined: it is another one, or there is no node.
 *  Throws where a file is not as it must be. */
export function lightningTaker(
  config: LightningConfig,
): Readonly<{ invoices: LndInvoices; readings: LightningReader; keys: PreimageKeys }> | undefined {
  if (!config.LIGHTNING_INVOICE_MACAROON_FILE) return undefined;
  const readings = lightningReader(config);
  if (!readings) return undefined;
  const invoices = lndInvoices(loginOf(config, 'LIGHTNING_INVOICE_MACAROON_FILE'), networkOf(config));
  return { invoices, readings, keys: preimageKeysIn(config.LIGHTNING_PREIMAGE_KEY) };
}

/** For the signer, which alone pays; undefined: it has no macaroon for it. Throws where a file is not as it must be. */
export function lightningPayer(
  config: LightningConfig,
): Readonly<{ payments: LndPayments; readings: Pick<LndReadings, 'info'>; network: BitcoinNetwork }> | undefined {
  if (!config.LIGHTNING_URL || !config.LIGHTNING_PAY_MACAROON_FILE) return undefined;
  const login = loginOf(config, 'LIGHTNING_PAY_MACAROON_FILE');
  const network = networkOf(config);
  return { payments: lndPayments(login), readings: lndReadings(login, network), network };
}

/** Asks the node something by one of the macaroons: whether it may what it is for and nothing else, and whether the
 *  node knows it. Throws where the file is not as it must be, and NODE_UNREACHABLE. */
export async function tryMacaroon(config: LightningConfig, name: MacaroonSetting): Promise<void> {
  const login = loginOf(config, name);
  if (name === 'LIGHTNING_INVOICE_MACAROON_FILE') await lndInvoices(login, networkOf(config)).pending().next();
  else await lndReadings(login, networkOf(config)).info();
}
