import type { DataSource } from 'typeorm';
import type { LightningReader } from '../chains/lightning/node';
import type { NetworkId } from '../domain/chains/assets';
import type { ChainAdapter, ChainCodec, ChainNode } from '../domain/chains/chain';
import type { Config } from '../domain/config';
import { auditActivities } from './audit/audit';
import { broadcastActivities } from './txmanager/broadcast';
import { followerActivities } from './chains/follower';
import { invoiceFetcherActivities } from './lightning/fetch';
import { lightningActivities, type KeepDeps } from './lightning/keep';
import { lightningPayerActivities, type PayerDeps } from './lightning/pay';
import { mailActivities } from './mail/mail';
import type { Mailer } from '../commands/mail/mailer';
import { paymentActivities, sweepActivities } from './payments/payments';
import { rateActivities } from './pricing/rates';
import { restartActivities, type EndWorkflows, type RunningWorkflows } from './temporal/restart';
import { screeningActivities } from './screening/screening';
import { payoutActivities } from './payouts/payouts';
import { reconciliationActivities } from './audit/reconciliation';
import { refundActivities } from './refunds/refunds';
import { signingActivities } from './txmanager/signing';
import { swapActivities } from './conversions/swaps';
import { tracingActivities } from './screening/tracing';
import type { Signer } from '../txmanager/sign/signer';
import { treasuryActivities } from './treasury/treasury';
import { treasuryMaintenanceActivities } from './treasury/maintenance';
import type { ServerPlaces } from './webhooks/server-places';
import { webhookActivities } from './webhooks/webhooks';
import { withdrawalActivities } from './withdrawals/withdrawals';

type Log = Readonly<{
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}>;
type Deps = Readonly<{ db: DataSource; config: Config; log: Log }>;

/** Activities of the payments worker: Postgres, outbound HTTP and mail, and questions to nodes. */
export const createPaymentActivities = (
  deps: Deps & {
    codecs: Readonly<Record<NetworkId, ChainCodec>>;
    adapters: readonly ChainAdapter[];
    lightning?: LightningReader | undefined;
    running: RunningWorkflows;
    endWorkflows: EndWorkflows;
    mailer: Mailer;
    places?: ServerPlaces;
    deliveryLog: Log;
  },
) => ({
  ...paymentActivities(deps),
  ...sweepActivities({ ...deps, nodes: deps.adapters }),
  ...swapActivities({ ...deps, nodes: deps.adapters }),
  ...refundActivities({ ...deps, nodes: deps.adapters }),
  ...treasuryActivities({ ...deps, nodes: deps.adapters }),
  ...payoutActivities({ ...deps, nodes: deps.adapters }),
  ...reconciliationActivities(deps),
  ...treasuryMaintenanceActivities(deps),
  ...withdrawalActivities({ ...deps, nodes: deps.adapters }),
  ...rateActivities(deps),
  ...webhookActivities({ ...deps, log: deps.deliveryLog }),
  ...restartActivities(deps),
  ...auditActivities(deps),
  ...mailActivities(deps),
  ...invoiceFetcherActivities(deps),
  ...screeningActivities(deps),
});
export type PaymentActivities = ReturnType<typeof createPaymentActivities>;

/** Activities of a chain worker: the only ones that follow its node, and send. */
export const createChainActivities = (
  deps: Deps & { adapter: ChainAdapter; second?: Pick<ChainNode, 'head' | 'blockHash'> },
) => ({
  ...followerActivities(deps),
  ...broadcastActivities(deps),
  ...tracingActivities(deps),
});
export type ChainActivities = ReturnType<typeof createChainActivities>;

/** Activities of the chain worker that speaks to our Lightning node: the only ones that make invoices, and take their
 *  money. */
export const createLightningActivities = (deps: KeepDeps) => lightningActivities(deps);
export type LightningActivities = ReturnType<typeof createLightningActivities>;

/** Activities of the signer: the only ones that see the seed. */
export const createSignerActivities = (
  deps: Deps & Required<Pick<Signer, 'codecs' | 'seed' | 'expiring' | 'record'>>,
) => signingActivities({ ...deps, newDestinations: deps.config.newDestinations });
export type SignerActivities = ReturnType<typeof createSignerActivities>;

/** Activities of the signer where it pays by our Lightning node: the only ones that can. */
export const createLightningPayerActivities = (deps: PayerDeps) => lightningPayerActivities(deps);
export type LightningPayerActivities = ReturnType<typeof createLightningPayerActivities>;
