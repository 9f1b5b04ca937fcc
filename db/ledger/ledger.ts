import type { DataSource, EntityManager } from 'typeorm';
import { assetOf, networkOf } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import { add, compare, fromUnits } from '../../domain/money';
import {
  depositJournal,
  depositKey,
  feeChangeJournal,
  feeChangeKey,
  unallocatedJournal,
  holdKey,
  reversal,
  otherEndKey,
  reallocateJournal,
  reallocateKey,
  type DepositRef,
  type FeePayer,
  type Hold,
  type Journal,
  type Posting,
} from '../../domain/ledger/ledger';
import { gasFeeKey, revertFeeKey } from '../../domain/ledger/network-fees';
import { type EntrySource } from '../../domain/ledger/entry';
import type { PaymentRow } from '../../domain/payments/payment';
import { failPoint } from '../fail-point';
import { openIncident } from '../incidents';
import { depositsById, setAllocation, type DepositRow } from '../payments/deposits';

const refusals: Readonly<Record<string, 'JOURNAL_CONFLICT' | 'INSUFFICIENT_FUNDS'>> = {
  CP003: 'JOURNAL_CONFLICT',
  CP004: 'INSUFFICIENT_FUNDS',
};

/** The result of a call of the posting function; its refusals as errors of the domain. Throws as `post` does. */
export const asLedgerErrors = <Result>(posting: Promise<Result>): Promise<Result> =>
  posting.catch((error: unknown) => {
    const code = refusals[(error as { code?: string }).code ?? ''];
    throw code ? new DomainError(code, (error as Error).message) : error;
  });

async function call(tx: EntityManager, journal: Journal, reverses: string | null): Promise<string> {
  const [row] = await asLedgerErrors(
    tx.query<Array<{ id: string }>>('SELECT post_journal($1, $2, $3, $4, $5)::text AS id', [
      journal.key,
      journal.entry,
      JSON.stringify(journal.postings),
      reverses,
      journal.details ?? {},
    ]),
  );
  return row!.id;
}

/** Posts a journal, once per key: a repeat returns the first one's id. The balance rows move in the same call.
 *  Throws JOURNAL_CONFLICT (final: same key, other content), INSUFFICIENT_FUNDS. Invariants: 4, 6. */
export const post = (tx: EntityManager, journal: Journal): Promise<string> => call(tx, journal, null);

/** Posts journals in this order, all or none, in one call. Throws as `post` does. */
export async function postAll(tx: EntityManager, journals: readonly Journal[]): Promise<void> {
  await asLedgerErrors(
    tx.query<unknown[]>(
      `SELECT post_journal(j->>'key', nullif(j->'entry', 'null'), j->'postings', NULL, coalesce(j->'details', '{}'))
         FROM jsonb_array_elements($1::jsonb) j`,
      [JSON.stringify(journals)],
    ),
  );
}

/** What is in force under a key: the last of the journal, its reversal, the reversal of that, and so on. */
async function journalState(tx: EntityManager, key: string): Promise<{ id: string; isReversed: boolean } | null> {
  const [row] = await tx.query<Array<{ id: string; steps: number }>>(
    `WITH RECURSIVE chain AS (
       SELECT id, 0 AS steps FROM journal WHERE key = $1
       UNION ALL SELECT j.id, c.steps + 1 FROM journal j JOIN chain c ON j.reverses = c.id)
     SELECT id::text, steps FROM chain ORDER BY steps DESC LIMIT 1`,
    [key],
  );
  return row ? { id: row.id, isReversed: row.steps % 2 === 1 } : null;
}

async function reverseJournal(tx: EntityManager, journalId: string): Promise<string> {
  const postings = await tx.query<Posting[]>(
    'SELECT debit, credit, asset, trim_scale(amount)::text AS amount FROM posting WHERE journal_id = $1 ORDER BY id',
    [journalId],
  );
  const [of] = await tx.query<Array<{ sourceType: EntrySource | null; sourceId: string | null }>>(
    'SELECT source_type AS "sourceType", source_id AS "sourceId" FROM journal WHERE id = $1',
    [journalId],
  );
  const { sourceType, sourceId } = of!;
  return call(tx, reversal(postings, journalId, sourceType && { sourceType, sourceId }), journalId);
}

/** Reverses the journal in force under `key`; nothing where there is none or it is reversed already. */
export async function reverse(tx: EntityManager, key: string): Promise<void> {
  const last = await journalState(tx, key);
  if (last && !last.isReversed) await reverseJournal(tx, last.id);
}

/** Reinstates the journal under `key` where it is reversed; nothing where there is none, or it is in force. Throws as
 *  `post` does. */
export async function reinstate(tx: EntityManager, key: string): Promise<void> {
  const last = await journalState(tx, key);
  if (last?.isReversed) await reverseJournal(tx, last.id);
}

/** Sees to it that `journal` is in force: posts it, or reinstates it where it is reversed. `reverse` and `ensure`
 *  may alternate for ever, and each is safe to repeat. The caller holds the lock of the entity that the journal is
 *  about. Throws as `post` does. */
export async function ensure(tx: EntityManager, journal: Journal): Promise<void> {
  const last = await journalState(tx, journal.key);
  if (!last?.isReversed) {
    await post(tx, journal);
    return;
  }
  if (!(await isKnown(tx, journal)))
    throw new DomainError('JOURNAL_CONFLICT', `journal ${journal.key} was reversed with other content`);
  await reverseJournal(tx, last.id);
}

/** Did the journal of this key post the same? */
async function isKnown(tx: EntityManager, journal: Journal): Promise<boolean> {
  const [other] = await tx.query<unknown[]>(
    `WITH known AS (SELECT p.debit, p.credit, p.asset, p.amount FROM posting p JOIN journal j ON j.id = p.journal_id
       WHERE j.key = $1),
          given AS (SELECT p->>'debit', p->>'credit', p->>'asset', (p->>'amount')::numeric
            FROM jsonb_array_elements($2::jsonb) p)
     (TABLE known EXCEPT ALL TABLE given) UNION ALL (TABLE given EXCEPT ALL TABLE known)`,
    [journal.key, JSON.stringify(journal.postings)],
  );
  return !other;
}

/** `ensure` for the capture or the release of a hold. What a reorganisation takes back may end otherwise the next time:
 *  one that had arrived is reverted, or the reverse. The other has a key of its own, and at most one of the two is in
 *  force. Throws as `post` does. */
export async function captureOrRelease(tx: EntityManager, journal: Journal): Promise<void> {
  const first = await journalState(tx, journal.key);
  if (!first?.isReversed) return ensure(tx, journal);
  const other = otherEndKey(journal.key);
  if (!(await isKnown(tx, journal))) return ensure(tx, { ...journal, key: other });
  const second = await journalState(tx, other);
  if (second && !second.isReversed) throw new DomainError('JOURNAL_CONFLICT', `journal ${other} is in force`);
  await ensure(tx, journal);
}

/** `captureOrRelease` for many, in this order: in one call where none of them was posted before. */
export async function captureOrReleaseAll(tx: EntityManager, journals: readonly Journal[]): Promise<void> {
  const keys = journals.map(({ key }) => key);
  const [known] = await tx.query<unknown[]>('SELECT FROM journal WHERE key = ANY($1) LIMIT 1', [keys]);
  if (!known) return postAll(tx, journals);
  for (const journal of journals) await captureOrRelease(tx, journal);
}

/** SQL: what a merchant was charged beside a hold for what its recipient takes, while that stands; null: nothing.
 *  `id`: the SQL of its row's id. */
export const chargedGasSql = (kind: Hold['kind'], id: string): string =>
  `(SELECT sum(p.amount)::text FROM journal j JOIN posting p ON p.journal_id = j.id
     WHERE j.key = concat('hold/${kind}/', ${id}, '/gas') AND journal_stands(j.key))`;

/** Returns what was charged for the gas of recipients, where it was: nothing has reached them. */
export async function returnGas(tx: EntityManager, holds: ReadonlyArray<Pick<Hold, 'kind' | 'id'>>): Promise<void> {
  const charged = await tx.query<Array<{ key: string }>>('SELECT key FROM journal WHERE key = ANY($1) ORDER BY key', [
    holds.map(gasFeeKey),
  ]);
  for (const { key } of charged) await reverse(tx, key);
}

/** Reverses the capture or release of a hold that is in force: it is held again. False where what had been
 *  returned has been spent since; then nothing changes, and operators are told. */
export async function reopenHold(tx: EntityManager, hold: Pick<Hold, 'kind' | 'id'>): Promise<boolean> {
  const key = `${holdKey(hold)}/end`;
  try {
    await tx.transaction(async (part) => {
      await reverse(part, revertFeeKey(hold));
      await reverse(part, key);
      await reverse(part, otherEndKey(key));
    });
    return true;
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'INSUFFICIENT_FUNDS') throw error;
    await noteHoldGone(tx, hold);
    return false;
  }
}

/** The subject of an incident about a hold. */
export const holdSubject = ({ kind, id }: Pick<Hold, 'kind' | 'id'>) =>
  ({ kind: kind === 'leg' ? 'payout-line' : kind, id }) as const;

/** Money that was returned after a reverted transaction may arrive at its receiver after all, and can no longer be
 *  held: tells operators. */
export const noteHoldGone = (tx: EntityManager, hold: Pick<Hold, 'kind' | 'id'>): Promise<unknown> =>
  openIncident(tx, { kind: 'hold-gone', subject: holdSubject(hold), details: hold });

/** A transaction of ours that is final: what it took, from which account. */
export type Mined = Readonly<{ txId: string; blockHash: string; native: string; chainFee: string; from: FeePayer }>;

/** What the chain took for a transaction that is final, as its journals name it. */
export function minedOf<From extends FeePayer>(
  currency: string,
  from: From,
  { tx_id, block_hash, fee_units }: Readonly<{ tx_id: string; block_hash: string | null; fee_units: string | null }>,
): Mined & { from: From } {
  const { native } = networkOf(currency);
  const chainFee = fromUnits(BigInt(fee_units ?? '0'), assetOf(native).decimals);
  return { txId: tx_id, blockHash: block_hash!, native, chainFee, from };
}

/** The fees in the journals under `keys`, by key; none where there is no journal. */
export async function bookedFees(tx: EntityManager, keys: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.query<Array<{ key: string; fee: string }>>(
    `SELECT j.key, trim_scale(coalesce(sum(p.amount), 0))::text AS fee FROM journal j
       LEFT JOIN posting p ON p.journal_id = j.id AND p.debit = 'E:network'
      WHERE j.key = ANY($1) GROUP BY j.key`,
    [keys],
  );
  return new Map(rows.map(({ key, fee }) => [key, fee]));
}

/** The fee in the journals under `keys` together; null where there is none. */
async function bookedFee(tx: EntityManager, ...keys: readonly string[]): Promise<string | null> {
  const fees = [...(await bookedFees(tx, keys)).values()];
  return fees.length ? add(...fees) : null;
}

/** A transaction that was mined again after a reorganisation may have cost more, or less, than the journals under these
 *  keys say. They stay; the difference has a journal of its own. Nothing where nothing was booked yet. */
export async function bookFeeChange(tx: EntityManager, keys: string | readonly string[], mined: Mined): Promise<void> {
  const before = await bookedFee(tx, ...[keys].flat());
  if (before === null || compare(mined.chainFee, before) === 0) return;
  const { native, from, chainFee } = mined;
  await ensure(tx, feeChangeJournal({ key: feeChangeKey(mined), native, from, before, now: chainFee }));
}

/** `ensure`, or `captureOrRelease`, once more after a reorganisation with the fee that was booked first. */
export async function ensureMined(
  tx: EntityManager,
  mined: Mined,
  journalOf: (chainFee: string) => Journal,
  putBack: typeof ensure = ensure,
): Promise<void> {
  const { key } = journalOf(mined.chainFee);
  await putBack(tx, journalOf((await bookedFee(tx, key)) ?? mined.chainFee));
  await bookFeeChange(tx, key, mined);
}

/** Brings a deposit to one allocation, whichever its first journal gave it. */
export async function ensureAllocation(
  tx: EntityManager,
  deposit: DepositRef & { merchantId: string },
  allocation: 'unsettled' | 'unallocated',
): Promise<void> {
  const [first] = await tx.query<Array<{ allocation: 'unsettled' | 'unallocated' }>>(
    `SELECT split_part(p.credit, ':', 2) AS allocation
       FROM posting p JOIN journal j ON j.id = p.journal_id WHERE j.key = $1`,
    [depositKey(deposit)],
  );
  const from = first?.allocation ?? allocation;
  await ensure(tx, from === 'unsettled' ? depositJournal(deposit) : unallocatedJournal(deposit));
  if (from !== allocation) await ensure(tx, reallocateJournal({ ...deposit, from }));
}

/** Reverses the allocation of a deposit. */
export async function reverseAllocation(
  tx: EntityManager,
  deposit: Pick<DepositRef, 'network' | 'txId' | 'index'>,
): Promise<void> {
  await reverse(tx, reallocateKey(deposit));
  await reverse(tx, depositKey(deposit));
}

/** A deposit as the ledger's journals name it. */
export const depositRefOf = (deposit: DepositRow) => ({
  network: deposit.network,
  txId: deposit.tx_id,
  index: deposit.out_index,
  currency: deposit.currency!,
  amount: deposit.amount,
});

/** Credits deposits to `unsettled` (J1), or holds them in `unallocated` (J8). */
export async function bookDeposits(
  tx: EntityManager,
  payment: Pick<PaymentRow, 'merchant_id'>,
  ids: readonly string[],
  allocation: 'unsettled' | 'unallocated',
): Promise<void> {
  if (!ids.length) return;
  for (const deposit of await depositsById(tx, ids))
    await ensureAllocation(tx, { ...depositRefOf(deposit), merchantId: payment.merchant_id }, allocation);
  await setAllocation(tx, ids, allocation);
  await failPoint('confirm.afterPost');
}

/** Reverses the journals of deposits: no ledger account has them any more. */
export async function reverseDeposits(tx: EntityManager, ids: readonly string[]): Promise<void> {
  if (!ids.length) return;
  for (const deposit of await depositsById(tx, ids)) await reverseAllocation(tx, depositRefOf(deposit));
  await setAllocation(tx, ids, null);
}

/** The same for those of these deposits that are booked. */
export const reverseBooked = (tx: EntityManager, deposits: readonly DepositRow[]): Promise<void> =>
  reverseDeposits(
    tx,
    deposits.filter((deposit) => deposit.allocation !== null).map((deposit) => deposit.id),
  );

/** Guarded balances of a merchant, by account kind and asset. Decimal strings. */
export const balances = (
  db: DataSource | EntityManager,
  merchantId: string,
): Promise<Array<{ kind: string; asset: string; amount: string }>> =>
  db.query(
    `SELECT split_part(account, ':', 2) AS kind, asset, trim_scale(amount)::text AS amount FROM balance
      WHERE account = ANY($1) ORDER BY asset, account`,
    [['available', 'reserved', 'unsettled', 'unallocated', 'transit'].map((kind) => `L:${kind}:${merchantId}`)],
  );
