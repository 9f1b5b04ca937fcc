import { networkOf } from '../../../domain/chains/assets';
import { bitcoinCall, type Chains } from '../../miner';
import type { Payer } from '../../payer';
import { call } from '../json-rpc';
import type { Order, Sent } from './orders';

/** So many blocks upon it, and no local chain takes a transaction out again. */
const deep = 12;

type Place = 'lost' | 'waits' | 'deep';

/** Where a transaction is by its chain's node. Rejects where the node does not answer. */
export const placesOn =
  ({ btcRpcUrl, ethRpcUrl }: Chains) =>
  async ({ currency, txId }: Sent): Promise<Place> => {
    const confirmations =
      networkOf(currency).kind === 'utxo' ? await onBitcoin(btcRpcUrl, txId) : await onEthereum(ethRpcUrl, txId);
    if (confirmations === null) return 'lost';
    return confirmations > deep ? 'deep' : 'waits';
  };

/** Confirmations; null: the node does not know it. */
async function onBitcoin(url: string, txId: string): Promise<number | null> {
  try {
    const { confirmations } = await bitcoinCall<{ confirmations?: number }>(url, 'getrawtransaction', [txId, 1]);
    return confirmations ?? 0;
  } catch (error) {
    if (/No information available about transaction/.test(String(error))) return null;
    throw error;
  }
}

async function onEthereum(url: string, txId: string): Promise<number | null> {
  const found = await call<{ blockNumber: string | null } | null>(url, 'eth_getTransactionByHash', [txId]);
  if (!found) return null;
  if (found.blockNumber === null) return 0;
  return parseInt(await call<string>(url, 'eth_blockNumber'), 16) - parseInt(found.blockNumber, 16) + 1;
}

/** What the provider sends, and sends again where a node has lost it: a pool forgets, and a local node may drop a
 *  transaction whose price has become too low. */
export function payoutsOf(wallet: Pick<Payer, 'pay'>, placeOf: (sent: Sent) => Promise<Place>) {
  async function send(order: Order, currency: string, address: string, amount: string): Promise<string> {
    const { txId } = await wallet.pay(currency, address, amount);
    (order.sent ??= []).push({ txId, currency, address, amount, isDeep: false });
    return txId;
  }

  async function sendLost(order: Order): Promise<void> {
    for (const one of order.sent?.filter(({ isDeep }) => !isDeep) ?? []) {
      const place = await placeOf(one);
      one.isDeep = place === 'deep';
      if (place !== 'lost') continue;
      const before = one.txId;
      one.txId = (await wallet.pay(one.currency, one.address, one.amount)).txId;
      order.payoutHashes = order.payoutHashes.map((hash) => (hash === before ? one.txId : hash));
      if (order.refundHash === before) order.refundHash = one.txId;
    }
  }
  return { send, sendLost };
}
export type Payouts = ReturnType<typeof payoutsOf>;
