import type { DataSource } from 'typeorm';
import type { NetworkId } from '../domain/assets';
import type { ChainAdapter, ChainCodec } from '../domain/chain';
import type { Config } from '../domain/config';
import { auditActivities } from './audit';
import { broadcastActivities } from './broadcast';
import { followerActivities } from './follower';
import { mailActivities } from './mail';
import type { Mailer } from './mailer';
import { paymentActivities } from './payments';
import { rateActivities } from './rates';
import { reconcileActivities, type RunningWorkflows } from './reconcile';
import { screeningActivities } from './screening';
import { payoutActivities } from './payouts';
import { reconciliationActivities } from './reconciliation';
import { refundActivities } from './refunds';
import { signingActivities } from './signing';
import { swapActivities } from './swaps';
import { sweepActivities } from './sweeps';
import { tracingActivities } from './tracing';
import { treasuryActivities } from './treasury';
import { treasuryCareActivities } from './treasury-care';
import { webhookActivities } from './webhooks';
import { withdrawalActivities } from './withdrawals';

export type Log = Readonly<{
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}>;
type Deps = Readonly<{ db: DataSource; config: Config; log: Log }>;

/** Activities of the payments worker: Postgres, outbound HTTP and mail. */
export const createPaymentActivities = (
  deps: Deps & {
    codecs: Readonly<Record<NetworkId, ChainCodec>>;
    adapters: readonly ChainAdapter[];
    running: RunningWorkflows;
    mailer: Mailer;
  },
) => ({
  ...paymentActivities(deps),
  ...sweepActivities(deps),
  ...swapActivities(deps),
  ...refundActivities(deps),
  ...treasuryActivities(deps),
  ...payoutActivities(deps),
  ...reconciliationActivities(deps),
  ...treasuryCareActivities(deps),
  ...withdrawalActivities(deps),
  ...rateActivities(deps),
  ...webhookActivities(deps),
  ...reconcileActivities(deps),
  ...auditActivities(deps),
  ...mailActivities(deps),
  ...screeningActivities(deps),
});
export type PaymentActivities = ReturnType<typeof createPaymentActivities>;

/** Activities of a chain worker: the only ones that speak to its node. */
export const createChainActivities = (deps: Deps & { adapter: ChainAdapter }) => ({
  ...followerActivities(deps),
  ...broadcastActivities(deps),
  ...tracingActivities(deps),
});
export type ChainActivities = ReturnType<typeof createChainActivities>;

/** Activities of the signer: the only ones that see the seed. */
export const createSignerActivities = (
  deps: Deps & { codecs: Readonly<Record<NetworkId, ChainCodec>>; seed: Uint8Array },
) => signingActivities(deps);
export type SignerActivities = ReturnType<typeof createSignerActivities>;
