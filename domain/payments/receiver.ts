import type { NetworkId } from '../chains/assets';
import type { ChainCodec } from '../chains/chain';
import { capitalTag } from '../chains/tags';

/** Where a payment's money comes to: an address of its own, or a destination tag of its own behind our account. */

export type Receiver = Readonly<{
  address: string;
  /** Of the key that the address is derived from. */
  keyIndex: number;
  /** null: the address is the payment's alone. */
  tag: string | null;
}>;

/** The key of the account that payments share, where their network has tags: that of the treasury. */
export type SharedKey = Readonly<{ xpub: string; branch: number }>;

/** An index of the branch that addresses are drawn from. */
type Drawn = Readonly<{ xpub: string; branch: number; index: number; shared: SharedKey | null }>;

/** So many tags has a branch: a recovery begins another, so that no tag which a lost payment was given is given
 *  again. */
const tagsOfBranch = 2n ** 26n;
/** Odd, so that each index of a branch has a tag of its own: neighbours are far apart, and a tag that was mistyped is
 *  hardly ever another payment's. */
const stride = 39_411_529n;

/** The tag of a drawn index; never 0, which people give where there is none. null: the network has no more. */
function tagAt(largest: string, branch: number, index: number): string | null {
  const place = BigInt(index) + 1n;
  if (place >= tagsOfBranch) return null;
  const tag = BigInt(branch) * tagsOfBranch + ((place * stride) % tagsOfBranch);
  return tag < BigInt(largest) ? tag.toString() : null;
}

/** The receiver of a drawn index. Where the network has tags, all payments share the first address of the treasury.
 *  Throws where the network has no tags left. */
export function receiverAt(
  codec: Pick<ChainCodec, 'derive'>,
  network: NetworkId,
  { xpub, branch, index, shared }: Drawn,
): Receiver {
  const largest = capitalTag(network);
  if (largest === null) return { address: codec.derive(xpub, index, branch), keyIndex: index, tag: null };
  const tag = tagAt(largest, branch, index);
  if (tag === null || shared === null) throw new Error(`${network} has no destination tag for key ${branch}/${index}`);
  return { address: codec.derive(shared.xpub, 0, shared.branch), keyIndex: 0, tag };
}
