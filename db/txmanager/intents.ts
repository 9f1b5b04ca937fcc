import type { EntityManager } from 'typeorm';
import { changedCount, prepared, type Queryable } from '../query';
import { assetOf } from '../../domain/chains/assets';
import { faultOfTag, isCarried } from '../../domain/chains/tags';
import { DomainError } from '../../domain/errors';
import { kinds } from '../../domain/txmanager/kinds';
import { delayCauses, type WaitCause } from '../../domain/txmanager/waits';
import { type IntentOwner } from '../../domain/workflow-ids';
import type { RowOf } from '../entity';
import type { intentEntity, attemptEntity, attemptAccountEntity } from './entities';
import type { sweepShareEntity } from '../sweeps/entities';

/** What shall be sent: one row per business effect, whatever happens to its transactions. Invariants: 5. */
export type IntentRow = RowOf<typeof intentEntity>;
/** All of them, for statements that are prepared. */
export const intentColumns = `id, kind, ref, network, currency, from_address, outputs, deposit_ids, max_unit_price,
  fee_budget, status, payment_id, merchant_id, owner_kind, owner_id, lost_owner_kind, lost_owner_id, booked, created_at,
  updated_at, refusals, void_through, gas_limit, gas_estimated_at, replaced_at, replaced_by, lost, waits_for`;

/** A payment's part in a sweep of many; base units as decimal strings. */
export type ShareRow = RowOf<typeof sweepShareEntity>;

/** One signed transaction of an intent. `raw` left no process before this row was committed. */
export type AttemptRow = RowOf<typeof attemptEntity>;

/** An account whose tokens an attempt of the gas wallet moves. */
export type AccountRow = Omit<RowOf<typeof attemptAccountEntity>, 'tag'>;

export type NewIntent = Omit<
  IntentRow,
  | 'id'
  | 'status'
  | 'booked'
  | 'refusals'
  | 'void_through'
  | 'replaced_at'
  | 'replaced_by'
  | 'gas_limit'
  | 'gas_estimated_at'
  | 'lost_owner_kind'
  | 'lost_owner_id'
  | 'lost'
  | 'waits_for'
  | 'created_at'
  | 'updated_at'
>;

/** Records what shall be sent, once per (kind, ref): its id, or null where it was recorded before. */
export const planIntent = async (tx: EntityManager, intent: NewIntent): Promise<string | null> =>
  (await planIntents(tx, [intent]))[0] ?? null;

/** Many at once, in this order: the ids of those that were not recorded before. Throws INTENT_MISMATCH where what
 *  leaves lacks the tag that its asset requires, or has one that nothing would carry. */
export async function planIntents(tx: EntityManager, intents: readonly NewIntent[]): Promise<string[]> {
  for (const { currency, kind, ref, outputs } of intents)
    for (const { tag, units } of outputs) {
      const fault = faultOfTag(assetOf(currency), tag);
      // Change, and what moves between addresses of ours, has no tag. The signer looks where each goes.
      const isInside = tag === undefined && (units === null || !kinds[kind].leaves);
      if ((fault && !isInside) || !isCarried(assetOf(currency)))
        throw new DomainError('INTENT_MISMATCH', `${kind} ${ref}: ${fault ?? `${currency} cannot be sent`}`);
    }
  const rows = await tx.query<Array<{ id: string }>>(
    `INSERT INTO intent (kind, ref, network, currency, from_address, outputs, deposit_ids, max_unit_price, fee_budget,
                         payment_id, merchant_id, owner_kind, owner_id)
     SELECT kind, ref, network, currency, from_address, outputs, deposit_ids, max_unit_price, fee_budget,
            payment_id, merchant_id, owner_kind, owner_id
       FROM ROWS FROM (jsonb_to_recordset($1::jsonb) AS (kind text, ref text, network text, currency text,
         from_address text, outputs jsonb,
         deposit_ids bigint[], max_unit_price numeric, fee_budget numeric, payment_id text, merchant_id text,
         owner_kind text, owner_id text)) WITH ORDINALITY
      ORDER BY ordinality ON CONFLICT (kind, ref) DO NOTHING RETURNING id`,
    [JSON.stringify(intents)],
  );
  return rows.map((row) => row.id);
}

/** The intent, locked until the transaction ends. Throws where there is none: ids come from our own rows. */
export async function lockIntent(tx: EntityManager, id: string): Promise<IntentRow> {
  const [row] = await tx.query<IntentRow[]>('SELECT * FROM intent WHERE id = $1 FOR UPDATE', [id]);
  if (!row) throw new Error(`No intent ${id}`);
  return row;
}

/** SQL: whether money that this owner sends waits for a limit, a pause, a stop or a check before it is signed.
 *  `ownerId`: the SQL of its id. */
export const isDelayedSql = (ownerKind: 'withdrawal' | 'payout-batch' | 'refund', ownerId: string): string =>
  `EXISTS (SELECT FROM intent delayed WHERE delayed.owner_kind = '${ownerKind}' AND delayed.owner_id = ${ownerId}
      AND delayed.status = 'planned' AND delayed.waits_for = ANY('{${delayCauses.join()}}'))`;

/** Keeps why nothing was signed for an intent, as its merchant is told. */
export const noteWait = (db: Queryable, id: string, cause: WaitCause): Promise<unknown> =>
  db.query(`UPDATE intent SET waits_for = $2 WHERE id = $1 AND status = 'planned' AND waits_for IS DISTINCT FROM $2`, [
    id,
    cause,
  ]);

/** The intent, locked, where its end is not decided yet; null otherwise. */
export async function lockOpenIntent(tx: EntityManager, id: string): Promise<IntentRow | null> {
  const [row] = await tx.query<IntentRow[]>(
    `SELECT * FROM intent WHERE id = $1 AND status IN ('planned', 'stored', 'sent') FOR UPDATE`,
    [id],
  );
  return row ?? null;
}

/** What the transactions of an intent may pay from now on. */
export const setLimits = (
  tx: EntityManager,
  id: string,
  limits: Readonly<{ maxUnitPrice: string; feeBudget: string }>,
): Promise<unknown> =>
  tx.query('UPDATE intent SET max_unit_price = $2, fee_budget = $3, updated_at = now() WHERE id = $1', [
    id,
    limits.maxUnitPrice,
    limits.feeBudget,
  ]);

/** What moves a payment's deposits: its own intents, and those of batches as far as they are its own. */
export type PaymentIntent = IntentRow & { share: ShareRow | null };
export async function intentsOf(tx: EntityManager, paymentId: string): Promise<PaymentIntent[]> {
  const rows = await tx.query<Array<IntentRow & { share: ShareRow | null }>>(
    `SELECT i.*, NULL::jsonb AS share FROM intent i WHERE i.payment_id = $1
     UNION ALL
     SELECT i.*, to_jsonb(s) || jsonb_build_object('deposit_ids', s.deposit_ids::text[], 'brought_units',
       s.brought_units::text,
                                                   'net_units', s.net_units::text, 'fee_units', s.fee_units::text)
       FROM sweep_share s JOIN intent i ON i.id = s.intent_id WHERE s.payment_id = $1 AND s.dropped_at IS NULL
         ORDER BY id`,
    [paymentId],
  );
  return rows.map((row) => (row.share ? { ...row, deposit_ids: row.share.deposit_ids } : row));
}

/** The payments of a batch that are still in it, in its order; empty where the intent is no batch. */
export const sharesOf = (tx: EntityManager, intentId: string): Promise<ShareRow[]> =>
  tx.query<ShareRow[]>(`SELECT * FROM sweep_share WHERE intent_id = $1 AND dropped_at IS NULL ORDER BY position`, [
    intentId,
  ]);

/** Lets payments out of a batch: their deposits are free for another sweep. */
export async function dropShares(tx: EntityManager, shares: readonly ShareRow[], because: string): Promise<void> {
  for (const share of shares) {
    await tx.query(
      `UPDATE sweep_share SET dropped_at = now(), dropped_because = $3 WHERE intent_id = $1 AND payment_id = $2
         AND dropped_at IS NULL`,
      [share.intent_id, share.payment_id, because],
    );
    await tx.query('DELETE FROM coin_lock WHERE intent_id = $1 AND deposit_id = ANY($2::bigint[])', [
      share.intent_id,
      share.deposit_ids,
    ]);
  }
}

/** Whose an intent is, as its columns say. */
export const ownerOf = (intent: Pick<IntentRow, 'owner_kind' | 'owner_id'>): IntentOwner => ({
  kind: intent.owner_kind,
  id: intent.owner_id,
});

/** The columns of a new intent that say whose it is. */
export const ownedBy = ({ kind, id }: IntentOwner): Pick<IntentRow, 'owner_kind' | 'owner_id'> => ({
  owner_kind: kind,
  owner_id: id,
});

/** Intents of an owner, in the order they were planned. */
export const intentsOwnedBy = (tx: EntityManager, owner: IntentOwner): Promise<IntentRow[]> =>
  tx.query<IntentRow[]>('SELECT * FROM intent WHERE owner_kind = $1 AND owner_id = $2 ORDER BY id', [
    owner.kind,
    owner.id,
  ]);

/** Those that nothing is signed for: of a mass payout a few, where all of its intents may be hundreds. `network`: on it
 *  alone. */
export const plannedOf = (tx: EntityManager, owner: IntentOwner, network?: string): Promise<IntentRow[]> =>
  tx.query<IntentRow[]>(
    `SELECT * FROM intent WHERE owner_kind = $1 AND owner_id = $2 AND status = 'planned'
        AND network = coalesce($3, network) ORDER BY id`,
    [owner.kind, owner.id, network ?? null],
  );

/** Keeps the coins of an intent from every other one; final where one of them has another's lock already. */
export async function lockCoinsFor(tx: EntityManager, intent: Pick<IntentRow, 'id' | 'deposit_ids'>): Promise<void> {
  for (const depositId of intent.deposit_ids) {
    const [lock] = await tx.query<Array<{ intent_id: string }>>(
      `INSERT INTO coin_lock AS l (deposit_id, intent_id) VALUES ($1, $2)
       ON CONFLICT (deposit_id) DO UPDATE SET intent_id = l.intent_id RETURNING intent_id`,
      [depositId, intent.id],
    );
    if (lock?.intent_id !== intent.id)
      throw new DomainError('INTENT_MISMATCH', `Deposit ${depositId} is locked by intent ${lock?.intent_id}`);
  }
}

/** Drops plans that nobody has signed: all of an owner, or some. Frees the coins that they held. */
export const dropIntents = (
  tx: EntityManager,
  owner: IntentOwner,
  some: readonly string[] | null = null,
): Promise<unknown> => tx.query('SELECT drop_intents($1, $2, $3)', [owner.kind, owner.id, some]);

/** SQL: of each intent that is not final the attempt that counts, the mined or the newest. One that replaces the others
 *  counts where it is mined: until then any of them may be. `where`: which attempts `a`. */
export const openAttempts = (where: string): string =>
  `SELECT DISTINCT ON (a.intent_id) a.*, i.currency FROM attempt a JOIN intent i ON i.id = a.intent_id
    WHERE ${where} AND a.status IN ('stored', 'sent', 'mined')
      AND NOT EXISTS (SELECT FROM attempt f WHERE f.intent_id = a.intent_id AND f.status = 'final')
    ORDER BY a.intent_id, a.status = 'mined' DESC, a.is_replacement, a.n DESC`;

/** Which attempts of an address count, where one intent is left out. */
const ofTheOthers = 'a.network = $1 AND a.from_address = $2 AND a.intent_id IS DISTINCT FROM $5';

/** What an address can spend now, as a decimal string: what is confirmed there, less what our transactions took or may
 *  take. Of the attempts of an intent one counts. Reads the totals of what is final, and what is not. */
export async function spendableAt(
  tx: EntityManager,
  at: Readonly<{ network: string; address: string; currency: string; native: string; exceptIntentId?: string }>,
): Promise<{ arrived: string; goneUnits: string }> {
  const [row] = await prepared(tx, 'spendable').query<Array<{ arrived: string; gone: string }>>(
    `SELECT t.arrived::text, (t.gone + coalesce((
              SELECT sum(CASE WHEN one.currency <> $3 THEN 0 WHEN one.moves IS NOT NULL
                THEN units_from(one.moves, $2) ELSE one.moved_units END + CASE WHEN $3 = $4
                THEN one.max_fee_units ELSE 0 END)
                FROM (${openAttempts(ofTheOthers)}) one), 0)
            + coalesce((SELECT sum(one.units)
              FROM (SELECT DISTINCT ON (a.intent_id) CASE WHEN a.moves IS NOT NULL THEN units_from(a.moves, $2)
                WHEN a.success IS DISTINCT FROM false THEN c.units ELSE 0 END AS units, i.currency
                      FROM attempt_account c
                JOIN attempt a ON a.id = c.attempt_id
                      JOIN intent i ON i.id = a.intent_id
                     WHERE c.network = $1 AND c.address = $2 AND a.status <> 'replaced'
                     ORDER BY a.intent_id, a.status IN ('mined', 'final') DESC, a.n DESC) one
             WHERE one.currency = $3), 0))::text AS gone
       FROM (SELECT coalesce(sum(arrived) FILTER (WHERE currency = $3), 0) AS arrived,
                    coalesce(sum(moved) FILTER (WHERE currency = $3), 0) + CASE WHEN $3 = $4 THEN coalesce(sum(fees), 0)
                      ELSE 0 END AS gone
               FROM wallet_total WHERE network = $1 AND address = $2) t`,
    [at.network, at.address, at.currency, at.native, at.exceptIntentId ?? null],
  );
  return { arrived: row!.arrived, goneUnits: row!.gone };
}

/** The attempts of an intent, oldest first. */
export const attemptsOf = (tx: EntityManager, intentId: string): Promise<AttemptRow[]> =>
  tx.query<AttemptRow[]>('SELECT * FROM attempt WHERE intent_id = $1 ORDER BY n', [intentId]);

/** Accounts whose tokens an attempt moves, by address; none where its sender's own move. */
export const accountsOf = (tx: EntityManager, attemptId: string): Promise<AccountRow[]> =>
  tx.query<AccountRow[]>(
    `SELECT attempt_id, network, address, nonce, units, deposit_ids FROM attempt_account
      WHERE attempt_id = $1 ORDER BY address`,
    [attemptId],
  );

export const setIntentStatus = (
  tx: EntityManager,
  id: string,
  status: IntentRow['status'],
  from: readonly IntentRow['status'][],
): Promise<unknown> =>
  tx.query('UPDATE intent SET status = $2, updated_at = now() WHERE id = $1 AND status = ANY($3)', [id, status, from]);

/** Statuses of an intent whose end is not decided: no block has it. */
const openStatuses = ['planned', 'stored', 'sent'] as const;

/** Ends an intent that nothing will be sent for any more. False where it is in a block, final or over already, or has
 *  none of the statuses `from`: nothing changes then. The caller holds its lock, or asks for `planned` alone. */
export const endIntent = async (
  tx: EntityManager,
  id: string,
  from: ReadonlyArray<(typeof openStatuses)[number]> = openStatuses,
): Promise<boolean> =>
  (await changedCount(tx, `UPDATE intent SET status = 'dead', updated_at = now() WHERE id = $1 AND status = ANY($2)`, [
    id,
    from,
  ])) > 0;

/** The lowest nonce of each wallet that is signed and in no block: what is behind it cannot be mined, whatever it
 *  pays. A batch uses the nonces of its accounts too. Wallets without one are not in the answer. */
export async function lowestOpenNonces(
  db: Pick<EntityManager, 'query'>,
  network: string,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db.query<Array<{ address: string; nonce: number | null }>>(
    `SELECT w.address, least(
       (SELECT a.nonce FROM attempt a
         WHERE a.network = $1 AND a.from_address = w.address AND a.nonce IS NOT NULL AND a.status IN ('stored', 'sent')
           AND NOT EXISTS (SELECT FROM attempt m WHERE m.network = a.network AND m.from_address = a.from_address
                              AND m.nonce = a.nonce AND m.status IN ('mined', 'final'))
         ORDER BY a.nonce LIMIT 1),
       (SELECT min(c.nonce) FROM attempt_account c JOIN attempt a ON a.id = c.attempt_id
         WHERE c.network = $1 AND c.address = w.address AND a.status IN ('stored', 'sent')
           AND NOT EXISTS (SELECT FROM attempt m WHERE m.intent_id = a.intent_id AND m.status IN ('mined', 'final')))
       ) AS nonce
       FROM unnest($2::text[]) AS w (address)`,
    [network, [...new Set(addresses)]],
  );
  return new Map(rows.flatMap(({ address, nonce }) => (nonce === null ? [] : [[address, nonce] as const])));
}
