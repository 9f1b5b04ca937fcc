import type { OperatorAct } from './act';
import { bookDifference } from './book-difference';
import { bookLightning } from './book-lightning';
import { claimForgotten } from './claim-address';
import { claimUntagged } from './claim-deposit';
import { claimLightning } from './claim-lightning';
import { decideTransfer } from './decide-transfer';
import { endConversion } from './end-conversion';
import { failLightning } from './fail-lightning';
import { loosenLimits } from './loosen-limits';
import { cancelStoppedMoney, liftMerchantStop } from './merchant-stop';
import { raiseCap } from './raise-cap';
import { replaceBlocker } from './replace-blocker';
import { unfreezeCurrency } from './unfreeze';
import { unfreezeOneWallet } from './unfreeze-wallet';

/** Every act of operators on money. None of them is executed by any other way than a request. */
export const operatorActs: readonly OperatorAct[] = [
  bookDifference,
  bookLightning,
  cancelStoppedMoney,
  claimForgotten,
  claimLightning,
  claimUntagged,
  decideTransfer,
  endConversion,
  failLightning,
  liftMerchantStop,
  loosenLimits,
  raiseCap,
  replaceBlocker,
  unfreezeCurrency,
  unfreezeOneWallet,
];

export const actOf = (kind: string): OperatorAct | undefined => operatorActs.find((act) => act.kind === kind);
