import { fault, good, warning, type Finding } from '../../domain/finding';
import type { XrplChain } from './chain';
import type { XrplNode } from './node';

/** Ledgers of a day. What is signed is given up a day after its first signature, and its proof reads all since; a
 *  follower that stood still for a day goes on with them. */
const keptLedgers = 22_000;

type Words = Readonly<{
  /** Begins a sentence. */
  name: string;
  /** What cannot be done with ledgers that it no longer has, and what can be with those of a day. */
  missing: string;
  kept: string;
}>;

/** What the service needs of a node of the XRP Ledger, one finding each. Throws NODE_UNREACHABLE. */
export async function checkXrplNode(
  { networkId }: XrplChain,
  node: Pick<XrplNode, 'state'>,
  words: Words,
): Promise<Finding[]> {
  const { networkId: own, isFollowing, validated, kept } = await node.state();
  if (own !== networkId)
    return [fault(`${words.name} is on network ${own}, not on ${networkId}`, 'Set one of that network')];
  const from = kept.find(([first, last]) => first <= validated && last >= validated)?.[0] ?? validated;
  const fix = 'Have it keep ledgers of a day at least (online_delete, ledger_history)';
  return [
    isFollowing
      ? good(`${words.name} is on network ${own}, ledger ${validated}`)
      : fault(`${words.name} does not follow its network`, 'Wait until it does, or read its log'),
    from > 1 && validated - from < keptLedgers
      ? warning(`${words.name} has ${validated - from} ledgers: ${words.missing}`, fix)
      : good(words.kept),
  ];
}

/** Of a chain worker's node. */
export const followed: Words = {
  name: 'The node',
  missing: 'a follower that stood still for longer cannot go on',
  kept: 'It keeps the ledgers that a follower may have missed',
};

/** Of the signer's own. */
export const ofSigner: Words = {
  name: "The signer's node",
  missing: 'what is older cannot be proven void',
  kept: 'It keeps the ledgers that prove what has expired',
};
