import { readAddress } from '../../domain/chains/address';
import type { NetworkId } from '../../domain/chains/assets';

/** What somebody learns whose address cannot be used. */

const evm = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const segwit = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
/** From the examples of BOLT 11. */
const bolt11 =
  'lnbc2500u1pvjluezpp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqypqdq5xysxxatsyp3k7enxv4jsxqzpu' +
  'aztrnwngzn3kdzw5' +
  'hydlzf03qdgm2hdq27cqv3agm2awhz5se903vruatfhq77w3ls4evs3ch9zw97j25emudupq63nyw24cg27h2rspfj9srp';

it.each<[NetworkId, string, string]>([
  ['ethereum', 'nonsense', 'Not an address of Ethereum: one is 0x and 40 hexadecimal digits'],
  [
    'ethereum',
    evm,
    "This address of Ethereum is mistyped, or is a token's contract, or the zero address: copy it again",
  ],
  ['ethereum', segwit, 'Not an address of Ethereum: it looks like one of Bitcoin'],
  [
    'bitcoin',
    'nonsense',
    'Not an address of Bitcoin: one begins with bc1 (on test chains tb1, bcrt1, sb1), ' +
      'or is of the older kind without that',
  ],
  ['bitcoin', segwit, 'This address of Bitcoin is mistyped, or is of another chain (live, test): copy it again'],
  ['bitcoin', evm, 'Not an address of Bitcoin: it looks like one of Ethereum'],
  ['bitcoin', bolt11, 'This is of Lightning: give an address of Bitcoin'],
  ['bitcoin', `LIGHTNING:${bolt11.toUpperCase()}`, 'This is of Lightning: give an address of Bitcoin'],
  ['bitcoin', bolt11.slice(0, 120), 'This is of Lightning: give an address of Bitcoin'],
  ['bitcoin', 'lnurl1dp68gurn8ghj7', 'This is of Lightning: give an address of Bitcoin'],
  ['litecoin', 'alice@wallet.example', 'This is of Lightning: give an address of Litecoin'],
])('on %s: %s', (network, address, message) => {
  const codec = { network, normalise: () => null, refusalOf: () => null };
  expect(() => readAddress(codec, address)).toThrow(expect.objectContaining({ code: 'INVALID_ADDRESS', message }));
});

it('a reason that the network knows comes first', () => {
  const codec = { network: 'litecoin', normalise: () => null, refusalOf: () => 'Hidden' } as const;
  expect(() => readAddress(codec, segwit)).toThrow(expect.objectContaining({ message: 'Hidden' }));
});
