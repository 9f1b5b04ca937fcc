import type { ExpiringNetwork } from '../../domain/chains/assets';
import type { ChainNode } from '../../domain/chains/chain';
import { smaller } from '../../domain/money';
import { spendable, type Reserves, type XrplAccount } from './accounts';
import type { XrplNode } from './node';
import type { XrplFees } from './sending';

/** What plans ask of the XRP Ledger. A payment is charged for as such: its work is one, and its fee is the price. */

/** The fee that brings a payment into the very next ledger, and that the node takes at all. */
export const feeNow = ({ open, least }: Pick<XrplFees, 'open' | 'least'>): bigint => (open > least ? open : least);

/** Why a payment would cost its fee and move nothing: accounts may ask for a tag, or take payments of some accounts
 *  alone, and what makes a new one is the base reserve at least. null: nothing is known against it. */
export async function refusalAt(
  node: Pick<XrplNode, 'hasConsent'>,
  receiver: XrplAccount | null,
  { from, to, tag, units }: Readonly<{ from: string; to: string; tag?: string; units: bigint }>,
  { base }: Pick<Reserves, 'base'>,
): Promise<string | null> {
  if (!receiver) return units < base ? `${to} is no account, and ${units} drops make none` : null;
  if (receiver.needsTag && tag === undefined) return `${to} takes nothing without a tag`;
  // So much is taken from anybody, so that the account can pay for fees again (xrpl.org: depositauth).
  const isLittle = units <= base && receiver.drops <= base;
  if (!receiver.isGuarded || isLittle || (await node.hasConsent(from, to, receiver.at))) return null;
  return `${to} takes only what it has agreed to, and not payments of ${from}`;
}

type Node = Pick<XrplNode, 'account' | 'hasConsent' | 'reserves' | 'fees'>;

export const xrplPlanning = (
  network: Pick<ExpiringNetwork, 'mostPrice'>,
  node: Node,
): Required<Pick<ChainNode, 'estimateFee' | 'estimateGas' | 'reserveOf'>> => ({
  async estimateFee() {
    const fee = feeNow(await node.fees()).toString();
    return { unitPrice: smaller(fee, network.mostPrice ?? fee), tipPrice: '0' };
  },
  async estimateGas(asked) {
    const { from, to, units } = asked;
    const [sender, receiver, reserves] = await Promise.all([node.account(from), node.account(to), node.reserves()]);
    const refusal = await refusalAt(node, receiver, asked, reserves);
    if (refusal !== null) return { state: 'reverts', reason: refusal, ...(receiver === null && { isNew: true }) };
    const free = sender ? spendable(sender, reserves) : 0n;
    if (free < units) return { state: 'short', reason: `${from} can spend ${free} of the ${units} drops` };
    return { state: 'done', gas: 1n };
  },
  async reserveOf(address) {
    const [account, { base, perOwned }] = await Promise.all([node.account(address), node.reserves()]);
    return base + BigInt(account?.owned ?? 0) * perOwned;
  },
});
