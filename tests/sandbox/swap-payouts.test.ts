import type { Order, Sent } from '../../sandbox/parts/swap/orders';
import { payoutsOf } from '../../sandbox/parts/swap/payouts';

/** A wallet whose payments are called t1, t2 …, and a chain that knows of each what it is told. */
function provider() {
  const paid: string[][] = [];
  const places = new Map<string, 'lost' | 'waits' | 'deep'>();
  const looked: string[] = [];
  const wallet = {
    pay: async (currency: string, address: string, amount: string) => {
      paid.push([currency, address, amount]);
      return { txId: `t${paid.length}`, currency, address, amount };
    },
  };
  const payouts = payoutsOf(wallet, async ({ txId }: Sent) => {
    looked.push(txId);
    return places.get(txId) ?? 'waits';
  });
  const order = { payoutHashes: [] as string[], refundHash: null } as unknown as Order;
  return { ...payouts, paid, places, looked, order };
}

it('sends what its chain has lost again, under the name of the new transaction, and nothing else', async () => {
  const { send, sendLost, paid, places, order } = provider();
  order.payoutHashes.push(await send(order, 'ETH', '0xa', '1'));
  order.refundHash = await send(order, 'BTC', 'b', '2');
  await sendLost(order);
  expect(paid).toHaveLength(2);
  places.set('t1', 'lost');
  await sendLost(order);
  expect(paid.slice(2)).toEqual([['ETH', '0xa', '1']]);
  expect([order.payoutHashes, order.refundHash]).toEqual([['t3'], 't2']);
  places.set('t2', 'lost');
  await sendLost(order);
  expect(paid.slice(3)).toEqual([['BTC', 'b', '2']]);
  expect([order.payoutHashes, order.refundHash]).toEqual([['t3'], 't4']);
});

it('looks at nothing any more that is deep in its chain, and at nothing of an older sandbox', async () => {
  const { send, sendLost, places, looked, order } = provider();
  await sendLost(order);
  order.payoutHashes.push(await send(order, 'ETH', '0xa', '1'));
  places.set('t1', 'deep');
  await sendLost(order);
  await sendLost(order);
  expect(looked).toEqual(['t1']);
});
