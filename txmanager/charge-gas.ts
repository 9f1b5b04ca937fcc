import type { EntityManager } from 'typeorm';
import { ensure } from '../db/ledger/ledger';
import { lowerNet } from '../db/txmanager/added-fees';
import type { IntentRow } from '../db/txmanager/intents';
import { baseUnits } from '../domain/chains/assets';
import { feeAboveQuote } from '../domain/chains/costs';
import type { Hold } from '../domain/ledger/ledger';
import { gasFeeJournal, gasFeeKey } from '../domain/ledger/network-fees';
import { add, compare, isPositive } from '../domain/money';
import { leftAfter, type FeeColumns } from '../domain/txmanager/added-fee';

/** What a transfer was asked for with: its hold, the fee of its row, and who bears that. */
export type Asked = Readonly<{ hold: Hold; row: FeeColumns; bearer: 'merchant' | 'receiver' }>;

/** What a merchant reads where his balance cannot pay for the gas of a recipient. */
export const unpaidGas =
  'The address takes more gas than a usual transfer, and the balance cannot pay for it. Nothing was sent';
/** The same where the recipient bears it, and gets too little for that. */
export const nothingLeft =
  'The address takes a higher network fee, and too little of the amount would be left. Nothing was sent';

/** `lower`: the intent pays less than it did. `borne`: the network fee of its row, where its receiver bears more than
 *  the quote. `unpaid`: it cannot be paid, in words for the merchant. */
type Charged =
  Readonly<{ state: 'paid' | 'lower'; borne: string | null }> | Readonly<{ state: 'unpaid'; message: string }>;

/** Has whoever bears the network fee pay for the gas that a recipient takes above the quote, by the estimate that is
 *  signed: once, and until nothing is sent after all. The caller has locked what was asked for, and the intent. */
export async function chargeGas(
  tx: EntityManager,
  intent: Pick<IntentRow, 'id' | 'outputs'>,
  { hold, row, bearer }: Asked,
  gasLimit: bigint,
): Promise<Charged> {
  const paid: Charged = { state: 'paid', borne: row.added_fee === null ? null : row.network_fee };
  if (row.added_fee !== null) return paid;
  const amount = feeAboveQuote(hold.currency, row.network_fee, gasLimit);
  if (!isPositive(amount)) return paid;
  const [known] = await tx.query<unknown[]>('SELECT FROM journal WHERE key = $1', [gasFeeKey(hold)]);
  if (known) return paid;
  if (bearer === 'receiver') return deduct(tx, intent, { hold, row }, amount);
  const [balance] = await tx.query<Array<{ amount: string | null }>>('SELECT lock_available($1, $2)::text AS amount', [
    hold.merchantId,
    hold.currency,
  ]);
  if (compare(balance?.amount ?? '0', amount) < 0) return { state: 'unpaid', message: unpaidGas };
  await ensure(tx, gasFeeJournal({ ...hold, amount, gasLimit: gasLimit.toString() }));
  return paid;
}

/** Its receiver gets less, by its row and by its intent at once. On account chains an intent pays one. */
async function deduct(
  tx: EntityManager,
  { id, outputs }: Pick<IntentRow, 'id' | 'outputs'>,
  { hold, row }: Omit<Asked, 'bearer'>,
  amount: string,
): Promise<Charged> {
  const net = leftAfter(row.net_amount, amount, hold.currency);
  if (net === null) return { state: 'unpaid', message: nothingLeft };
  if (!(await lowerNet(tx, hold.kind, hold.id, net)))
    throw new Error(`${hold.kind} ${hold.id} has changed while its fee was added`);
  const lower = outputs.map((output) => ({ ...output, units: baseUnits(hold.currency, net).toString() }));
  await tx.query('UPDATE intent SET outputs = $2 WHERE id = $1', [id, JSON.stringify(lower)]);
  return { state: 'lower', borne: add(row.network_fee, amount) };
}
