import type { NetworkId } from '../../domain/chains/assets';
import type { ChainCodec } from '../../domain/chains/chain';
import type { Config } from '../../domain/config';
import type { ReceiptDeps } from './receipts';

/** What commands on a payment need beside their transaction. */
export type PaymentCommandDeps = Readonly<{
  config: Pick<Config, 'RATE_MAX_AGE_SECONDS' | 'QUOTE_TTL_SECONDS' | 'confirmations' | 'amlProviders'>;
  codecs: Readonly<Record<NetworkId, Pick<ChainCodec, 'network' | 'derive' | 'normalise' | 'refusalOf'>>>;
}>;

/** What the steps of a payment's life need: a step may also tell the payer. */
export type AdvanceDeps = PaymentCommandDeps & ReceiptDeps;
