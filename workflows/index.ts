/** What a payments worker bundles: every workflow by its type. */
export { consolidate } from './consolidate';
export { followChain } from './follow-chain';
export { mail } from './mail';
export { payment } from './payment';
export { screening } from './screening';
export { refund } from './refund';
export { keepAudit, keepRates, keepReconciled } from './singletons';
export { sweep, sweepBatch } from './sweep';
export { webhook } from './webhook';
