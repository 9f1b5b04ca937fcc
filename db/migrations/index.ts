import { Foundation1795200000000 } from './1795200000000-foundation';
import { Accounts1795300000000 } from './1795300000000-accounts';
import { WebhookEndpoints1795400000000 } from './1795400000000-webhook-endpoints';
import { Exceptions1795500000000 } from './1795500000000-exceptions';
import { Screening1795600000000 } from './1795600000000-screening';
import { Lists1795700000000 } from './1795700000000-lists';
import { Refunds1795800000000 } from './1795800000000-refunds';
import { MoneyOut1795900000000 } from './1795900000000-money-out';
import { Egress1796000000000 } from './1796000000000-egress';
import { MassPayouts1796100000000 } from './1796100000000-mass-payouts';
import { WithdrawalsReopened1796000500000 } from './1796000500000-withdrawals-reopened';
import { Conversions1796200000000 } from './1796200000000-conversions';
import { Swaps1796300000000 } from './1796300000000-swaps';
import { Claims1796400000000 } from './1796400000000-claims';
import { SweepBatches1796500000000 } from './1796500000000-sweep-batches';
import { TokenBatches1796510000000 } from './1796510000000-token-batches';
import { SweepsTakenOver1797100000000 } from './1797100000000-sweeps-taken-over';
import { Held1797400000000 } from './1797400000000-held';
import { KeyLimits1797400500000 } from './1797400500000-key-limits';
import { SlowReceivers1797600000000 } from './1797600000000-slow-receivers';
import { DeliveryLog1797700000000 } from './1797700000000-delivery-log';
import { WalletTotals1797700001000 } from './1797700001000-wallet-totals';
import { ConversionsAtOnce1797800000000 } from './1797800000000-conversions-at-once';
import { PayoutSigning1797900000000 } from './1797900000000-payout-signing';
import { RevertedReopened1798000000000 } from './1798000000000-reverted-reopened';
import { Promised1798200000000 } from './1798200000000-promised';
import { KeyMakers1798310000000 } from './1798310000000-key-makers';
import { FeeLimits1798320000000 } from './1798320000000-fee-limits';

/** Every migration, oldest first; only ever added to. */
export const migrations = [
  Foundation1795200000000,
  Accounts1795300000000,
  WebhookEndpoints1795400000000,
  Exceptions1795500000000,
  Screening1795600000000,
  Lists1795700000000,
  Refunds1795800000000,
  MoneyOut1795900000000,
  Egress1796000000000,
  MassPayouts1796100000000,
  WithdrawalsReopened1796000500000,
  Conversions1796200000000,
  Swaps1796300000000,
  Claims1796400000000,
  SweepBatches1796500000000,
  TokenBatches1796510000000,
  SweepsTakenOver1797100000000,
  Held1797400000000,
  KeyLimits1797400500000,
  SlowReceivers1797600000000,
  DeliveryLog1797700000000,
  WalletTotals1797700001000,
  ConversionsAtOnce1797800000000,
  PayoutSigning1797900000000,
  RevertedReopened1798000000000,
  Promised1798200000000,
  KeyMakers1798310000000,
  FeeLimits1798320000000,
];
