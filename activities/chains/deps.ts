import type { DataSource } from 'typeorm';
import type { ChainAdapter, ChainNode } from '../../domain/chains/chain';
import type { Config } from '../../domain/config';

export type FollowerDeps = Readonly<{
  db: DataSource;
  adapter: ChainAdapter;
  /** Another node of the network, of another operator, that the first is compared with. */
  second?: Pick<ChainNode, 'head' | 'blockHash'>;
  config: Pick<Config, 'confirmations' | 'chain' | 'POLL_INTERVAL_MS'>;
  log: { info(fields: object, text: string): void; warn(fields: object, text: string): void };
}>;

/** Throws where this follower must stop: its worker ends, or the activity runs elsewhere by now. */
export type GoOn = () => void;
