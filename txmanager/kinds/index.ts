import { DomainError } from '../../domain/errors';
import type { Kind } from '../../domain/txmanager/kinds';
import { consolidation } from './consolidation';
import { gasTopUp } from './gas-top-up';
import type { OutgoingKind } from './kind';
import { lost } from './lost';
import { payoutLine } from './payout-line';
import { refund } from './refund';
import { swapDeposit } from './swap-deposit';
import { sweep } from './sweep';
import { withdrawal } from './withdrawal';

/** Every kind of outgoing money. The order is that in which a reorganisation reopens rows: refunds, which lock
 *  payments, come before withdrawals and mass payouts. */
export const outgoingKinds: readonly OutgoingKind[] = [
  gasTopUp,
  sweep,
  refund,
  withdrawal,
  consolidation,
  swapDeposit,
  payoutLine,
  lost,
];

/** Throws INTENT_MISMATCH where an intent names no kind of ours. */
export function kindOf(intent: Readonly<{ id: string; kind: Kind }>): OutgoingKind {
  const found = outgoingKinds.find((one) => one.kind === intent.kind);
  if (!found) throw new DomainError('INTENT_MISMATCH', `Intent ${intent.id}: there is no kind ${intent.kind}`);
  return found;
}
