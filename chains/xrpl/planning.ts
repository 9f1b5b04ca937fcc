import type { ExpiringNetwork } from '../../domain/chains/assets';
import type { ChainNode } from '../../domain/chains/chain';
import { smaller } from '../../domain/money';
import { spendable, type Reserves, type XrplAccount } from './accounts';
import type { XrplNode } from './node';
import type { XrplFees } from './sending';

/** What plans ask of the XRP Ledger. A payment is charged for as such: its work is one, and its fee is the price. */

/** The fee that brings a payment into the very next ledger, and that the node takes at all. */
export const feeNow = ({ open, least }: Pick<XrplFees, 'open' | 'least'>): bigint => (open > least ? open : least);

/** Why a payment would cost its fee and move nothing: accounts may ask for a tag, and what makes a new one is the base
 *  reserve at least. null: nothing is known against it. */
export function refusalAt(
  receiver: Pick<XrplAccount, 'needsTag'> | null,
  { to, tag, units }: Readonly<{ to: string; tag?: string; units: bigint }>,
  { base }: Pick<Reserves, 'base'>,
): string | null {
  if (receiver?.needsTag && tag === undefined) return `${to} takes nothing without a tag`;
  return !receiver && units < base ? `${to} is no account, and ${units} drops make none` : null;
}

type Node = Pick<XrplNode, 'account' | 'reserves' | 'fees'>;

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
    const refusal = refusalAt(receiver, asked, reserves);
    if (refusal !== null) return { state: 'reverts', reason: refusal };
    const free = sender ? spendable(sender, reserves) : 0n;
    if (free < units) return { state: 'short', reason: `${from} can spend ${free} of the ${units} drops` };
    return { state: 'done', gas: 1n };
  },
  async reserveOf(address) {
    const [account, { base, perOwned }] = await Promise.all([node.account(address), node.reserves()]);
    return base + BigInt(account?.owned ?? 0) * perOwned;
  },
});
