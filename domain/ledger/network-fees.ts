import { kinds } from '../txmanager/kinds';
import { available, holdKey, journal, type Hold, type Journal } from './ledger';

/** Network fees that a merchant is charged beside what he asked for. */

type NetworkFee = Hold & { amount: string };
const networkFeeJournal = (key: string, fee: NetworkFee, details: Record<string, string>): Journal =>
  journal(
    key,
    { type: 'network_fee', sourceType: kinds[fee.kind].statement.sourceType, sourceId: fee.sourceId ?? fee.id },
    [{ debit: available(fee.merchantId), credit: 'I:network', asset: fee.currency, amount: fee.amount }],
    details,
  );

/** What a transaction took that a block has and that moved nothing: who asked for it pays it, after the whole of what
 *  was held has come back. */
export const revertFeeKey = (hold: Pick<Hold, 'kind' | 'id'>): string => `${holdKey(hold)}/reverted`;
export const revertFeeJournal = (fee: NetworkFee & { txId: string }): Journal =>
  networkFeeJournal(revertFeeKey(fee), fee, { txId: fee.txId });
/** What a recipient's code takes above the quoted network fee, beside the hold. */
export const gasFeeKey = (hold: Pick<Hold, 'kind' | 'id'>): string => `${holdKey(hold)}/gas`;
export const gasFeeJournal = (fee: NetworkFee & { gasLimit: string }): Journal =>
  networkFeeJournal(gasFeeKey(fee), fee, { gasLimit: fee.gasLimit });
