import { lightningReceiver, validateBatch, type PayoutTerms } from '../../domain/payouts/payout';
import { swapMessages } from '../../domain/conversions/swap';
import { notNow, tooLittle, tooMuch } from '../../domain/conversions/conversion';
import { failureOf } from '../../txmanager/kinds/failure';
import { unlisted } from '../../txmanager/kinds/withdrawal';
import { notPaid } from '../../txmanager/lightning/pay';
import { nothingLeft, unpaidGas } from '../../txmanager/charge-gas';
import { ownAddress, readAddress } from '../../domain/chains/address';
import { waitMessages } from '../../domain/txmanager/waits';
import type { NetworkId } from '../../domain/chains/assets';
import { createCodec } from '../../chains/codecs';
import { xrplCodec } from '../../chains/xrpl/codec';
import { parseConfig } from '../../domain/config';
import type { Destination } from '../../domain/chains/tags';
import { checkPayable, type PayableInvoice } from '../../domain/lightning/receiver';
import { sentence } from '../../web/dashboard/texts/sentences-de';
import { xrplChains } from '../chain/expiring-networks';

/** What the API says of rows and records in English reaches no German page as it is. */

const terms: PayoutTerms = {
  byLightning: false,
  priceOf: (currency) => (currency === 'BTC' ? undefined : { unitPrice: '2000000000', nativeRate: '3200.5' }),
  normalise: (_asset, address) => (address === 'nowhere' ? null : address),
  receiverOf: (_asset, given) => given,
  refusalOf: () => null,
  isListed: (_currency, address) => address !== 'stranger',
  balances: {},
  coins: {},
};
const bad = [
  { currency: 'DOGE2', address: 'a', amount: '1' },
  { currency: 'ETH', address: 'nowhere', amount: '1' },
  { currency: 'ETH', address: 'a', amount: ' 1' },
  { currency: 'ETH', address: 'a', amount: '1e3' },
  { currency: 'ETH', address: 'a', amount: '0' },
  { currency: 'ETH', address: 'a', amount: '0.000000000000000001' },
  { currency: 'ETH', address: 'stranger', amount: '1' },
  { currency: 'ETH', address: 'a', amount: '1', destinationTag: '7' },
  { currency: 'BTC', address: 'a', amount: '1' },
  { currency: 'XRP', address: 'a', amount: '1', destinationTag: 'x' },
];
const badAddresses = [
  'nonsense',
  `0x${'0'.repeat(40)}`,
  'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  'alice@wallet.example',
];
/** What is told of an address that its network does not have. */
function refusedAs(network: NetworkId, address: string): string {
  try {
    return readAddress({ network, normalise: () => null, refusalOf: () => null }, address);
  } catch (error) {
    return (error as Error).message;
  }
}
/** What is told of a spelling that a network has, and nobody is to give. */
const hexadecimal = createCodec('tron', parseConfig({ TRON_NETWORK: 'simulator' }).chain).refusalOf(
  `41${'0'.repeat(40)}`,
)!;
/** What is told of an address that has its tag in it. */
function packedAs(of: keyof typeof xrplChains, packed: Destination, beside?: string): string {
  const codec = xrplCodec(xrplChains[of]);
  try {
    codec.readDestination(xrplCodec(xrplChains.simulator).xAddress(packed), beside);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('It is taken');
}
const account = { address: 'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59' };
const english = [
  packedAs('simulator', { ...account, tag: '1' }, '2'),
  packedAs('simulator', account, '2'),
  packedAs('simulator', account, '4294967296'),
  packedAs('simulator', { address: 'rrrrrrrrrrrrrrrrrrrrrhoLvTp' }),
  packedAs('mainnet', account),
  ...(['bitcoin', 'ethereum'] as const).flatMap((network) => badAddresses.map((one) => refusedAs(network, one))),
  hexadecimal,
  ownAddress,
  lightningReceiver({ address: 'lnbc1' }) as string,
  ...validateBatch(bad, terms).rows.flatMap(({ error }) => error ?? []),
  ...validateBatch(bad, terms).reasons.map(({ message }) => message),
  ...validateBatch([], terms).reasons.map(({ message }) => message),
  ...Object.values(swapMessages),
  ...Object.values(waitMessages),
  ...[notNow, tooLittle('ETH', '0.1').message, tooMuch('ETH', '9').message],
  ...[
    failureOf({ is_replacement: true, decision: null }),
    failureOf({ is_replacement: false, decision: null }),
    failureOf({ is_replacement: false, decision: 'failed' }),
    notPaid,
    unlisted,
    unpaidGas,
    nothingLeft,
  ],
];

it('finds a refusal of each row', () => {
  expect(validateBatch(bad, terms).rows.filter(({ error }) => error === null)).toEqual([]);
});

it.each([...new Set(english)])('is said in German: %s', (message) => {
  expect(sentence(message)).not.toBe(message);
  expect(sentence(message)).not.toMatch(/\b(the|is|not|cannot|and|at|of)\b/);
});

it('says in German which invoices are not paid', () => {
  const now = new Date('2026-01-01T00:00:00Z');
  const invoice = {
    ...{ network: 'regtest', amountMsat: 20_000_000n, hash: 'ab'.repeat(32), payee: 'theirs', descriptionHash: null },
    ...{ expiresAt: now.getTime() / 1000 + 600, cltvBlocks: 18 },
  };
  const refusals: readonly Partial<PayableInvoice>[] = [
    ...[{ network: 'mainnet' }, { payee: 'ours' }, { expiresAt: 0 }, { expiresAt: 1e13 }, { cltvBlocks: 2013 }],
    ...[{ amountMsat: null }, { amountMsat: 20_000_500n }, { amountMsat: 30_000_000n }],
  ];
  for (const over of refusals) {
    const terms = { net: '0.0002', network: 'regtest', ownKey: 'ours', now };
    let message = 'taken';
    try {
      checkPayable({ ...invoice, ...over }, terms);
    } catch (error) {
      ({ message } = error as Error);
    }
    expect([message, sentence(message)]).toEqual([
      expect.stringMatching(/nvoice|service/),
      expect.not.stringMatching(message.slice(0, 12)),
    ]);
  }
});

it('keeps amounts and currencies, and what it does not know', () => {
  expect(sentence('After the network fee of 0.1 less than 0.2 is left')).toBe(
    'Nach der Netzwerkgebühr von 0.1 bleibt weniger als 0.2 übrig.',
  );
  expect(sentence('Something else')).toBe('Something else');
});
