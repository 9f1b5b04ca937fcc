import { unsignedBatches } from '../../db/payouts/payouts';
import type { StoppedMoney } from '../operators/stopped-money';
import { cancelBatch } from './cancel';

export const stoppedPayouts: StoppedMoney = { what: 'mass payouts', unsigned: unsignedBatches, cancel: cancelBatch };
