import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import type { FeeEstimate } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { fit } from '../../domain/money';
import { feeMaxAgeSeconds } from '../../domain/pricing/quote';
import type { Queryable } from '../query';

/** What the networks' transactions cost now, as the followers were told last. */

/** SQL: whether the estimate in a row of network_fee still counts. */
export const isFreshFee = (fee: string): string => `${fee}.taken_at > now() - interval '${feeMaxAgeSeconds} seconds'`;

export const storeFee = (tx: EntityManager, network: NetworkId, fee: FeeEstimate): Promise<unknown> =>
  tx.query(
    `INSERT INTO network_fee (network, unit_price, tip_price, data_part, taken_at)
     VALUES ($1, $2, $3, $4, clock_timestamp())
     ON CONFLICT (network) DO UPDATE SET unit_price = EXCLUDED.unit_price, tip_price = EXCLUDED.tip_price,
       data_part = EXCLUDED.data_part, taken_at = EXCLUDED.taken_at`,
    [network, fee.unitPrice, fee.tipPrice, fee.dataPart ?? '0'],
  );

/** Native base units per unit of work, of each network whose last estimate is fresh. */
export async function freshUnitPrices(db: Queryable): Promise<ReadonlyMap<string, string>> {
  const fees = await db.query<Array<{ network: string; unit_price: string }>>(
    `SELECT f.network, f.unit_price::text AS unit_price FROM network_fee f WHERE ${isFreshFee('f')}`,
  );
  return new Map(fees.map((fee) => [fee.network, fee.unit_price]));
}

/** Native base units per unit of work, of one network. Throws UPSTREAM_UNAVAILABLE where no estimate is fresh. */
export async function freshUnitPrice(db: Queryable, network: string): Promise<string> {
  const [fee] = await db.query<Array<{ unit_price: string }>>(
    `SELECT f.unit_price::text AS unit_price FROM network_fee f WHERE f.network = $1 AND ${isFreshFee('f')}`,
    [network],
  );
  if (!fee) throw new DomainError('UPSTREAM_UNAVAILABLE', `No fresh fee estimate for ${network}`);
  return fee.unit_price;
}

/** The same rounded up to whole base units. */
export const wholeUnitPrice = async (db: Queryable, network: string): Promise<string> =>
  fit(await freshUnitPrice(db, network), 0, 'up');
