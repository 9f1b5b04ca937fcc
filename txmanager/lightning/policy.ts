import type { EntityManager } from 'typeorm';
import { recheckLimits } from '../../commands/limits/outbound-check';
import { countUnderWay, paidFor, type LightningPaymentRow, type OwnerColumn } from '../../db/lightning/payments';
import { lockStopsAndFreezes } from '../../db/access/merchant-stop';
import { isFrozen, limitUsesOf } from '../../db/limits/outbound';
import { unlistedAmong } from '../../db/wallets/whitelist';
import { usualUnderWay } from '../../domain/lightning/outgoing-payment';
import type { Obligation } from '../obligation';
import { waitForCap } from '../sign/new-destinations';
import { rowRules, type SignFacts, type SignVerdict } from '../sign/policy';
import type { Signer } from '../sign/signer';

/** `refused`: somebody else than us has written it so. `unlisted`: the row is to end. */
type PayVerdict =
  | Readonly<{ state: 'pay' }>
  | Readonly<{ state: 'waiting' | 'refused'; reason: string }>
  | Readonly<{ state: 'dropped'; unlisted: readonly string[] }>;

type ForRow = Pick<SignFacts, 'round' | 'obligation' | 'unlisted' | 'limitUse'>;

const rowVerdict = (facts: ForRow): SignVerdict | null =>
  rowRules.reduce<SignVerdict | null>((found, rule) => found ?? rule(facts), null);

/** Why nothing of this may leave now, and which of its payees are no longer listed. Locks whitelist, merchant and
 *  freezes. */
async function heldBack(
  tx: EntityManager,
  { row, merchantId, currency }: Obligation,
): Promise<Readonly<{ unlisted: readonly string[]; reason: string | null }>> {
  const unlisted = (await unlistedAmong(tx, row.payees)).map(({ id }) => id);
  const stops = await lockStopsAndFreezes(tx, merchantId === null ? [] : [merchantId]);
  const [stop] = stops.values();
  if (stop !== undefined) return { unlisted, reason: `outgoing money of the merchant is held: ${stop}` };
  return { unlisted, reason: (await isFrozen(tx, currency)) ? `${currency} is frozen` : null };
}

/** May the node be told once more? What holds a first call back does so with this one, as nothing is known to have
 *  left; limits and cap have counted it. */
export async function mayPayAgain(tx: EntityManager, obligation: Obligation): Promise<PayVerdict> {
  const { row, isUnderWay } = obligation;
  if (!isUnderWay) return { state: 'refused', reason: `${row.name} is not under way` };
  const { unlisted, reason } = await heldBack(tx, obligation);
  if (reason !== null) return { state: 'waiting', reason };
  return unlisted.length ? { state: 'dropped', unlisted } : { state: 'pay' };
}

/** May the node be told to pay this for the first time? What the signing policy asks of a row on a chain, in the same
 *  order of locks: whitelist, merchant, freezes, limits, and last the cap for new destinations. And no merchant takes
 *  all the places that our channels have for payments: where two look at once, there are a few more. */
export async function mayPay(
  tx: EntityManager,
  signer: Pick<Signer, 'newDestinations'> & Readonly<{ mostUnderWay?: number }>,
  payment: Pick<LightningPaymentRow, 'id' | OwnerColumn>,
  { obligation, payee }: Readonly<{ obligation: Obligation; payee: string }>,
): Promise<PayVerdict> {
  const { row, currency } = obligation;
  const { unlisted, reason } = await heldBack(tx, obligation);
  if (reason !== null) return { state: 'waiting', reason };
  const uses = row.limitUse ? await limitUsesOf(tx, [row.limitUse]) : [];
  const counted = uses.length ? (uses.every((one) => one.is_signed) ? 'used' : 'open') : 'none';
  const facts: ForRow = { round: 'first', obligation, unlisted, limitUse: counted };
  let verdict = rowVerdict(facts);
  if (verdict?.state === 'ask') {
    const over = (await recheckLimits(tx, uses)).find((reason) => reason !== null);
    verdict = rowVerdict({ ...facts, limitUse: over ? { over } : 'used' });
  }
  if (verdict) return asPayVerdict(verdict);
  const most = signer.mostUnderWay ?? usualUnderWay;
  if (obligation.merchantId !== null && (await countUnderWay(tx, obligation.merchantId)) >= most)
    return { state: 'waiting', reason: `the node has ${most} payments of its merchant under way` };
  // By the node, also of a Lightning address: whoever forges an invoice names a node of their own.
  const outputs = obligation.outputs.map(({ units }) => ({ address: payee, units: BigInt(units) }));
  // Below zero: intents of chains count above it.
  const counting = { id: `-${payment.id}`, ...paidFor(payment), network: 'bitcoin', currency } as const;
  const above = await waitForCap(signer, tx, counting, outputs, []);
  return above ? { state: 'waiting', reason: above.reason ?? 'it is above the cap' } : { state: 'pay' };
}

function asPayVerdict(verdict: SignVerdict): PayVerdict {
  if (verdict.state === 'waiting' || verdict.state === 'refused')
    return { state: verdict.state, reason: verdict.reason };
  if (verdict.state === 'dropped') return { state: 'dropped', unlisted: verdict.unlisted ?? [] };
  return { state: 'refused', reason: `no verdict: ${verdict.state}` };
}
