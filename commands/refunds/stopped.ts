import { unsignedRefunds } from '../../db/refunds/refunds';
import { cancellable } from '../../domain/refunds/refund';
import type { StoppedMoney } from '../operators/stopped-money';
import { cancelRefund } from './cancel';

export const stoppedRefunds: StoppedMoney = {
  what: 'refunds',
  unsigned: (tx, merchantId) => unsignedRefunds(tx, merchantId, cancellable),
  cancel: cancelRefund,
};
