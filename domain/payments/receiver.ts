import { networks, type NetworkId } from '../chains/assets';
import type { ChainCodec } from '../chains/chain';

/** Where a payment's money comes to: an address of its own, or a destination tag of its own behind our account. */

export type Receiver = Readonly<{
  address: string;
  /** Of the key that the address is derived from. */
  keyIndex: number;
  /** null: the address is the payment's alone. */
  tag: string | null;
}>;

/** The receiver of a drawn index. All of a branch share its first address where the network has tags; tags begin with
 *  1, which nobody takes for "none". Throws where the network has no tags left. */
export function receiverAt(
  codec: Pick<ChainCodec, 'derive'>,
  network: NetworkId,
  { xpub, branch, index }: Readonly<{ xpub: string; branch: number; index: number }>,
): Receiver {
  const tags = networks[network].destinationTags;
  if (!tags) return { address: codec.derive(xpub, index, branch), keyIndex: index, tag: null };
  const tag = BigInt(index) + 1n;
  if (tag > BigInt(tags.largest)) throw new Error(`${network} has no destination tag for key ${index}`);
  return { address: codec.derive(xpub, 0, branch), keyIndex: 0, tag: tag.toString() };
}
