import { createCodecs } from '../../chains/codecs';
import { parseConfig } from '../../domain/config';
import { invoiceIn, withInvoice } from '../../domain/lightning/unified-uri';

/** The example of https://bitcoinqr.dev: with capitals, as it stands there, and in small letters. */
const invoice =
  'lnbc10u1p3pj257pp5yztkwjcz5ftl5laxkav23zmzekaw37zk6kmv80pk4xaev5qhtz7qdpdwd3xger9wd5kwm36yprx7u3qd36kucmgyp282etnv' +
  '3shjcqzpgxqyz5vqsp5usyc4lk9chsfp53kvcnvq456ganh60d89reykdngsmtj6yw3nhvq9qyyssqjcewm5cjwz4a6rfjx77c490yced6pemk0upk' +
  'xhy89cmm7sct66k8gneanwykzgdrwrfje69h9u5u0w57rrcsysas7gadwmzxc8c6t0spjazup6';
const address = 'bc1qylh3u67j673h6y6alv70m0pl2yz53tzhvxgg7u';
const texts = '&label=sbddesign%3A%20For%20lunch%20Tuesday&message=For%20lunch%20Tuesday';

it('is the URI of the address with the invoice behind it, as wallets know it', () => {
  const { bitcoin } = createCodecs(parseConfig({ BTC_NETWORK: 'mainnet', NODE_ENV: 'test' }).chain);
  const names = { label: 'sbddesign: For lunch Tuesday', message: 'For lunch Tuesday' };
  const uri = bitcoin.paymentUri(address, 'BTC', '0.00001', names);
  expect(withInvoice(uri, invoice)).toBe(`bitcoin:${address}?amount=0.00001${texts}&lightning=${invoice}`);
  expect(withInvoice(uri, null)).toBe(uri);
  expect(withInvoice(`bitcoin:${address}`, invoice)).toBe(`bitcoin:${address}?lightning=${invoice}`);
});

it('gives its invoice back, in whatever case it is written', () => {
  const capitals = `bitcoin:${address.toUpperCase()}?amount=0.00001${texts}&lightning=${invoice.toUpperCase()}`;
  for (const uri of [capitals, withInvoice(`bitcoin:${address}?amount=1`, invoice), capitals.toUpperCase()])
    expect(invoiceIn(uri)).toBe(invoice);
  for (const uri of ['', `bitcoin:${address}?amount=1`, `bitcoin:${address}`, `lightning:${invoice}`])
    expect(invoiceIn(uri)).toBeNull();
});
