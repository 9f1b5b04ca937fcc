import type { Currency } from '../chains/assets';
import { journal, type Journal } from './ledger';

/** J3 where payments share the treasury's account: what came there has arrived, and nothing was paid for it. */
export const onAccountJournal = (payment: { id: string; currency: Currency; amount: string }): Journal =>
  journal(`arrived/${payment.id}`, null, [
    { debit: 'A:treasury', credit: 'A:deposit', asset: payment.currency, amount: payment.amount },
  ]);
