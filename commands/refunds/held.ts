import { unsignedRefunds } from '../../db/refunds/refunds';
import { cancellable } from '../../domain/refunds/refund';
import type { HeldMoney } from '../operators/held-money';
import { cancelRefund } from './cancel';

export const heldRefunds: HeldMoney = {
  what: 'refunds',
  unsigned: (tx, merchantId) => unsignedRefunds(tx, merchantId, cancellable),
  cancel: cancelRefund,
};
