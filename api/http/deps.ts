import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';
import { readInvoice } from '../../chains/lightning/invoice';
import type { NetworkId } from '../../domain/chains/assets';
import type { ChainCodec } from '../../domain/chains/chain';
import type { Config } from '../../domain/config';
import type { OpenPaymentDeps } from '../../commands/payments/create';
import type { Mailer } from '../../commands/mail/mailer';
import type { RateLimits } from '../../db/access/rate-limits';
import type { ExternalConversions } from '../../commands/conversions/provider-quote';
import type { Sessions } from '../access/sessions';
import type { FreshRates } from '../conversions/fresh-rates';
import type { Keys } from '../access/keys';
import type { Metrics } from './metrics';
import type { RequestLog } from './request-log';
import type { PaymentChanges } from '../payments/payment-changes';
import type { PaymentCommands } from '../payments/payment-commands';

/** The half of a codec that knows public keys alone. */
type AddressCodec = Pick<ChainCodec, 'network' | 'derive' | 'normalise' | 'refusalOf' | 'paymentUri'>;

/** What routes work with; made once per process in main.ts, or by a test. */
export type ApiDeps = Readonly<{
  config: Config;
  db: DataSource;
  codecs: Readonly<Record<NetworkId, AddressCodec>>;
  limits: RateLimits;
  keys: Keys;
  sessions: Sessions;
  mailer: Mailer;
  commands: PaymentCommands;
  changes: PaymentChanges;
  freshRates: FreshRates;
  /** Executes what is not converted from our own balance sheet; without it such pairs are off. */
  external?: ExternalConversions;
  metrics: Metrics;
  requestLog: RequestLog;
  logger: Logger;
  /** Set when the process is about to end: not ready any more, and connections are not kept. */
  lifecycle: { isDraining: boolean };
}>;

/** What checks and prices of money that leaves works with. */
export const sendDeps = ({ codecs, config }: Pick<ApiDeps, 'codecs' | 'config'>) => ({
  codecs,
  rateMaxAgeSeconds: config.RATE_MAX_AGE_SECONDS,
  lightning: config.LIGHTNING_WITHDRAWALS
    ? { read: readInvoice, network: config.chain.chainNames.bitcoin ?? '' }
    : undefined,
});

/** Whether this is a live instance: rows say so as `livemode`. */
export const isLive = ({ config }: Pick<ApiDeps, 'config'>): boolean => config.MODE === 'live';

/** What opening a payment works with. */
export const openingDeps = ({ db, codecs, config }: ApiDeps): OpenPaymentDeps => ({
  db,
  codecs,
  settings: {
    rateMaxAgeSeconds: config.RATE_MAX_AGE_SECONDS,
    quoteTtlSeconds: config.QUOTE_TTL_SECONDS,
    defaultExpiresIn: config.DEFAULT_EXPIRES_IN,
    openPaymentsQuota: config.OPEN_PAYMENTS_QUOTA,
    openCheckoutsQuota: config.OPEN_CHECKOUTS_QUOTA,
    allowInsecureCallbacks: config.ALLOW_INSECURE_CALLBACKS,
    confirmations: config.confirmations,
    byLightning: config.LIGHTNING_PAYMENTS,
    livemode: isLive({ config }),
  },
});
