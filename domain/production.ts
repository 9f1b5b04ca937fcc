import ipaddr from 'ipaddr.js';
import { normaliseRange } from './access/ip-range';
import type { Mode } from './mode';
import {
  evmNetworks,
  namedNetworks,
  networks,
  type EvmPrefix,
  type ExpiringPrefix,
  type UtxoPrefix,
} from './chains/assets';
import { keysIn } from './secrets-key';

/** Settings with which a service must not run in production, and what is wrong with them. */

/** The settings that are looked at; those of the schema have all of them. */
export type Refusable = Readonly<{
  MODE: Mode;
  SECRETS_KEY: string;
  CHECKOUT_IPS: string;
  RATE_QUORUM: number;
  RATE_EXCHANGES: string;
  RATE_MAX_AGE_SECONDS: number;
  SMTP_URL: string;
  TEMPORAL_API_KEY: string;
  TEMPORAL_TLS: boolean;
  OTEL_EXPORTER_OTLP_ENDPOINT: string;
  TRON_FINAL_RPC_URL: string;
}> &
  Readonly<
    Record<`${UtxoPrefix | ExpiringPrefix}_NETWORK` | `${UtxoPrefix | EvmPrefix | ExpiringPrefix}_RPC_URL`, string>
  > &
  Readonly<Record<`${EvmPrefix}_CHAIN_ID`, number>>;

const widest = 16;
const maxRateAgeSeconds = 900;
const liveChain = 'mainnet';

const list = (value: string): string[] =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);

const isAddress = (text: string): boolean =>
  ipaddr.IPv4.isValidFourPartDecimal(text) || (ipaddr.IPv6.isValid(text) && !text.includes('%'));

/** Who comes from a listed address names the payer: a wide range lets anybody name one. */
function faultOfRange(entry: string): string | null {
  const [address, bits = null, ...rest] = entry.split('/');
  const width = address!.includes(':') ? 128 : 32;
  if (rest.length || !isAddress(address!) || (bits !== null && (!/^\d{1,3}$/.test(bits) || parseInt(bits, 10) > width)))
    return 'is no address or range';
  const normal = normaliseRange(entry);
  if (normal === null) return `is wider than /${widest}`;
  const [start, prefix] = normal.split('/');
  if (prefix === undefined) return null;
  // Every IPv4 address has a spelling in ::/96.
  const holdsAllOfV4 = start === '::' && parseInt(prefix, 10) <= 96;
  return parseInt(prefix, 10) < widest || holdsAllOfV4 ? `is wider than /${widest}` : null;
}

/** Whether packets to this host may leave the operator's own networks. A name without a dot is one of those. */
function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isAddress(host))
    return !['private', 'loopback', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'].includes(
      ipaddr.process(host).range(),
    );
  return host.includes('.') && !/\.(internal|local|localhost)$/.test(host);
}

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || (isAddress(hostname) && ipaddr.process(hostname).range() === 'loopback');

function faultOfMail(value: string): string | null {
  const url = URL.parse(value);
  if (url?.protocol === 'smtps:') return null;
  if (url?.protocol !== 'smtp:') return 'is no smtp:// or smtps:// address';
  if (url.searchParams.get('requireTLS') === 'true' || isLoopback(url.hostname)) return null;
  return 'sends mail without TLS: use smtps://, or smtp:// with ?requireTLS=true';
}

export function faultOfNode(value: string): string | null {
  const url = URL.parse(value);
  if (url?.protocol === 'https:') return null;
  if (url?.protocol !== 'http:') return 'is no http:// or https:// address';
  return isPublicHost(url.hostname) ? 'is plain http to a public address: use https://' : null;
}

function testChainsIn(raw: Refusable): string[] {
  const settings = namedNetworks().map(({ settings: { prefix } }) => `${prefix}_NETWORK` as const);
  return [
    ...settings.filter((name) => raw[name] !== liveChain).map((name) => `${name}=${raw[name]}`),
    ...evmNetworks().flatMap(({ settings: { prefix }, chainId }) => {
      const id = raw[`${prefix}_CHAIN_ID`];
      return id === chainId ? [] : [`${prefix}_CHAIN_ID=${id}`];
    }),
  ].map((setting) => `${setting} is a test chain: a live service knows live ones`);
}

/** Everything that production refuses, in words that name the setting. */
export function refusalsOf(raw: Refusable): string[] {
  const faults: string[] = [];
  if (keysIn(raw.SECRETS_KEY).some((one) => /^(.)\1+$/.test(one)))
    faults.push('SECRETS_KEY is one digit, repeated: use openssl rand -hex 32');
  for (const entry of list(raw.CHECKOUT_IPS)) {
    const fault = faultOfRange(entry);
    if (fault) faults.push(`CHECKOUT_IPS: '${entry}' ${fault}`);
  }
  if (raw.MODE === 'live') faults.push(...testChainsIn(raw));
  if (raw.RATE_QUORUM < 2) faults.push('RATE_QUORUM must be 2 or more: one source could price everything');
  else if (new Set(list(raw.RATE_EXCHANGES)).size < raw.RATE_QUORUM)
    faults.push('RATE_EXCHANGES names fewer exchanges than RATE_QUORUM');
  if (raw.RATE_MAX_AGE_SECONDS > maxRateAgeSeconds)
    faults.push(`RATE_MAX_AGE_SECONDS must be ${maxRateAgeSeconds} or less`);
  const ofMail = faultOfMail(raw.SMTP_URL);
  if (ofMail) faults.push(`SMTP_URL ${ofMail}`);
  for (const name of Object.values(networks).map(({ settings: { prefix } }) => `${prefix}_RPC_URL` as const)) {
    const fault = faultOfNode(raw[name]);
    if (fault) faults.push(`${name} ${fault}`);
  }
  const ofFinal = raw.TRON_FINAL_RPC_URL && faultOfNode(raw.TRON_FINAL_RPC_URL);
  if (ofFinal) faults.push(`TRON_FINAL_RPC_URL ${ofFinal}`);
  const ofCollector = raw.OTEL_EXPORTER_OTLP_ENDPOINT && faultOfNode(raw.OTEL_EXPORTER_OTLP_ENDPOINT);
  if (ofCollector) faults.push(`OTEL_EXPORTER_OTLP_ENDPOINT ${ofCollector}`);
  if (raw.TEMPORAL_API_KEY && !raw.TEMPORAL_TLS)
    faults.push('TEMPORAL_API_KEY would be sent without TLS: set TEMPORAL_TLS=true');
  return faults;
}
