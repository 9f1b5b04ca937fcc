import type { ExpiringNetwork } from '../../domain/chains/assets';
import type { ChainCodec } from '../../domain/chains/chain';
import { expiringCodec } from '../expiring-codec';
import type { XrplChain } from './chain';
import { xrplCodec } from './codec';

/** The codec in the words of the other families: what it signs is an `ExpiringPlan` (`expiring-family.ts`). */
export function xrplChainCodec(network: ExpiringNetwork, chain: XrplChain): ChainCodec {
  const codec = xrplCodec(chain);
  return {
    ...expiringCodec(network, codec, 'ledger'),
    readDestination: codec.readDestination,
    sizeOf: () => network.work.native,
    /** Wallets agree on no scheme; this one has what a payer must copy, the tag above all. */
    paymentUri(address, _currency, amount, _names, tag) {
      const query = new URLSearchParams({ amount, ...(tag === undefined ? {} : { dt: tag }) });
      return `${network.uriScheme}:${address}?${query}`;
    },
    decode: (raw) => ({ txId: codec.decode(raw).txId, inputs: [], nonce: null }),
  };
}
