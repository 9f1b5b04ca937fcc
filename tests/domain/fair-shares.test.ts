import { fairShares, UnderWay, type Places, type Receiver } from '../../domain/webhooks/fair-shares';

const places: Places = { all: 10, ofMerchant: 6, atReceiver: 4 };
const receiver = (merchantId: string, endpoint: string): Receiver => ({ merchantId, endpoint });
const shared = (waiting: readonly Receiver[], busy: readonly Receiver[] = [], limits = places) => {
  const underWay = new UnderWay(limits);
  for (const one of busy) underWay.add(one, 1);
  return Object.fromEntries(
    fairShares(waiting, underWay).map(({ merchantId, endpoint, most }) => [merchantId + endpoint, most]),
  );
};

it('gives a receiver no more than it may have', () => {
  expect(shared([receiver('a', '1')])).toEqual({ a1: 4 });
  expect(shared([receiver('a', '1')], Array(3).fill(receiver('a', '1')))).toEqual({ a1: 1 });
  expect(shared([receiver('a', '1')], Array(4).fill(receiver('a', '1')))).toEqual({});
});

it('gives a merchant with many receivers as much as one with one, and no more than it may have', () => {
  const many = ['1', '2', '3', '4', '5'].map((endpoint) => receiver('a', endpoint));
  expect(shared(many)).toEqual({ a1: 2, a2: 1, a3: 1, a4: 1, a5: 1 });
  const of = shared([...many, receiver('b', '1')], [], { all: 6, ofMerchant: 6, atReceiver: 4 });
  expect(of).toEqual({ a1: 1, a2: 1, a3: 1, b1: 3 });
});

it('gives the last places to who comes first in the turn', () => {
  const all = ['a', 'b', 'c'].map((merchantId) => receiver(merchantId, '1'));
  expect(shared(all, [], { all: 2, ofMerchant: 6, atReceiver: 4 })).toEqual({ a1: 1, b1: 1 });
  expect(shared(all, Array(10).fill(receiver('d', '1')))).toEqual({});
  expect(shared([])).toEqual({});
});

it('counts down what has ended', () => {
  const underWay = new UnderWay(places);
  const one = receiver('a', '1');
  for (let n = 0; n < 4; n += 1) underWay.add(one, 1);
  expect(underWay.freeAt(one)).toBe(0);
  underWay.add(one, -1);
  expect([underWay.free(), underWay.freeFor(one), underWay.freeAt(one)]).toEqual([7, 3, 1]);
});
