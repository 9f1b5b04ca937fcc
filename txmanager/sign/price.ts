import { fit, smaller } from '../../domain/money';
import type { IntentRow } from '../../db/txmanager/intents';
import { networkKind } from './signer';

/** As in FeeEstimate. */
export type Price = Readonly<{ unitPrice: string; tipPrice: string; dataPart: string }>;

/** What a transaction offers per gas at the most. Throws where nothing is left beside the data part. */
export function offeredPrice({ unitPrice, dataPart }: Pick<Price, 'unitPrice' | 'dataPart'>): bigint {
  const offered = BigInt(fit(unitPrice, 0, 'up')) - BigInt(fit(dataPart, 0, 'up'));
  if (offered <= 0n) throw new Error(`a price of ${unitPrice} leaves nothing beside ${dataPart} for data`);
  return offered;
}
/** What a transaction costs at the most, what it keeps for data included. */
export const mostFee = (gasLimit: bigint, { unitPrice }: Pick<Price, 'unitPrice'>): bigint =>
  gasLimit * BigInt(fit(unitPrice, 0, 'up'));

/** An estimate in the whole units that a network takes. */
export const priced = (network: string, { unitPrice, tipPrice, dataPart }: Price): Price => ({
  unitPrice: fit(unitPrice, networkKind(network) === 'utxo' ? 3 : 0, 'up'),
  tipPrice,
  dataPart,
});

/** No more than the intent may pay. */
export const capped = (intent: Pick<IntentRow, 'max_unit_price'>, price: Price): Price => ({
  ...price,
  unitPrice: smaller(price.unitPrice, intent.max_unit_price),
});
