import { ConfigError, parseConfig } from '../domain/config';

/** What a process is told of our Lightning node: all of it, or nothing. */

const ofReaders = {
  LIGHTNING_URL: 'https://lnd.internal:8080',
  LIGHTNING_TLS_FILE: '/run/secrets/lnd-tls',
  LIGHTNING_READ_MACAROON_FILE: '/run/secrets/lnd-read',
};
const ofTaker = {
  LIGHTNING_INVOICE_MACAROON_FILE: '/run/secrets/lnd-invoice',
  LIGHTNING_PREIMAGE_KEY: 'ab'.repeat(32),
};
const all = { ...ofReaders, ...ofTaker };
const faultsOf = (
  env: Readonly<Record<string, string>>,
  process?: 'payments' | 'chain' | 'api' | 'signer',
): string[] => {
  try {
    parseConfig(env, undefined, process);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [...error.faults];
  }
};

it('is off unless a node is set', () => {
  expect(parseConfig({}).LIGHTNING_URL).toBe('');
  expect(faultsOf({})).toEqual([]);
});

it('is taken whole: by who reads, by who takes, and by who does neither', () => {
  expect(faultsOf(ofReaders, 'payments')).toEqual([]);
  expect(faultsOf(all, 'chain')).toEqual([]);
  expect(faultsOf({ ...ofReaders, CHAIN_NETWORKS: 'ethereum' }, 'chain')).toEqual([]);
  const { LIGHTNING_URL } = ofReaders;
  for (const process of ['api', 'signer'] as const) expect(faultsOf({ LIGHTNING_URL }, process)).toEqual([]);
  // All of them, in one environment of a sandbox.
  expect(faultsOf(all)).toEqual([]);
  expect(faultsOf(ofReaders)).toEqual([]);
  const several = { ...all, LIGHTNING_PREIMAGE_KEY: `${'ab'.repeat(32)}, ${'cd'.repeat(32)}` };
  expect(faultsOf(several, 'chain')).toEqual([]);
});

it('offers payments where that is said, in each process, and a node is set', () => {
  expect(parseConfig({ LIGHTNING_URL: ofReaders.LIGHTNING_URL }, undefined, 'api').LIGHTNING_PAYMENTS).toBe(false);
  const offers = { LIGHTNING_PAYMENTS: 'true' };
  const { LIGHTNING_URL } = ofReaders;
  expect(faultsOf({ ...offers, LIGHTNING_URL }, 'api')).toEqual([]);
  expect(faultsOf(offers, 'api')).toEqual([
    'LIGHTNING_PAYMENTS offers payments by the node of LIGHTNING_URL, which is not set',
  ]);
});

it.each([...Object.keys(ofReaders), ...Object.keys(ofTaker)])('is refused without %s', (name) => {
  const faults = faultsOf({ ...all, [name]: '' }, 'chain');
  if (name !== 'LIGHTNING_URL') expect(faults).toEqual([`${name} is missing for LIGHTNING_URL`]);
  else {
    expect(faults).toHaveLength(4);
    for (const fault of faults)
      expect(fault).toMatch(/ is set, and LIGHTNING_URL, which says where the node is, is not$/);
  }
});

it.each([
  ['payments', {}],
  ['api', {}],
  ['signer', {}],
  ['chain', { CHAIN_NETWORKS: 'ethereum' }],
] as const)('gives %s with %j neither the macaroon for invoices nor the key', (process, more) => {
  expect(faultsOf({ ...all, ...more }, process)).toEqual([
    'LIGHTNING_INVOICE_MACAROON_FILE is for the chain worker of Bitcoin alone',
    'LIGHTNING_PREIMAGE_KEY is for the chain worker of Bitcoin alone',
  ]);
});

it.each([
  [{ LIGHTNING_URL: 'http://lnd:8080' }, 'LIGHTNING_URL is no https:// address'],
  [{ NETWORKS: 'ethereum' }, 'LIGHTNING_URL needs bitcoin in NETWORKS'],
  [{ BTC_NETWORK: 'testnet4' }, 'LIGHTNING_URL: there is no Lightning on BTC_NETWORK=testnet4'],
  [{ LIGHTNING_PREIMAGE_KEY: 'secret' }, 'LIGHTNING_PREIMAGE_KEY must be 64 hex digits, or several'],
  [{ LIGHTNING_PREIMAGE_KEY: `${'ab'.repeat(32)},` }, 'LIGHTNING_PREIMAGE_KEY must be 64 hex digits, or several'],
])('is refused with %j', (changed, says) => {
  const faults = faultsOf({ ...all, ...changed });
  expect(faults.join()).toContain(says);
  expect(faults.join()).not.toContain('secret');
});

describe('who pays', () => {
  const { LIGHTNING_URL, LIGHTNING_TLS_FILE } = ofReaders;
  const ofPayer = { LIGHTNING_URL, LIGHTNING_TLS_FILE, LIGHTNING_PAY_MACAROON_FILE: '/run/secrets/lnd-pay' };
  const offers = { LIGHTNING_WITHDRAWALS: 'true' };

  it('is the signer, and nobody else', () => {
    expect(faultsOf({ ...ofPayer, ...offers }, 'signer')).toEqual([]);
    for (const process of ['api', 'payments', 'chain'] as const)
      expect(faultsOf({ ...all, ...ofPayer }, process)).toContain(
        'LIGHTNING_PAY_MACAROON_FILE is for the signer alone',
      );
  });

  it('is there where withdrawals are offered', () => {
    expect(faultsOf({ ...offers, LIGHTNING_URL }, 'api')).toEqual([]);
    expect(faultsOf(offers, 'api')).toEqual([
      'LIGHTNING_WITHDRAWALS pays by the node of LIGHTNING_URL, which is not set',
    ]);
    expect(faultsOf({ ...offers, LIGHTNING_URL }, 'signer')).toEqual([
      'LIGHTNING_TLS_FILE is missing for LIGHTNING_WITHDRAWALS',
      'LIGHTNING_PAY_MACAROON_FILE is missing for LIGHTNING_WITHDRAWALS',
    ]);
  });
});
