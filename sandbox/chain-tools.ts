import { networks, type NetworkId } from '../domain/chains/assets';
import { bitcoinCall, mineBitcoin, mineEthereum, type Chains } from './miner';
import { call } from './parts/json-rpc';
import type { CoinNode } from './parts/litecoind';
import type { Part } from './parts/part';

type WithLogin = Pick<CoinNode, 'url' | 'user' | 'password'>;

/** The address of a node with its user and password in it. */
export function withLogin({ url, user, password }: WithLogin): string {
  const whole = new URL(url);
  whole.username = user;
  whole.password = password;
  return whole.href.replace(/\/$/, '');
}

/** Addresses by the ticker of the native coin. */
const urlsOf = (nodes: ReadonlyMap<NetworkId, Part> = new Map()): Readonly<Record<string, string>> =>
  Object.fromEntries([...nodes].map(([id, { url }]) => [networks[id].native, url]));

/** The local chains of a stack, with credentials in the addresses of coins. */
export const chainsOf = (
  stack: Readonly<{
    anvil: Part;
    btcd: WithLogin;
    coinNodes?: ReadonlyMap<NetworkId, CoinNode>;
    evmNodes?: ReadonlyMap<NetworkId, Part>;
    simulators?: ReadonlyMap<NetworkId, Part>;
  }>,
): Chains => ({
  ethRpcUrl: stack.anvil.url,
  btcRpcUrl: withLogin(stack.btcd),
  coins: Object.fromEntries(
    [...(stack.coinNodes ?? [])].map(([id, node]) => [
      networks[id].native,
      { url: withLogin(node), mineTo: node.mineTo },
    ]),
  ),
  evm: urlsOf(stack.evmNodes),
  simulators: urlsOf(stack.simulators),
});

/** Replaces the newest `depth` blocks of the Ethereum chain. Their transactions are gone, not pooled; `raws` are in the
 *  first new block. */
export const reorgEthereum = (ethRpcUrl: string, depth: number, raws: readonly string[] = []): Promise<unknown> =>
  call(ethRpcUrl, 'anvil_reorg', [depth, raws.map((raw) => [raw, 0])]);

/** The signed transactions in the newest `depth` blocks of the Ethereum chain, in their order. */
export async function transactionsOf(ethRpcUrl: string, depth: number): Promise<string[]> {
  const raws: string[] = [];
  const head = parseInt(await call<string>(ethRpcUrl, 'eth_blockNumber', []), 16);
  for (let height = head - depth + 1; height <= head; height += 1) {
    const block = await call<{ transactions: string[] }>(ethRpcUrl, 'eth_getBlockByNumber', [
      `0x${height.toString(16)}`,
      false,
    ]);
    for (const hash of block.transactions)
      raws.push(await call<string>(ethRpcUrl, 'eth_getRawTransactionByHash', [hash]));
  }
  return raws;
}

/** Takes the newest `depth` blocks of the Bitcoin chain away. Their transactions return to the pool. */
export async function dropBitcoin(btcRpcUrl: string, depth: number): Promise<void> {
  const height = await bitcoinCall<number>(btcRpcUrl, 'getblockcount');
  const hash = await bitcoinCall<string>(btcRpcUrl, 'getblockhash', [height - depth + 1]);
  await bitcoinCall(btcRpcUrl, 'invalidateblock', [hash]);
}

/** Replaces the newest `depth` blocks of the Bitcoin chain by `depth + 1` others, which mine the transactions of those
 *  again. */
export async function reorgBitcoin(btcRpcUrl: string, depth: number): Promise<void> {
  await dropBitcoin(btcRpcUrl, depth);
  await mineBitcoin(btcRpcUrl, depth + 1);
}

export { mineEthereum };
