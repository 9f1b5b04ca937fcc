import { bitcoinCall, mineBitcoin, mineEthereum, type Chains } from './miner';
import { call } from './parts/json-rpc';
import type { Stack } from './stack';

/** The local chains of a stack, with the credentials in the Bitcoin URL. */
export function chainsOf(stack: Pick<Stack, 'anvil' | 'btcd'>): Chains {
  const btc = new URL(stack.btcd.url);
  btc.username = stack.btcd.user;
  btc.password = stack.btcd.password;
  return { ethRpcUrl: stack.anvil.url, btcRpcUrl: btc.href.replace(/\/$/, '') };
}

/** Replaces the newest `depth` blocks of the Ethereum chain by empty ones. Their transactions are gone, not pooled. */
export const reorgEthereum = (ethRpcUrl: string, depth: number): Promise<unknown> =>
  call(ethRpcUrl, 'anvil_reorg', [depth, []]);

/** Replaces the newest `depth` blocks of the Bitcoin chain by `depth + 1` others. Their transactions return to the pool, and are mined
 *  again with them. */
export async function reorgBitcoin(btcRpcUrl: string, depth: number): Promise<void> {
  const height = await bitcoinCall<number>(btcRpcUrl, 'getblockcount');
  const hash = await bitcoinCall<string>(btcRpcUrl, 'getblockhash', [height - depth + 1]);
  await bitcoinCall(btcRpcUrl, 'invalidateblock', [hash]);
  await mineBitcoin(btcRpcUrl, depth + 1);
}

export { mineBitcoin, mineEthereum };
