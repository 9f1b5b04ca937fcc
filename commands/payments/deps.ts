import type { NetworkId } from '../../domain/chains/assets';
import type { ChainCodec } from '../../domain/chains/chain';
import type { Config } from '../../domain/config';

/** What commands on a payment need beside their transaction. */
export type PaymentCommandDeps = Readonly<{
  config: Pick<Config, 'RATE_MAX_AGE_SECONDS' | 'QUOTE_TTL_SECONDS' | 'confirmations' | 'amlProviders'>;
  codecs: Readonly<Record<NetworkId, Pick<ChainCodec, 'network' | 'derive' | 'normalise' | 'refusalOf'>>>;
}>;
