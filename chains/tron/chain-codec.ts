import type { ExpiringNetwork } from '../../domain/chains/assets';
import type { ChainCodec } from '../../domain/chains/chain';
import { expiringCodec } from '../expiring-codec';
import { tronCodec } from './codec';
import { assetIn, type TronChain } from './plan';

/** The codec in the words of the other families: what it signs is an `ExpiringPlan` (`expiring-family.ts`). */
export function tronChainCodec(network: ExpiringNetwork, chain: TronChain): ChainCodec {
  const codec = tronCodec(chain);
  return {
    ...expiringCodec(network, codec, 'moment'),
    sizeOf: ({ currency }) => (assetIn(chain, currency).contract === null ? network.work.native : network.work.token),
    /** Wallets agree on no scheme; all of them find the address in this one. */
    paymentUri(address, currency, amount, _names, tag) {
      if (tag !== undefined) throw new Error(`${network.name} has no destination tags`);
      const { contract } = assetIn(chain, currency);
      const query = new URLSearchParams({ amount, ...(contract === null ? {} : { contract }) });
      return `${network.uriScheme}:${address}?${query}`;
    },
    decode(raw) {
      const { txId, inputs, nonce } = codec.decode(raw);
      return { txId, inputs, nonce };
    },
  };
}
