import type { ChainSettings, NetworkId } from '../domain/chains/assets';
import { isLocalChain } from '../domain/chains/freshness';
import type { Finding } from '../domain/finding';
import { evmChainOf, expiringChainOf, registered, tronChainOf } from './codecs';
import { checkEvmNode } from './evm/node-check';
import { jsonRpc } from './json-rpc';
import type { NodeLogin } from './node-http';
import { tronLogins } from './tron/http';
import { tronNode } from './tron/node';
import { checkTronNode } from './tron/node-check';
import { checkUtxoNode } from './utxo/node-check';
import { xrplNode } from './xrpl/node';
import { checkXrplNode, followed } from './xrpl/node-check';

/** What the service needs of the node of a network, one finding each. Throws NODE_UNREACHABLE where it does not
 *  answer. */
export async function checkNode(id: NetworkId, settings: ChainSettings, login: NodeLogin): Promise<Finding[]> {
  const { network, assets } = registered(id);
  const rpc = jsonRpc(login.url, login.user, login.password, 5000);
  if (network.kind === 'utxo') return checkUtxoNode(network, settings.chainNames[id] ?? '', rpc);
  if (network.expiring) {
    const chain = expiringChainOf(network, settings);
    if (chain.family === 'xrpl') return checkXrplNode(chain, xrplNode(login, 5000), followed);
    const words = { name: 'The node', isLocal: isLocalChain(network, settings) };
    return checkTronNode(tronNode(tronChainOf(chain, assets, settings), tronLogins(login)), words);
  }
  return checkEvmNode(network, evmChainOf(network, assets, settings), rpc);
}
