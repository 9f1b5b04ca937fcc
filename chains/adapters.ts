import type { NetworkId } from '../domain/chains/assets';
import type { ChainAdapter } from '../domain/chains/chain';
import type { Config } from '../domain/config';
import { bitcoinAdapter } from './utxo/node';
import { evmAdapter } from './evm/node';

export { createCodec, createCodecs } from './codecs';

type ChainConfig = Pick<Config, 'chain' | 'BTC_RPC_URL' | 'BTC_RPC_USER' | 'BTC_RPC_PASSWORD' | 'ETH_RPC_URL'>;

const makers: Readonly<Record<NetworkId, (config: ChainConfig, warn?: (text: string) => void) => ChainAdapter>> = {
  bitcoin: (config) =>
    bitcoinAdapter({
      url: config.BTC_RPC_URL,
      user: config.BTC_RPC_USER,
      password: config.BTC_RPC_PASSWORD,
      chain: config.chain,
    }),
  ethereum: (config, warn) => evmAdapter({ url: config.ETH_RPC_URL, chain: config.chain, warn }),
};

/** The adapter of a network and its node. `warn` hears once of what the node does not offer. */
export const createAdapter = (network: NetworkId, config: ChainConfig, warn?: (text: string) => void): ChainAdapter =>
  makers[network](config, warn);
