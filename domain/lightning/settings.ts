/** The settings of our Lightning node: all that a process needs of it, or none. */

export type LightningSettings = Readonly<{
  LIGHTNING_URL: string;
  LIGHTNING_TLS_FILE: string;
  LIGHTNING_READ_MACAROON_FILE: string;
  LIGHTNING_INVOICE_MACAROON_FILE: string;
  LIGHTNING_PREIMAGE_KEY: string;
  LIGHTNING_PAY_MACAROON_FILE: string;
}>;

/** Bitcoin chains that lnd and our reader of invoices know. */
const chains: readonly string[] = ['mainnet', 'testnet', 'signet', 'regtest', 'simnet'];

/** What everybody needs who reads of the node, what the one needs beside it who takes money, and what the one who
 *  pays. */
const ofReaders = ['LIGHTNING_TLS_FILE', 'LIGHTNING_READ_MACAROON_FILE'] as const;
const ofTaker = ['LIGHTNING_INVOICE_MACAROON_FILE', 'LIGHTNING_PREIMAGE_KEY'] as const;
const ofPayer = ['LIGHTNING_TLS_FILE', 'LIGHTNING_PAY_MACAROON_FILE'] as const;

type Known = Readonly<{
  /** Networks that are on. */
  networks: readonly string[];
  /** The name of Bitcoin's chain. */
  chainName: string;
  /** Who is given the settings: a process that reads of the node; the one that takes money too; the one that pays;
   *  another; or all of them, in a sandbox. */
  process: LightningPart;
}>;
export type LightningPart = 'reader' | 'taker' | 'payer' | 'other' | 'all';

/** What is wrong with the settings, in words that name them. Keys are not repeated. */
export function lightningFaults(
  raw: LightningSettings & Readonly<{ LIGHTNING_PAYMENTS: boolean; LIGHTNING_WITHDRAWALS: boolean }>,
  { networks, chainName, process }: Known,
): string[] {
  const faults: string[] = [];
  if (!raw.LIGHTNING_URL) {
    for (const name of new Set([...ofReaders, ...ofTaker, ...ofPayer]))
      if (raw[name]) faults.push(`${name} is set, and LIGHTNING_URL, which says where the node is, is not`);
    if (raw.LIGHTNING_PAYMENTS)
      faults.push('LIGHTNING_PAYMENTS offers payments by the node of LIGHTNING_URL, which is not set');
    if (raw.LIGHTNING_WITHDRAWALS)
      faults.push('LIGHTNING_WITHDRAWALS pays by the node of LIGHTNING_URL, which is not set');
    return faults;
  }
  if (URL.parse(raw.LIGHTNING_URL)?.protocol !== 'https:') faults.push('LIGHTNING_URL is no https:// address');
  if (!networks.includes('bitcoin')) faults.push('LIGHTNING_URL needs bitcoin in NETWORKS');
  if (!chains.includes(chainName)) faults.push(`LIGHTNING_URL: there is no Lightning on BTC_NETWORK=${chainName}`);
  if (process !== 'other' && process !== 'payer')
    for (const name of ofReaders) if (!raw[name]) faults.push(`${name} is missing for LIGHTNING_URL`);
  const isKeyFit = raw.LIGHTNING_PREIMAGE_KEY.split(',').every((one) => /^[0-9a-f]{64}$/.test(one.trim()));
  if (raw.LIGHTNING_PREIMAGE_KEY && !isKeyFit)
    faults.push('LIGHTNING_PREIMAGE_KEY must be 64 hex digits, or several such keys with commas between');
  const given = ofTaker.filter((name) => raw[name]);
  if (process === 'reader' || process === 'other' || process === 'payer')
    for (const name of given) faults.push(`${name} is for the chain worker of Bitcoin alone`);
  else if (process === 'taker' || given.length)
    for (const name of ofTaker) if (!raw[name]) faults.push(`${name} is missing for LIGHTNING_URL`);
  faults.push(...payerFaults(raw, process));
  return faults;
}

function payerFaults(
  raw: LightningSettings & Readonly<{ LIGHTNING_WITHDRAWALS: boolean }>,
  process: LightningPart,
): string[] {
  const isPayer = process === 'payer' || process === 'all';
  if (!isPayer) return raw.LIGHTNING_PAY_MACAROON_FILE ? ['LIGHTNING_PAY_MACAROON_FILE is for the signer alone'] : [];
  if (!raw.LIGHTNING_WITHDRAWALS && !raw.LIGHTNING_PAY_MACAROON_FILE) return [];
  return ofPayer.flatMap((name) => (raw[name] ? [] : [`${name} is missing for LIGHTNING_WITHDRAWALS`]));
}
