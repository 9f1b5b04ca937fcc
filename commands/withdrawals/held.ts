import { unsignedWithdrawals } from '../../db/withdrawals/withdrawals';
import { cancellable } from '../../domain/withdrawals/withdrawal';
import type { HeldMoney } from '../operators/held-money';
import { cancelWithdrawal } from './cancel';

export const heldWithdrawals: HeldMoney = {
  what: 'withdrawals',
  unsigned: (tx, merchantId) => unsignedWithdrawals(tx, merchantId, cancellable),
  cancel: cancelWithdrawal,
};
