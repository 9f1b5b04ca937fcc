import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rightsIn } from '../../chains/lightning/macaroon';
import { lightningPayer, lightningReader, lightningTaker, type LightningConfig } from '../../chains/lightning/node';
import { ownCertificate } from '../../sandbox/parts/own-certificate';
import { invoiceMacaroon, macaroonFor, payMacaroon, readMacaroon } from './macaroon-writer';

/** The files of a Lightning node: what a macaroon may do, and what keeps a process from starting. What lnd bakes is
 *  read in lightning.test.ts. */

describe('the rights of a macaroon', () => {
  it('are those of its identifier, with caveats or without', () => {
    expect(rightsIn(invoiceMacaroon)).toEqual(['invoices:read', 'invoices:write']);
    expect(rightsIn(macaroonFor({ invoices: ['read'] }, 'time-before 2030-01-01'))).toEqual(['invoices:read']);
    const admin = Object.fromEntries(
      ['address', 'info', 'invoices', 'macaroon', 'message', 'offchain', 'onchain', 'peers', 'signer'].map((one) => [
        one,
        ['read', 'write'],
      ]),
    );
    expect(rightsIn(macaroonFor(admin))).toHaveLength(18);
    expect(rightsIn(macaroonFor({ uri: ['/routerrpc.Router/SendPaymentV2'] }))).toEqual([
      'uri:/routerrpc.Router/SendPaymentV2',
    ]);
  });

  it.each([
    ['', 'it ends too early'],
    ['ff', 'it is of another version than 2'],
    ['0200', 'it has no identifier'],
    ['02020102', 'its identifier is of another version than 3'],
    ['0202030308', 'it ends too early'],
    ['0202020308', 'its identifier has a field of another kind'],
    ['0202ffffffff7f', 'a length in it is too great'],
    [readMacaroon.slice(0, 80), 'it ends too early'],
  ])('case %#: what is none has none', (macaroon, why) => {
    expect(() => rightsIn(macaroon)).toThrow(`This is no macaroon of lnd: ${why}`);
  });
});

describe('the files of a node', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lightning-files-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');
  const config: LightningConfig = {
    LIGHTNING_URL: 'https://127.0.0.1:8080',
    LIGHTNING_TLS_FILE: file('tls.cert', ownCertificate().certificate),
    LIGHTNING_READ_MACAROON_FILE: file('read', bytes(readMacaroon)),
    LIGHTNING_INVOICE_MACAROON_FILE: file('invoice', `${invoiceMacaroon.toUpperCase()}\n`),
    LIGHTNING_PREIMAGE_KEY: '11'.repeat(32),
    LIGHTNING_PAY_MACAROON_FILE: file('pay', payMacaroon),
    chain: { chainNames: { bitcoin: 'regtest' } },
  };

  it('make one that reads, and one that takes; without a node there is neither', () => {
    expect(Object.keys(lightningReader(config)!)).not.toContain('settle');
    expect(lightningTaker(config)).toMatchObject({ keys: ['11'.repeat(32)] });
    expect(lightningReader({ ...config, LIGHTNING_URL: '' })).toBeUndefined();
    expect(lightningTaker({ ...config, LIGHTNING_URL: '' })).toBeUndefined();
    const reads = { LIGHTNING_INVOICE_MACAROON_FILE: '', LIGHTNING_PREIMAGE_KEY: '' };
    expect(lightningTaker({ ...config, ...reads })).toBeUndefined();
    // A chain worker of another network is given no files.
    const none = { LIGHTNING_TLS_FILE: '', LIGHTNING_READ_MACAROON_FILE: '' };
    expect(lightningTaker({ ...config, ...reads, ...none })).toBeUndefined();
  });

  it('make one that pays, for the process that has the macaroon', () => {
    expect(Object.keys(lightningPayer(config)!.payments)).toEqual(['track', 'pay']);
    expect(lightningPayer({ ...config, LIGHTNING_PAY_MACAROON_FILE: '' })).toBeUndefined();
    const wrong = { ...config, LIGHTNING_PAY_MACAROON_FILE: file('wrong-pay', macaroonFor({ onchain: ['write'] })) };
    expect(() => lightningPayer(wrong)).toThrow(/^LIGHTNING_PAY_MACAROON_FILE may onchain:write, which nobody here/);
  });

  const paying = macaroonFor({ invoices: ['read', 'write'], offchain: ['read', 'write'] });
  it.each([
    ['LIGHTNING_INVOICE_MACAROON_FILE', paying, 'may offchain:read, offchain:write, which nobody here must'],
    ['LIGHTNING_INVOICE_MACAROON_FILE', macaroonFor({ invoices: ['read'] }), 'lacks invoices:write'],
    ['LIGHTNING_READ_MACAROON_FILE', invoiceMacaroon, 'may invoices:write, which nobody here must'],
    ['LIGHTNING_READ_MACAROON_FILE', macaroonFor({ info: ['read'] }), 'lacks invoices:read, offchain:read'],
    ['LIGHTNING_READ_MACAROON_FILE', '00', 'This is no macaroon of lnd'],
  ] as const)('case %#: %s is refused', (name, macaroon, why) => {
    const wrong = { ...config, [name]: file('wrong', bytes(macaroon)) };
    expect(() => lightningTaker(wrong)).toThrow(name);
    expect(() => lightningTaker(wrong)).toThrow(why);
  });

  it('are named where they are missing, or no certificate', () => {
    const missing = { ...config, LIGHTNING_READ_MACAROON_FILE: join(folder, 'nothing') };
    expect(() => lightningReader(missing)).toThrow(/^LIGHTNING_READ_MACAROON_FILE: ENOENT.*nothing/);
    const wrong = { ...config, LIGHTNING_TLS_FILE: file('key.pem', 'no certificate') };
    expect(() => lightningReader(wrong)).toThrow(/^LIGHTNING_TLS_FILE: .*key\.pem is no certificate in PEM$/);
  });
});
