import type { DataSource } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import type { ChainCodec } from '../../domain/chains/chain';
import type { Config } from '../../domain/config';

export type PaymentDeps = Readonly<{ db: DataSource; config: Config; codecs: Readonly<Record<NetworkId, ChainCodec>> }>;
