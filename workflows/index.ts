/** What a payments worker bundles: every workflow by its type. */
export { consolidate } from './consolidate';
export { conversion } from './conversion';
export { followChain } from './follow-chain';
export { mail } from './mail';
export { payment } from './payment';
export { payoutBatch } from './payout-batch';
export { screening } from './screening';
export { refund } from './refund';
export { sweep, sweepBatch } from './sweep';
export { keepAudit, keepRates, keepReconciled, keepReconciliation, keepSwapRates, keepTreasury } from './singletons';
export { webhook } from './webhook';
export { withdrawal } from './withdrawal';
