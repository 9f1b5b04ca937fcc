import { fit, smaller } from '../../domain/money';
import type { IntentRow } from '../../db/txmanager/intents';
import { networkKind } from './signer';

export type Price = Readonly<{ unitPrice: string; tipPrice: string }>;

/** An estimate in the whole units that a network takes. */
export const priced = (network: string, { unitPrice, tipPrice }: Price): Price => ({
  unitPrice: fit(unitPrice, networkKind(network) === 'utxo' ? 3 : 0, 'up'),
  tipPrice,
});

/** No more than the intent may pay. */
export const capped = (intent: Pick<IntentRow, 'max_unit_price'>, price: Price): Price => ({
  ...price,
  unitPrice: smaller(price.unitPrice, intent.max_unit_price),
});
