import { unsignedBatches } from '../../db/payouts/payouts';
import type { HeldMoney } from '../operators/held-money';
import { cancelBatch } from './cancel';

export const heldPayouts: HeldMoney = { what: 'mass payouts', unsigned: unsignedBatches, cancel: cancelBatch };
