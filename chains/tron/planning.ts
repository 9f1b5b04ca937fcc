import type { ExpiringNetwork } from '../../domain/chains/assets';
import type { ChainNode } from '../../domain/chains/chain';
import type { Prices } from './accounts';
import type { TronNode } from './node';

/** What plans ask of TRON. Work is energy: what bytes and new accounts burn counts as so much of it. */

type Network = Pick<ExpiringNetwork, 'work' | 'mostPrice'>;

/** Points of bandwidth of our largest transfer, one of a token. */
export const mostBytes = 350n;

const quotient = (units: bigint, by: bigint): bigint => (units + by - 1n) / by;

/** Sun per unit of work, by the node's chain parameters: that of energy, or more where the figure of a usual transfer
 *  would not pay for its bytes. Rounded up. */
export function priceOf({ work, mostPrice }: Network, { energy, byte }: Pick<Prices, 'energy' | 'byte'>): bigint {
  const ofBytes = quotient(mostBytes * byte, work.native);
  const price = energy > ofBytes ? energy : ofBytes;
  const most = mostPrice === undefined ? price : BigInt(mostPrice);
  return price < most ? price : most;
}

export const tronPlanning = (
  network: Network,
  node: Pick<TronNode, 'costAtMost' | 'prices'>,
): Pick<ChainNode, 'estimateFee' | 'estimateGas'> => ({
  estimateFee: async () => ({ unitPrice: priceOf(network, await node.prices()).toString(), tipPrice: '0' }),
  async estimateGas({ from, to, currency, units, ceiling, topUp }) {
    const bought = topUp === undefined ? {} : { topUp };
    const { prices, answer } = await node.costAtMost({ from, to, currency, units, ...bought });
    if (answer.state !== 'done')
      return { state: answer.state === 'expensive' ? 'reverts' : answer.state, reason: answer.reason };
    const gas = quotient(answer.cost.most, priceOf(network, prices));
    const reason = `it burns ${answer.cost.most} sun, which is more than ${ceiling} energy`;
    return gas > ceiling ? { state: 'reverts', reason } : { state: 'done', gas };
  },
});
