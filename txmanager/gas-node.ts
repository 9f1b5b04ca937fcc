import type { DataSource } from 'typeorm';
import type { ChainAdapter } from '../domain/chains/chain';

/** Nodes that say what a transaction takes. */

export type GasNode = Pick<ChainAdapter, 'network' | 'estimateGas'>;
export type GasDeps = Readonly<{ db: DataSource; nodes: readonly GasNode[] }>;

/** The node of a network. Throws where there is none. */
export const nodeOf = ({ nodes }: GasDeps, of: Readonly<{ network: string }>): GasNode => {
  const node = nodes.find(({ network }) => network === of.network);
  if (!node) throw new Error(`No node of ${of.network}`);
  return node;
};
