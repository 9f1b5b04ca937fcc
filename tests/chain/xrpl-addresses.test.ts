import fc from 'fast-check';
import { mnemonicToSeedSync } from '@scure/bip39';
import { encodeAccountID, isValidXAddress } from 'ripple-address-codec';
import { deriveAddress } from 'ripple-keypairs';
import { xrplCodec } from '../../chains/xrpl/codec';
import { xrplChains } from './expiring-networks';

/** Accounts, classic addresses and X-addresses. Vectors: ripple-address-codec, test/index.test.ts (of the X-address
 *  standard, XLS-5), and xrpl.js, test/wallet/index.test.ts. */

const main = xrplCodec(xrplChains.mainnet);
const test = xrplCodec(xrplChains.testnet);

const pepper = 'rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY';
const vectors: ReadonlyArray<[classic: string, tag: string | null, main: string, test: string]> = [
  [
    'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59',
    null,
    'X7AcgcsBL6XDcUb289X4mJ8djcdyKaB5hJDWMArnXr61cqZ',
    'T719a5UwUCnEs54UsxG9CJYYDhwmFCqkr7wxCcNcfZ6p5GZ',
  ],
  [
    'r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59',
    '1',
    'X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE92ehJ2Fu',
    'T719a5UwUCnEs54UsxG9CJYYDhwmFCvbJNZbi37gBGkRkbE',
  ],
  [
    'rsA2LpzuawewSBQXkiju3YQTMzW13pAAdW',
    '23480',
    'X7d3eHCXzwBeWrZec1yT24iZerQjYL8m8zCJ16ACxu1BrBY',
    'T7YChPFWifjCAXLEtg5N74c7fSAYsvSokwcmBPBUZWhxH5P',
  ],
  [
    'rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf',
    '0',
    'XVLhHMPHU98es4dbozjVtdWzVrDjtV8AqEL4xcZj5whKbmc',
    'TVE26TYGhfLC7tQDno7G8dGtxSkYQnSy8RHqGHoGJ59spi2',
  ],
  [
    'rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf',
    '4294967294',
    'XVLhHMPHU98es4dbozjVtdWzVrDjtV1kAsixQTdMjbWi39u',
    'TVE26TYGhfLC7tQDno7G8dGtxSkYQnX8tDFQ53itLNqs6vU',
  ],
  [
    'rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf',
    '4294967295',
    'XVLhHMPHU98es4dbozjVtdWzVrDjtV18pX8yuPT7y4xaEHi',
    'TVE26TYGhfLC7tQDno7G8dGtxSkYQnXoy6kSDh6rZzApc69',
  ],
  [
    pepper,
    '13371337',
    'XV5sbjUmgPpvXv4ixFWZ5ptAYZ6PD2qwGkhgc48zzcx6Gkr',
    'TVd2rqMkYL2AyS97NdELcpeiprNBjwVUDvp3vhpXbNhLwJi',
  ],
];

it.each(vectors)('reads and writes the X-addresses of %s with the tag %s', (address, tag, onMain, onTest) => {
  const destination = tag === null ? { address } : { address, tag };
  expect(main.xAddress(destination)).toBe(onMain);
  expect(test.xAddress(destination)).toBe(onTest);
  expect(main.readDestination(onMain)).toEqual(destination);
  expect(test.readDestination(onTest)).toEqual(destination);
  expect(() => main.readDestination(onTest)).toThrow('is of a test network, and this is the main network');
  expect(() => test.readDestination(onMain)).toThrow('is of the main network, and this is a test network');
  if (tag !== null) expect(main.readDestination(onMain, `00${tag}`.slice(-10))).toEqual(destination);
});

it('derives the account that other wallets derive, of private and of public keys alike', () => {
  const seed = mnemonicToSeedSync('assault rare scout seed design extend noble drink talk control guitar quote');
  // The public key at m/44'/144'/0'/0/0.
  const address = deriveAddress('035953FCD81D001CF634EB44A87940F3F98ADF2483D09C914BAED0539BE50F385D');
  expect(address).toBe('rJUr92pXcNtH6PtFfbRhHCo469XmPrbTJU');
  const xpub = main.extendedKey(seed, 'deposit');
  expect(main.derive(xpub, 0)).toBe(address);
  expect(main.derive(main.extendedKey(seed, 'treasury'), 0)).not.toBe(address);
  expect(main.derive(xpub, 0, 1)).not.toBe(address);
});

it('refuses an X-address whose tag is another than the one beside it', () => {
  const [, , withOne] = vectors[1]!;
  const [, , without] = vectors[0]!;
  expect(main.readDestination(withOne, '1')).toEqual({ address: vectors[1]![0], tag: '1' });
  expect(() => main.readDestination(withOne, '2')).toThrow('has the tag 1 in it, and 2 was given beside it');
  expect(() => main.readDestination(without, '2')).toThrow('says that its receiver has no tag');
});

it('takes tags of 32 bits alone, in one spelling', () => {
  expect(main.readDestination(pepper, '007')).toEqual({ address: pepper, tag: '7' });
  for (const tag of ['4294967296', '-1', '1.0', '', ' 1', '0x1', '1e3', '99999999999'])
    expect(() => main.readDestination(pepper, tag)).toThrow('A destination tag of XRP is a whole number');
});

it('refuses what is mistyped, what is of no account, and what nobody has the key of', () => {
  const wrong = [
    pepper.replace('P', 'p'),
    pepper.slice(0, -1),
    `${pepper} `,
    pepper.toLowerCase(),
    'XVLhHMPHU98es4dbozjVtdWzVrDjtV5fdx1mHp98tDMoQXa', // checksum
    'dGzKGt8CVpWoa8aWL1k18tAdy9Won3PxynvbbpkAqp3V47g', // prefix
    'XVLhHMPHU98es4dbozjVtdWzVrDjtV18pX8zeUygYrCgrPh', // a tag of 64 bits
    'snoPBrXtMeMyMHUVTgbuqAfg1SUTb', // a seed
    '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', // Bitcoin
    '',
  ];
  for (const address of wrong) {
    expect(main.normalise(address)).toBeNull();
    expect(() => main.readDestination(address)).toThrow('Not an address of the XRP Ledger');
  }
  for (const lost of ['rrrrrrrrrrrrrrrrrrrrrhoLvTp', 'rrrrrrrrrrrrrrrrrrrn5RM1rHd']) {
    expect(main.normalise(lost)).toBeNull();
    expect(() => main.readDestination(lost)).toThrow('Nobody has the key');
    expect(() => main.readDestination(main.xAddress({ address: lost, tag: '1' }))).toThrow('Nobody has the key');
  }
});

it('has one X-address for each receiver: bytes after the tag make another text, which is refused', () => {
  // Of r9cZ… with tag 1: a byte set where tags of 64 bits would go on, and two bytes more. The library reads both.
  for (const padded of [
    'X7AcgcsBL6XDcUb289X4mJ8djcdyKaGZMhc9YTE9b5RLZhc',
    'BNqH3S3upJnavXvVx5ExUv57qY54qZ2Pkfd1XrU3qBWQ6A5CSq',
  ]) {
    expect(isValidXAddress(padded)).toBe(true);
    expect(() => main.readDestination(padded)).toThrow('Not an address');
  }
  expect(main.refusalOf(vectors[1]![2])).toBe(`This X-address stands for ${vectors[1]![0]} with the tag 1`);
  expect(main.refusalOf(pepper)).toBeNull();
});

it('reads back every receiver that it writes', () => {
  const accounts = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => encodeAccountID(bytes));
  const tags = fc.option(fc.nat({ max: 0xffff_ffff }).map(String), { nil: undefined });
  fc.assert(
    fc.property(accounts, tags, fc.boolean(), (address, tag, isMain) => {
      const codec = isMain ? main : test;
      const destination = tag === undefined ? { address } : { address, tag };
      fc.pre(codec.normalise(address) !== null);
      expect(codec.readDestination(codec.xAddress(destination))).toEqual(destination);
      expect(codec.readDestination(address, tag)).toEqual(destination);
    }),
    { numRuns: 200 },
  );
});
