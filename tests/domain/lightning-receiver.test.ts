import {
  checkPayable,
  lightningAddressIn,
  readLightningReceiver,
  wayFee,
  type PayableInvoice,
} from '../../domain/lightning/receiver';

/** Who is paid by Lightning: what is refused before anything is held. */

const key = '02'.padEnd(66, 'c');
const ownKey = '03'.padEnd(66, 'd');
const now = new Date('2026-01-01T00:00:00Z');
const invoice: PayableInvoice = {
  ...{ network: 'regtest', amountMsat: 20_000_000n, hash: 'ab'.repeat(32), payee: key, descriptionHash: null },
  ...{ expiresAt: now.getTime() / 1000 + 600, cltvBlocks: 18 },
};
const check = (over: Partial<PayableInvoice> = {}, net = '0.0002'): void =>
  checkPayable({ ...invoice, ...over }, { net, network: 'regtest', ownKey, now });

it.each([key, key.toUpperCase(), ` ${key}@node.example:9735`])('reads the node %s', (text) => {
  expect(readLightningReceiver(text)).toBe(key);
});

it.each(['', key.slice(1), `05${key.slice(2)}`, 'lnbc1pvjluez', 'me@wallet', 'a b@wallet.example', `${key} and more`])(
  'takes %j for nobody who can be listed',
  (text) => {
    expect(() => readLightningReceiver(text)).toThrow('Neither a Lightning address nor the public key of a node');
  },
);

it('reads Lightning addresses in one spelling', () => {
  expect(readLightningReceiver(' Me.Too+1@Wallet.Example ')).toBe('me.too+1@wallet.example');
  expect(lightningAddressIn('me@wallet.example:8443')).toBeNull();
  expect(lightningAddressIn('me@wallet.example/evil')).toBeNull();
});

it('pays an invoice of another node, of exactly what is to arrive', () => {
  expect(() => check()).not.toThrow();
  expect(() => check({ expiresAt: now.getTime() / 1000 + 8 * 86_400, cltvBlocks: 288 })).not.toThrow();
});

it.each([
  [{ network: 'mainnet' }, 'is of mainnet, and money here is of regtest'],
  [{ payee: ownKey }, 'belongs to this service itself'],
  [{ expiresAt: now.getTime() / 1000 + 60 }, 'expires too soon'],
  [{ expiresAt: now.getTime() / 1000 + 8 * 86_400 + 1 }, 'lasts for more than 8 days'],
  [{ expiresAt: Number.MAX_SAFE_INTEGER }, 'lasts for more than 8 days'],
  [{ cltvBlocks: 289 }, 'asks for 289 blocks'],
  [{ cltvBlocks: 2012 }, 'asks for 2012 blocks'],
  [{ cltvBlocks: 65_554 }, 'asks for 65554 blocks'],
  [{ amountMsat: null }, 'names no amount'],
  [{ amountMsat: 20_000_500n }, 'asks for a part of a satoshi'],
  [{ amountMsat: 30_000_000n }, 'The invoice asks for 0.0003 BTC, and 0.0002 BTC would be sent'],
] as const)('refuses %j', (over, why) => {
  expect(() => check(over)).toThrow(why);
});

it.each([
  ['0.0002', '0.000001'],
  ['1', '0.005'],
  ['0.00000101', '0.0000001'],
  ['0.00300001', '0.00001501'],
])('lets the way of %s BTC take %s at the most', (amount, most) => {
  expect(wayFee(amount)).toBe(most);
});
