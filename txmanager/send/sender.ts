import type { DataSource } from 'typeorm';
import { networks, type NetworkId } from '../../domain/chains/assets';
import type { ChainAdapter } from '../../domain/chains/chain';

/** What sends to one network. `log`: is told of each transaction that a node has taken. */
export type Sender = Readonly<{
  db: DataSource;
  adapter: ChainAdapter;
  log: Readonly<{ info(fields: object, text: string): void }>;
}>;

/** What it did not take is looked into, so many at once. */
export const lookAtOnce = 4;

/** How long a block of its network takes, and a quarter of a minute at the least. */
export const blockMsOf = ({ adapter }: Sender): number =>
  Math.max(networks[adapter.network as NetworkId].blockSeconds * 1000, 15_000);
