/** @jest-environment node */
import { capitalTag, sharesAccount } from '../../domain/chains/tags';
import { receiverAt } from '../../domain/payments/receiver';
import { register, tagChain } from '../chain/registering';

/** Where payments receive: addresses of their own, or tags behind the account of the treasury. */

let unregister: () => void;
beforeAll(() => {
  unregister = register(tagChain.assets, tagChain.network);
});
afterAll(() => unregister());

const network = tagChain.network.id;
const codec = { derive: (xpub: string, index: number, branch = 0) => `${xpub}/${branch}/${index}` };
const shared = { xpub: 'treasury', branch: 0 };
const at = (index: number, branch = 0) =>
  receiverAt(codec, network, { xpub: 'deposit', branch, index, shared: { ...shared } });

it('gives every payment of a network with tags the first address of the treasury', () => {
  expect(sharesAccount(network)).toBe(true);
  expect(at(0)).toMatchObject({ address: 'treasury/0/0', keyIndex: 0 });
  expect(at(5, 3)).toMatchObject({ address: 'treasury/0/0', keyIndex: 0 });
  const second = receiverAt(codec, network, {
    xpub: 'deposit',
    branch: 3,
    index: 5,
    shared: { xpub: 'new', branch: 2 },
  });
  expect(second.address).toBe('new/2/0');
});

it('gives every other payment an address of its own', () => {
  expect(sharesAccount('ethereum')).toBe(false);
  expect(receiverAt(codec, 'ethereum', { xpub: 'deposit', branch: 1, index: 7, shared: null })).toEqual({
    address: 'deposit/1/7',
    keyIndex: 7,
    tag: null,
  });
});

it('gives no tag twice, neither in a branch nor in the next one, and none to operators or to nobody', () => {
  const tags = new Set<string>();
  const count = 20_000;
  const last = 2 ** 26 - 2;
  for (const branch of [0, 1, 62])
    for (let n = 0; n < count; n += 1) for (const index of [n, last - n]) tags.add(at(index, branch).tag!);
  expect(tags.size).toBe(3 * 2 * count);
  expect(tags).not.toContain('0');
  expect(tags).not.toContain(capitalTag(network));
  expect(Math.max(...[...tags].map(Number))).toBeLessThan(Number(capitalTag(network)));
});

it('puts neighbours far apart: a digit that is mistyped is hardly ever another payment', () => {
  const tags = Array.from({ length: 1000 }, (_, n) => Number(at(n).tag)).sort((a, b) => a - b);
  const closest = Math.min(...tags.slice(1).map((tag, n) => tag - tags[n]!));
  expect(closest).toBeGreaterThan(1000);
});

it('refuses to give a tag that is not there', () => {
  expect(() => at(2 ** 26 - 1)).toThrow('no destination tag for key 0/67108863');
  expect(() => at(0, 64)).toThrow('no destination tag for key 64/0');
});
