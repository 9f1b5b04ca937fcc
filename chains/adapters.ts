import type { ChainSettings, NetworkId } from '../domain/chains/assets';
import type { ChainAdapter } from '../domain/chains/chain';
import { loginOf, secondUrlOf, type Config, type NodeConfig } from '../domain/config';
import { evmChainOf, expiringChainOf, registered, tronChainOf, utxoChainOf, type Registered } from './codecs';
import { evmAdapter } from './evm/node';
import type { NodeLogin } from './node-http';
import { tronAdapter } from './tron/adapter';
import { tronLogins } from './tron/http';
import { utxoAdapter } from './utxo/node';
import { xrplAdapter } from './xrpl/adapter';

export { createCodec, createCodecs } from './codecs';

/** The adapter of a network of either family. `warn` hears once of what the node does not offer. */
export const adapterOf = (
  { network, assets }: Registered,
  settings: ChainSettings,
  login: NodeLogin,
  warn?: (text: string) => void,
): ChainAdapter => {
  if (network.kind === 'utxo') return utxoAdapter(network, { login, chain: utxoChainOf(network, settings) });
  if (network.expiring) {
    const chain = expiringChainOf(network, settings);
    if (chain.family === 'xrpl') return xrplAdapter(network, chain, login);
    return tronAdapter(network, tronChainOf(chain, assets, settings), tronLogins(login));
  }
  return evmAdapter(network, { login, chain: evmChainOf(network, assets, settings), warn });
};

/** The second node of a network, if the configuration names one. */
export function createSecondAdapter(network: NetworkId, config: Config): ChainAdapter | undefined {
  const url = secondUrlOf(network, config);
  return url ? adapterOf(registered(network), config.chain, { url }) : undefined;
}

/** The adapter of a network of the registry and its node. */
export const createAdapter = (
  network: NetworkId,
  config: NodeConfig & Readonly<{ chain: ChainSettings }>,
  warn?: (text: string) => void,
): ChainAdapter => adapterOf(registered(network), config.chain, loginOf(network, config), warn);
