import type { UtxoNetwork } from '../../domain/chains/assets';
import { fault, good, type Finding } from '../../domain/finding';
import { RpcError, type Rpc } from '../json-rpc';

/** How nodes call the chains that the registry calls otherwise: Bitcoin Core and its descendants, btcd. */
const spellings: Readonly<Record<string, string>> = { main: 'mainnet', test: 'testnet', testnet3: 'testnet' };

/** Whether a node is of the chain that is configured, has all blocks, and finds a transaction by its id. */
export async function checkUtxoNode(network: UtxoNetwork, chain: string, rpc: Rpc): Promise<Finding[]> {
  const { prefix } = network.settings;
  const info = await rpc<{ chain: string; blocks: number; pruned?: boolean }>('getblockchaininfo');
  const its = spellings[info.chain] ?? info.chain;
  if (its !== chain)
    return [
      fault(
        `The node is on ${its}, and ${prefix}_NETWORK says ${chain}`,
        `Set ${prefix}_RPC_URL to a node of ${chain}, or ${prefix}_NETWORK to ${its}`,
      ),
    ];
  const findings = [good(`The node is on ${chain}, block ${info.blocks}`)];
  if (info.pruned)
    findings.push(
      fault('The node throws old blocks away (prune)', 'Run it without prune: blocks are read again after a restore'),
    );
  else if (info.blocks > 0) findings.push(await indexed(rpc));
  return findings;
}

/** By trying it: a transaction that is neither in the pool nor in a wallet is found by an index alone. */
async function indexed(rpc: Rpc): Promise<Finding> {
  const hash = await rpc<string>('getblockhash', [1]);
  const block = await rpc<{ tx: string[] }>('getblock', [hash, 1]);
  try {
    await rpc('getrawtransaction', [block.tx[0], 0]);
    return good('It finds transactions by id');
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return fault(
      `It does not find transactions by id: ${error.message}`,
      'Start it with txindex=1 and wait until the index is built',
    );
  }
}
