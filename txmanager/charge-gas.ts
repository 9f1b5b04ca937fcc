import type { EntityManager } from 'typeorm';
import { ensure } from '../db/ledger/ledger';
import { feeAboveQuote } from '../domain/chains/costs';
import type { Hold } from '../domain/ledger/ledger';
import { gasFeeJournal, gasFeeKey } from '../domain/ledger/network-fees';
import { compare, isPositive } from '../domain/money';

/** What a transfer was asked for with: its hold, and the network fee in it. */
export type Asked = Readonly<{ hold: Hold; quoted: string }>;

/** What a merchant reads where his balance cannot pay for the gas of a recipient. */
export const unpaidGas =
  'The address takes more gas than a usual transfer, and the balance cannot pay for it. Nothing was sent';

/** Charges the merchant for the gas that a recipient takes above the quoted network fee, by the estimate that is
 *  signed: once, and until nothing is sent after all. False where his balance cannot pay. The caller has locked what
 *  was asked for. */
export async function chargeGas(tx: EntityManager, { hold, quoted }: Asked, gasLimit: bigint): Promise<boolean> {
  const amount = feeAboveQuote(hold.currency, quoted, gasLimit);
  if (!isPositive(amount)) return true;
  const [known] = await tx.query<unknown[]>('SELECT FROM journal WHERE key = $1', [gasFeeKey(hold)]);
  if (known) return true;
  const [balance] = await tx.query<Array<{ amount: string | null }>>('SELECT lock_available($1, $2)::text AS amount', [
    hold.merchantId,
    hold.currency,
  ]);
  if (compare(balance?.amount ?? '0', amount) < 0) return false;
  await ensure(tx, gasFeeJournal({ ...hold, amount, gasLimit: gasLimit.toString() }));
  return true;
}
