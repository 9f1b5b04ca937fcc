import { networks, type NetworkId } from '../../domain/chains/assets';
import type { Transfer } from '../../domain/chains/chain';
import { newAddresses, watchedAddresses, watchedDeposits } from '../../db/chains/watched';
import { databaseNow } from '../../db/payments/payments';
import type { EntityManager } from 'typeorm';
import { Sieve } from './sieve';

const page = 20_000;
const leastCapacity = 100_000;

/** What concerns us of a mempool that is nearly all strangers': found without asking the database for each of their
 *  addresses and coins. What passes is looked up exactly. */
export class Watched {
  private sieve = new Sieve(leastCapacity);
  private since: Date | null = null;
  private depositId = '0';

  constructor(private readonly network: NetworkId) {}

  /** Takes in what is new in the database. Must be called after the mempool was read, so that no address which somebody
   *  has paid is missing. */
  async refresh(db: EntityManager): Promise<void> {
    if (this.since === null || this.sieve.size > this.sieve.capacity) await this.load(db);
    for (const { address, createdAt } of await newAddresses(db, this.network, this.since!)) {
      this.sieve.put(address);
      if (createdAt > this.since!) this.since = createdAt;
    }
    await this.takeDeposits(db);
  }

  /** The transfers of the transactions that may pay us, or spend a coin that we watch. */
  concerning(transfers: readonly Transfer[]): Transfer[] {
    const ours = new Map<string, boolean>();
    for (const { txId, to, inputs } of transfers) {
      // Every output of a transaction names the same inputs.
      if (!ours.has(txId))
        ours.set(
          txId,
          inputs.some((input) => this.sieve.mayHave(input)),
        );
      if (!ours.get(txId) && this.sieve.mayHave(to)) ours.set(txId, true);
    }
    return transfers.filter(({ txId }) => ours.get(txId));
  }

  private async load(db: EntityManager): Promise<void> {
    const since = await databaseNow(db);
    this.sieve = new Sieve(Math.max(leastCapacity, 2 * this.sieve.size));
    this.depositId = '0';
    for (let after = '', found = page; found === page;) {
      const rows = await watchedAddresses(db, this.network, after, page);
      for (const { address } of rows) this.sieve.put(address);
      found = rows.length;
      after = rows.at(-1)?.address ?? after;
    }
    this.since = since;
  }

  private async takeDeposits(db: EntityManager): Promise<void> {
    for (let found = page; found === page;) {
      const rows = await watchedDeposits(db, this.network, this.depositId, networks[this.network].reorgWindow, page);
      for (const { outpoint, inputs } of rows) for (const coin of [outpoint, ...inputs]) this.sieve.put(coin);
      found = rows.length;
      this.depositId = rows.at(-1)?.id ?? this.depositId;
    }
  }
}
