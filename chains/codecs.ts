import type { ChainSettings, NetworkId } from '../domain/chains/assets';
import type { ChainCodec } from '../domain/chains/chain';
import { bitcoinCodec } from './utxo/codec';
import { evmCodec } from './evm/codec';

const makers: Readonly<Record<NetworkId, (chain: ChainSettings) => ChainCodec>> = {
  bitcoin: bitcoinCodec,
  ethereum: evmCodec,
};

/** The codec of a network: pure, no node. */
export const createCodec = (network: NetworkId, chain: ChainSettings): ChainCodec => makers[network](chain);

/** The codecs of all networks. */
export const createCodecs = (chain: ChainSettings): Readonly<Record<NetworkId, ChainCodec>> => ({
  bitcoin: bitcoinCodec(chain),
  ethereum: evmCodec(chain),
});
