import type { EntityManager } from 'typeorm';
import { ensure } from '../db/ledger/ledger';
import type { AttemptRow } from '../db/txmanager/intents';
import { assetOf, networkOf } from '../domain/chains/assets';
import type { Hold } from '../domain/ledger/ledger';
import { revertFeeJournal, revertFeeKey } from '../domain/ledger/network-fees';
import { divide, fit, isPositive, smaller } from '../domain/money';
import { feeIn } from '../domain/sweeps/sweep';

/** Charges the fee of a reverted transaction to the merchant who asked for it, out of what has just come back to him.
 *  Nothing is charged for a replacement, or for one that differs, which the operators decided. Safe to repeat: mined
 *  again after a reorganisation, it costs him what it cost first. `quoted`: its fee as it was quoted, where no rate is
 *  known. */
export async function chargeRevert(
  tx: EntityManager,
  hold: Hold,
  mined: Pick<AttemptRow, 'tx_id' | 'fee_units' | 'is_replacement' | 'decision'>,
  quoted: string,
): Promise<void> {
  if (mined.is_replacement || mined.decision !== null) return;
  const { decimals } = assetOf(hold.currency);
  const [known] = await tx.query<Array<{ amount: string; tx_id: string }>>(
    `SELECT trim_scale(p.amount)::text AS amount, j.details->>'txId' AS tx_id
       FROM journal j JOIN posting p ON p.journal_id = j.id WHERE j.key = $1`,
    [revertFeeKey(hold)],
  );
  if (known) return ensure(tx, revertFeeJournal({ ...hold, amount: known.amount, txId: known.tx_id }));
  const rate = await nativeRate(tx, hold.currency);
  const cost = rate === null ? fit(quoted, decimals, 'up') : feeIn(hold.currency, BigInt(mined.fee_units ?? '0'), rate);
  // A refund from deposits brings nothing back to the balance: what is there pays, until their payer has borne it.
  const [balance] = await tx.query<Array<{ amount: string | null }>>('SELECT lock_available($1, $2)::text AS amount', [
    hold.merchantId,
    hold.currency,
  ]);
  const amount = smaller(
    smaller(cost, fit(hold.gross, decimals, 'down')),
    fit(balance?.amount ?? '0', decimals, 'down'),
  );
  if (isPositive(amount)) await ensure(tx, revertFeeJournal({ ...hold, amount, txId: mined.tx_id }));
}

/** Units of a currency per whole native unit, by the newest rates; null where one is missing. */
async function nativeRate(tx: EntityManager, currency: string): Promise<string | null> {
  const { native } = networkOf(currency);
  if (native === currency) return '1';
  const [row] = await tx.query<Array<{ native: string | null; own: string | null }>>(
    `SELECT (SELECT value::text FROM rate_latest WHERE currency = $1 AND fiat = 'USD') AS native,
            (SELECT value::text FROM rate_latest WHERE currency = $2 AND fiat = 'USD') AS own`,
    [native, currency],
  );
  return row?.native && row.own ? divide(row.native, row.own, 18, 'up') : null;
}
