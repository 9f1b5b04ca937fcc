import type { UtxoChain, UtxoNetwork } from '../../domain/chains/assets';
import type { BroadcastAnswer, FeeEstimate } from '../../domain/chains/chain';
import { compare, fromUnits } from '../../domain/money';
import { RpcError, type Rpc } from '../json-rpc';
import { unitsOf } from './transactions';

/** How nodes say that another transaction has a coin, or that there is none (`orphan`). */
const takenCoins = /missing|orphan|spent|spends|conflict|double|replacement/i;
const lowFee = /min(imum)? (relay )?fee|fee.*(below|under|less than).*minimum|insufficient priority|mempool min fee/i;

/** Asks a node for its estimates, by the method that it has. */
export function feeEstimator(rpc: Rpc, network: UtxoNetwork, chain: UtxoChain): () => Promise<FeeEstimate | null> {
  /** No estimate goes below what nodes relay. */
  const least = { unitPrice: network.leastPrice, tipPrice: '0' };
  /** Of a chain that people mine by themselves no node can say what is usual. */
  const unknown = chain.isLocal ? least : null;
  let priceMethod: 'estimatesmartfee' | 'estimatefee' = 'estimatesmartfee';
  return async () => {
    try {
      const answer = await rpc<number | { feerate?: number }>(priceMethod, [6]);
      const perThousand = typeof answer === 'number' ? answer : (answer.feerate ?? 0);
      if (perThousand > 0) {
        const price = fromUnits(unitsOf(perThousand), 3);
        return compare(price, least.unitPrice) < 0 ? least : { unitPrice: price, tipPrice: '0' };
      }
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      // btcd knows `estimatefee` only, and answers with an error while it has seen too little for an estimate.
      if (error.code === -32601 && priceMethod === 'estimatesmartfee') priceMethod = 'estimatefee';
    }
    return unknown;
  };
}

export async function broadcast(rpc: Rpc, raw: string): Promise<BroadcastAnswer> {
  try {
    await rpc<string>('sendrawtransaction', [raw]);
    return { outcome: 'accepted' };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { code, message: reason } = error;
    if (code === -27 || /already (have|in|known|exist)|txn-already/i.test(reason)) return { outcome: 'known' };
    if (lowFee.test(reason)) return { outcome: 'refused', why: 'fee', reason };
    if (code === -25 || takenCoins.test(reason)) return { outcome: 'conflict', reason };
    return { outcome: 'refused', why: 'other', reason };
  }
}
