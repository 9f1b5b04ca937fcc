import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import type { FeeEstimate } from '../../domain/chains/chain';

export const storeFee = (tx: EntityManager, network: NetworkId, fee: FeeEstimate): Promise<unknown> =>
  tx.query(
    `INSERT INTO network_fee (network, unit_price, tip_price, data_part, taken_at)
     VALUES ($1, $2, $3, $4, clock_timestamp())
     ON CONFLICT (network) DO UPDATE SET unit_price = EXCLUDED.unit_price, tip_price = EXCLUDED.tip_price,
       data_part = EXCLUDED.data_part, taken_at = EXCLUDED.taken_at`,
    [network, fee.unitPrice, fee.tipPrice, fee.dataPart ?? '0'],
  );
