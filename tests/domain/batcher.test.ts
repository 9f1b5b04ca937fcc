import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { Batcher } from '../../db/batcher';

type Write = Readonly<{ items: readonly string[]; ends: (error?: unknown) => void }>;

/** A database that ends a transaction when it is told to. */
function database(most = 3) {
  const writes: Write[] = [];
  const group = new Batcher<string, string>((items) => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>();
    const ends = (error?: unknown): void => (error ? reject(error) : resolve(items.map((item) => `${item}!`)));
    writes.push({ items, ends });
    return promise;
  }, most);
  return {
    group,
    items: () => writes.map((write) => write.items),
    ends: (n: number, e?: unknown) => writes[n]!.ends(e),
  };
}
const undone = (code: string): Error => Object.assign(new Error(code), { code });

it('writes the first alone, and together what comes meanwhile, in its order', async () => {
  const { group, items, ends } = database();
  const added = ['a', 'b', 'c', 'd', 'e'].map((item) => group.add('shop', item));
  expect(items()).toEqual([['a']]);
  ends(0);
  await added[0];
  await turn();
  expect(items()).toEqual([['a'], ['b', 'c', 'd']]);
  ends(1);
  await turn();
  expect(items()).toEqual([['a'], ['b', 'c', 'd'], ['e']]);
  ends(2);
  expect(await Promise.all(added)).toEqual(['a!', 'b!', 'c!', 'd!', 'e!']);
  await turn();
  const later = group.add('shop', 'f');
  expect(items().at(-1)).toEqual(['f']);
  ends(3);
  expect(await later).toBe('f!');
});

it('lets no key wait for another', async () => {
  const { group, items, ends } = database();
  const added = [group.add('shop', 'a'), group.add('other', 'b')];
  expect(items()).toEqual([['a'], ['b']]);
  ends(1);
  expect(await added[1]).toBe('b!');
  ends(0);
  expect(await added[0]).toBe('a!');
});

it.each(['CP005', '40P01', '23505'])('writes each alone where the database undid all of them: %s', async (code) => {
  const { group, items, ends } = database();
  const added = ['a', 'b', 'c'].map((item) => group.add('shop', item));
  const settled = Promise.allSettled(added);
  ends(0);
  await turn();
  ends(1, undone(code));
  await turn();
  ends(2, undone(code));
  await turn();
  ends(3);
  expect(items()).toEqual([['a'], ['b', 'c'], ['b'], ['c']]);
  expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

it.each(['08006', '57014', '53300', '55P03', 'EPIPE', 'ECONNRESET'])(
  'asks nothing a second time where it is not known what became of it: %s',
  async (code) => {
    const error = undone(code);
    const { group, items, ends } = database();
    const added = ['a', 'b', 'c'].map((item) => group.add('shop', item));
    const settled = Promise.allSettled(added);
    ends(0);
    await turn();
    ends(1, error);
    expect(await settled).toEqual([
      { status: 'fulfilled', value: 'a!' },
      { status: 'rejected', reason: error },
      { status: 'rejected', reason: error },
    ]);
    expect(items()).toHaveLength(2);
    const next = group.add('shop', 'd');
    ends(2);
    expect(await next).toBe('d!');
  },
);

it('writes as part of the request that brought the first of them', async () => {
  const request = new AsyncLocalStorage<string>();
  const seen: (string | undefined)[] = [];
  const group = new Batcher<string, string>(async (items) => {
    seen.push(request.getStore());
    await turn();
    return items;
  }, 3);
  await Promise.all(['one', 'two', 'three'].map((name) => request.run(name, () => group.add('shop', name))));
  expect(seen).toEqual(['one', 'two']);
});
