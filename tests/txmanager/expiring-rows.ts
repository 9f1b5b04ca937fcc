import type { DataSource, EntityManager } from 'typeorm';
import { expiringOf } from '../../db/txmanager/expiry';
import { attemptsOf, lockIntent, type AttemptRow } from '../../db/txmanager/intents';
import type { BlockRef, ValidityWindow } from '../../domain/txmanager/expiry';
import { refusalToSign } from '../../domain/txmanager/expiry';

/** Intents of a wallet, and a signer that keeps the rule of attempts that expire. Their rows bear the
 *  name of another network. */

export const network = 'bitcoin';

/** What a played signer makes: bytes, and the window that they are valid in. */
export type MadeAttempt = Readonly<{
  txId: string;
  raw: string;
  last: ValidityWindow['last'];
  sequence: number | null;
}>;

let made = 0;
export async function anIntent(db: DataSource, from: string): Promise<string> {
  const [row] = await db.query<Array<{ id: string }>>(
    `INSERT INTO intent (kind, ref, network, currency, from_address, outputs, max_unit_price, fee_budget, owner_kind,
       owner_id)
     VALUES ('consolidate', $1, $2, 'BTC', $3, '[]', 1, 1, 'consolidate', $1) RETURNING id`,
    [`c${(made += 1)}`, network, from],
  );
  return row!.id;
}

export const rowsOf = (db: DataSource, id: string): Promise<AttemptRow[]> => attemptsOf(db.manager, id);

async function keep(
  tx: EntityManager,
  id: string,
  n: number,
  { on, from, made }: Readonly<{ on: BlockRef; from: string; made: MadeAttempt }>,
): Promise<void> {
  const { txId, raw, last, sequence } = made;
  await tx.query(
    `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, unit_price, max_fee_units, moved_units,
       outputs, valid_from_height, valid_from_hash, valid_to_height, valid_to_ms, sequence)
     VALUES ($1, $2, $3, $4, $5, $6, 10, 10, 1, '[]', $7, $8, $9, $10, $11)`,
    [
      ...[id, n, network, txId, raw, from, on.height, on.hash],
      ...['height' in last ? last.height : null, 'time' in last ? last.time : null, sequence],
    ],
  );
  await tx.query(`UPDATE intent SET status = 'stored' WHERE id = $1 AND status = 'planned'`, [id]);
}

/** One transaction that locks the intent, asks the rule, signs and stores. Answers why not; null: it has signed. */
export const signFor = (
  db: DataSource,
  { id, from }: Readonly<{ id: string; from: string }>,
  finalBlock: () => Promise<BlockRef>,
  make: (on: BlockRef) => Promise<MadeAttempt>,
): Promise<string | null> =>
  db.transaction(async (tx) => {
    await lockIntent(tx, id);
    const rows = await attemptsOf(tx, id);
    const on = await finalBlock();
    const refusal = refusalToSign(rows.map(expiringOf), on.height);
    if (refusal !== null) return refusal;
    await keep(tx, id, rows.length + 1, { on, from, made: await make(on) });
    return null;
  });

/** Runs a deed, which an unreachable node may end. */
export const unlessAway = (deed: Promise<unknown>): Promise<unknown> =>
  deed.catch((error: unknown) => {
    if ((error as { code?: string }).code !== 'NODE_UNREACHABLE') throw error;
  });
