import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource } from 'typeorm';
import { wasUndone } from './retry';
import { isUnavailable } from './unavailable';

type Waiting<Item, Written> = Readonly<{
  item: Item;
  /** Runs what it is given as part of the request that has brought the item. */
  within: <T>(act: () => T) => T;
  resolve: (written: Written) => void;
  reject: (error: unknown) => void;
}>;

/** Whether it says something of one of the items, or may pass for each alone. Otherwise nothing is known of the
 *  transaction, or each alone would wait as long again. */
const isOfOne = (error: unknown): boolean => {
  const { code } = error as { code?: unknown };
  const isSqlState = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code);
  return wasUndone(error) || (isSqlState && !isUnavailable(error));
};

/** One statement for many that come at once under one key: the first goes alone, and all that come while it is under
 *  way go together, in the order in which they came. A statement costs a process and PostgreSQL more than what it asks,
 *  and writes that lock one row would wait for each other. Where the database refuses one of many, each goes alone. */
export class Batcher<Item, Written> {
  private readonly queues = new Map<string, Waiting<Item, Written>[]>();

  /** `write`: one statement, which gives what it read or wrote of each item, in their order. `most`: items in it. */
  constructor(
    private readonly write: (items: readonly Item[]) => Promise<readonly Written[]>,
    private readonly most: number,
  ) {}

  /** Resolves once `item` is answered, and what it wrote is committed. Rejects as `write` does: of that item alone
   *  where the database has undone it. */
  async add(key: string, item: Item): Promise<Written> {
    const { promise, resolve, reject } = Promise.withResolvers<Written>();
    const waiting = { item, within: AsyncLocalStorage.snapshot(), resolve, reject };
    const queue = this.queues.get(key);
    if (queue) queue.push(waiting);
    else void this.writeAll(key, waiting);
    return promise;
  }

  private async writeAll(key: string, first: Waiting<Item, Written>): Promise<void> {
    const queue: Waiting<Item, Written>[] = [];
    this.queues.set(key, queue);
    for (let group = [first]; group.length; group = queue.splice(0, this.most)) await this.writeGroup(group);
    this.queues.delete(key);
  }

  private async writeGroup(group: readonly Waiting<Item, Written>[]): Promise<void> {
    try {
      const written = await group[0]!.within(() => this.write(group.map(({ item }) => item)));
      for (const [place, { resolve }] of group.entries()) resolve(written[place]!);
    } catch (error) {
      if (group.length > 1 && isOfOne(error)) for (const one of group) await this.writeGroup([one]);
      else for (const { reject } of group) reject(error);
    }
  }
}

/** The batcher of each database, made when it is first asked for. `write` and `most` as the batcher's own. */
export function batcherPer<Item, Written>(
  write: (db: DataSource, items: readonly Item[]) => Promise<readonly Written[]>,
  most: number,
): (db: DataSource) => Batcher<Item, Written> {
  const batchers = new WeakMap<DataSource, Batcher<Item, Written>>();
  return (db) => {
    const batcher = batchers.get(db) ?? new Batcher((items) => write(db, items), most);
    batchers.set(db, batcher);
    return batcher;
  };
}
