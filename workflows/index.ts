/** What a payments worker bundles: every workflow by its type. */
export { followChain } from './follow-chain';
export { followLightning, payLightning } from './follow-lightning';
export { mail } from './mail';
export { consolidate, conversion, refund, sweep, sweepBatch, withdrawal } from './outgoing';
export { payment } from './payment';
export { payoutBatch } from './payout-batch';
export { screening } from './screening';
export { keepAudit, keepRates, keepReconciled, keepReconciliation, keepSwapRates, keepTreasury } from './singletons';
export { webhook } from './webhook';
