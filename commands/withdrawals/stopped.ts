import { unsignedWithdrawals } from '../../db/withdrawals/withdrawals';
import { cancellable } from '../../domain/withdrawals/withdrawal';
import type { StoppedMoney } from '../operators/stopped-money';
import { cancelWithdrawal } from './cancel';

export const stoppedWithdrawals: StoppedMoney = {
  what: 'withdrawals',
  unsigned: (tx, merchantId) => unsignedWithdrawals(tx, merchantId, cancellable),
  cancel: cancelWithdrawal,
};
