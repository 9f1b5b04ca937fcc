import type { AttemptRow } from '../../db/txmanager/intents';

/** What a merchant reads of a payment whose transaction is final and has not paid. */
export function failureOf(mined: Pick<AttemptRow, 'is_replacement' | 'decision'>): string {
  if (mined.is_replacement) return 'The network did not take the transaction: it was withdrawn, and the money is back';
  if (mined.decision !== null) return 'The token did not pay what was sent: the money is back';
  return 'The transaction was mined and reverted: the address does not take it. Its network fee was charged';
}

/** The same where transactions expire, and all of it have. */
export const expired = 'The network did not take the transaction in time: it has expired, and the money is back';
