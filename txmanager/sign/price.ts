import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import { fit, smaller } from '../../domain/money';
import type { IntentRow } from '../../db/txmanager/intents';
import { networkKind } from './signer';

export type Price = Readonly<{ unitPrice: string; tipPrice: string }>;

export async function priceNow(tx: EntityManager, network: string): Promise<Price> {
  const [row] = await tx.query<Array<{ unit_price: string; tip_price: string }>>(
    `SELECT unit_price::text, tip_price::text FROM network_fee WHERE network = $1
        AND taken_at > now() - interval '10 minutes'`,
    [network],
  );
  if (!row) throw noPrice(network);
  return priced(network, { unitPrice: row.unit_price, tipPrice: row.tip_price });
}

export const capped = (intent: Pick<IntentRow, 'max_unit_price'>, price: Price): Price => ({
  ...price,
  unitPrice: smaller(price.unitPrice, intent.max_unit_price),
});

export const noPrice = (network: string): DomainError =>
  new DomainError('UPSTREAM_UNAVAILABLE', `No fresh fee estimate for ${network}`);
export const priced = (network: string, { unitPrice, tipPrice }: Price): Price => ({
  unitPrice: fit(unitPrice, networkKind(network) === 'utxo' ? 3 : 0, 'up'),
  tipPrice,
});
