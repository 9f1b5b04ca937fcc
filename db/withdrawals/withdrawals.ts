import type { EntityManager } from 'typeorm';
import { assetOf, findAsset, networkOf, type NetworkId } from '../../domain/chains/assets';
import type { ChainCodec } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { newId } from '../../domain/ids';
import { holdJournal, releaseJournal } from '../../domain/ledger/ledger';
import { compare } from '../../domain/money';
import {
  cancellable,
  largestWithdrawal,
  splitWithdrawal,
  viewWithdrawal,
  type FeeMode,
  type ShownWithdrawal,
  type Split,
  type WithdrawalEventType,
  type WithdrawalRow,
  type WithdrawalStatus,
} from '../../domain/withdrawals/withdrawal';
import { admitEgress, judgeEgress, readmit, releaseAdmission } from '../limits/egress';
import { dropIntents } from '../txmanager/intents';
import { ensure, ensureEnd, reverseEnd } from '../ledger/ledger';
import { databaseNow } from '../payments/payments';
import { rateNow, type Queryable } from '../pricing/pricing';
import { announceRecord, byClock, contentHash, moveRecord, pageOfRecords, spend, type Patch } from '../records';
import { requestSignal } from '../temporal/temporal-requests';
import { isOurs } from '../wallets/wallets';
import { isListed } from '../wallets/whitelist';

export const withdrawalWorkflow = (id: string): string => `withdrawal/${id}`;

/** What a withdrawal holds in the ledger. */
export const holdOf = (row: WithdrawalRow) => ({
  kind: 'withdrawal' as const,
  id: row.id,
  merchantId: row.merchant_id,
  currency: row.currency,
  gross: row.gross_amount,
});

/** With the depth of its transaction, which counts from the block it is in. */
const shown = `w.*, coalesce((SELECT greatest(0, c.height - a.height + 1)::int FROM attempt a JOIN chain_cursor c ON c.network = a.network
  WHERE a.network = w.network AND a.tx_id = w.tx_id AND a.height IS NOT NULL), 0) AS confirmations`;

/** The withdrawal, locked until the transaction ends; null where there is none. */
export async function lockWithdrawal(tx: EntityManager, id: string): Promise<WithdrawalRow | null> {
  const [row] = await tx.query<WithdrawalRow[]>('SELECT * FROM withdrawal WHERE id = $1 FOR UPDATE', [id]);
  return row ?? null;
}

type WithdrawalPatch = Patch<
  WithdrawalRow,
  'tx_id' | 'merchant_message' | 'approved_by' | 'approved_by_name' | 'approved_at' | 'broadcast_at' | 'completed_at'
>;

/** As `moveRecord`. */
export const moveWithdrawal = (
  tx: EntityManager,
  row: WithdrawalRow,
  to: WithdrawalStatus,
  patch: WithdrawalPatch = {},
): Promise<WithdrawalRow> => moveRecord(tx, 'withdrawal', row, to, patch);

/** Enqueues an event of a withdrawal as it is now. Call last in the transaction. */
export async function announceWithdrawal(
  tx: EntityManager,
  row: WithdrawalRow,
  type: WithdrawalEventType,
  before?: WithdrawalStatus,
): Promise<void> {
  const [now] = await tx.query<ShownWithdrawal[]>(`SELECT ${shown} FROM withdrawal w WHERE id = $1`, [row.id]);
  await announceRecord(tx, row, type, viewWithdrawal({ ...now!, ...row }), before);
}

const requestWithdrawal = (tx: EntityManager, row: WithdrawalRow): Promise<unknown> =>
  requestSignal(tx, {
    workflow: 'withdrawal',
    workflowId: withdrawalWorkflow(row.id),
    args: [row.id],
    signal: 'news',
    attributes: {
      MerchantId: row.merchant_id,
      Currency: row.currency,
      Network: row.network,
      summary: `Withdrawal of ${row.currency}`,
    },
  });

export type WithdrawalAsk = Readonly<{
  currency: string;
  amount: string;
  feeMode: FeeMode;
  whitelistId?: string;
  address?: string;
  destinationTag?: string;
  note?: string;
}>;
export type Requester = Readonly<{ id: string; email: string }>;
type Deps = Readonly<{
  codecs: Readonly<Record<NetworkId, Pick<ChainCodec, 'normalise'>>>;
  rateMaxAgeSeconds: number;
}>;

const hashOf = (ask: WithdrawalAsk): string => {
  const { currency, amount, feeMode, whitelistId, address, destinationTag, note } = ask;
  return contentHash([currency.toUpperCase(), amount, feeMode, whitelistId, address, destinationTag, note]);
};

export type Estimate = Split & Readonly<{ currency: string; available: string; maxAmount: string; covered: boolean }>;

/** What it would cost, and the most that the balance covers. Throws CURRENCY_NOT_AVAILABLE, BELOW_MINIMUM, RATE_UNAVAILABLE. */
export async function estimateWithdrawal(
  db: Queryable,
  deps: Deps,
  merchantId: string,
  ask: Pick<WithdrawalAsk, 'currency' | 'amount' | 'feeMode'>,
): Promise<Estimate> {
  const currency = ask.currency.toUpperCase();
  if (!findAsset(currency)) throw new DomainError('CURRENCY_NOT_AVAILABLE');
  const { networkFee } = await rateNow(db, {
    merchantId,
    currency,
    fiat: 'USD',
    maxAgeSeconds: deps.rateMaxAgeSeconds,
  });
  const [row] = await db.query<Array<{ amount: string }>>(
    `SELECT trim_scale(amount)::text AS amount FROM balance WHERE account = 'L:available:' || $1 AND asset = $2`,
    [merchantId, currency],
  );
  const available = row?.amount ?? '0';
  const split = splitWithdrawal({ ...ask, currency, networkFee });
  if (!split) throw new DomainError('BELOW_MINIMUM');
  return {
    ...split,
    currency,
    available,
    maxAmount: largestWithdrawal(available, networkFee, ask.feeMode, currency),
    covered: compare(split.gross, available) <= 0,
  };
}

/** Where it goes: an entry of the whitelist that counts now, by its id or by its address.
 *  Throws INVALID_ADDRESS, ADDRESS_NOT_WHITELISTED, VALIDATION_ERROR. */
async function destination(
  tx: EntityManager,
  deps: Deps,
  merchantId: string,
  currency: string,
  ask: WithdrawalAsk,
): Promise<{ address: string; destinationTag: string | null }> {
  if ((ask.whitelistId === undefined) === (ask.address === undefined))
    throw new DomainError('VALIDATION_ERROR', 'Either whitelistId or address is needed');
  if (ask.whitelistId !== undefined) {
    if (ask.destinationTag !== undefined)
      throw new DomainError('VALIDATION_ERROR', 'destinationTag comes with the whitelist entry');
    const [entry] = await tx.query<Array<{ address: string; destination_tag: string | null }>>(
      `SELECT address, destination_tag FROM whitelist_entry WHERE id = $1 AND merchant_id = $2 AND type = 'wallet' AND currency = $3
          AND active_at <= now() AND removed_at IS NULL FOR SHARE`,
      [ask.whitelistId, merchantId, currency],
    );
    if (!entry) throw new DomainError('ADDRESS_NOT_WHITELISTED');
    return { address: entry.address, destinationTag: entry.destination_tag };
  }
  const { network, requiresDestinationTag } = assetOf(currency);
  const address = deps.codecs[network].normalise(ask.address!);
  if (address === null || (await isOurs(tx, network, address))) throw new DomainError('INVALID_ADDRESS');
  if (ask.destinationTag !== undefined && !requiresDestinationTag)
    throw new DomainError('VALIDATION_ERROR', `${currency} has no destination tags`);
  const destinationTag = ask.destinationTag ?? null;
  if (!(await isListed(tx, merchantId, currency, address, await databaseNow(tx), destinationTag)))
    throw new DomainError('ADDRESS_NOT_WHITELISTED');
  return { address, destinationTag };
}

/** The first withdrawal with this key, or null. Throws IDEMPOTENCY_KEY_REUSED where it was asked for differently. */
export async function knownWithdrawal(
  db: Queryable,
  merchantId: string,
  idempotencyKey: string,
  ask: WithdrawalAsk,
): Promise<ShownWithdrawal | null> {
  const [row] = await db.query<ShownWithdrawal[]>(
    `SELECT ${shown} FROM withdrawal w WHERE merchant_id = $1 AND idempotency_key = $2`,
    [merchantId, idempotencyKey],
  );
  if (!row) return null;
  if (row.body_hash !== hashOf(ask)) throw new DomainError('IDEMPOTENCY_KEY_REUSED');
  return row;
}

/** Refuses what `openWithdrawal` would refuse, before a factor is spent on it; holds nothing. Throws the same. */
export async function checkWithdrawal(
  tx: EntityManager,
  deps: Deps,
  merchantId: string,
  ask: WithdrawalAsk,
): Promise<void> {
  const { currency, gross, covered } = await estimateWithdrawal(tx, deps, merchantId, ask);
  await destination(tx, deps, merchantId, currency, ask);
  if (!covered) throw new DomainError('INSUFFICIENT_BALANCE');
  const amounts = [{ currency, amount: gross }];
  await judgeEgress(tx, { merchantId, amounts, rateMaxAgeSeconds: deps.rateMaxAgeSeconds });
}

/** Opens a withdrawal and holds its money, in the caller's transaction. Above a limit it waits for a second person.
 *  Throws CURRENCY_NOT_AVAILABLE, BELOW_MINIMUM, RATE_UNAVAILABLE, INVALID_ADDRESS, ADDRESS_NOT_WHITELISTED, VALIDATION_ERROR,
 *  EGRESS_FROZEN, EGRESS_LIMIT, INSUFFICIENT_BALANCE, IDEMPOTENCY_KEY_REUSED. */
export async function openWithdrawal(
  tx: EntityManager,
  deps: Deps,
  merchantId: string,
  ask: WithdrawalAsk,
  by: Requester,
  idempotencyKey: string,
): Promise<{ row: ShownWithdrawal; replayed: boolean }> {
  const known = await knownWithdrawal(tx, merchantId, idempotencyKey, ask);
  if (known) return { row: known, replayed: true };
  const { currency, ...split } = await estimateWithdrawal(tx, deps, merchantId, ask);
  const { address, destinationTag } = await destination(tx, deps, merchantId, currency, ask);
  const id = newId();
  const { needsApproval } = await admitEgress(tx, {
    kind: 'withdrawal',
    ref: id,
    merchantId,
    amounts: [{ currency, amount: split.gross }],
    rateMaxAgeSeconds: deps.rateMaxAgeSeconds,
  });
  const now = await databaseNow(tx);
  const columns = {
    id,
    merchant_id: merchantId,
    idempotency_key: idempotencyKey,
    body_hash: hashOf(ask),
    status: needsApproval ? 'awaiting_approval' : 'pending',
    currency,
    network: networkOf(currency).id,
    fee_mode: ask.feeMode,
    amount: split.amount,
    network_fee: split.networkFee,
    gross_amount: split.gross,
    net_amount: split.net,
    address,
    destination_tag: destinationTag,
    note: ask.note ?? null,
    requested_by: by.id,
    requested_by_name: by.email,
    needs_approval: needsApproval,
    approved_by: needsApproval ? null : by.id,
    approved_by_name: needsApproval ? null : by.email,
    approved_at: needsApproval ? null : now,
    created_at: now,
    updated_at: now,
  };
  const names = Object.keys(columns);
  const [row] = await tx.query<WithdrawalRow[]>(
    `INSERT INTO withdrawal (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})
     ON CONFLICT (merchant_id, idempotency_key) DO NOTHING RETURNING *`,
    Object.values(columns),
  );
  if (!row) {
    await releaseAdmission(tx, 'withdrawal', id);
    return { row: (await knownWithdrawal(tx, merchantId, idempotencyKey, ask))!, replayed: true };
  }
  await spend(ensure(tx, holdJournal(holdOf(row))));
  if (row.status === 'pending') await requestWithdrawal(tx, row);
  await announceWithdrawal(tx, row, 'withdrawal.created');
  return { row: { ...row, confirmations: 0 }, replayed: false };
}

/** J7, and it no longer counts against the day's limit. */
async function giveBack(tx: EntityManager, row: WithdrawalRow): Promise<void> {
  await ensureEnd(tx, releaseJournal(holdOf(row)));
  await releaseAdmission(tx, 'withdrawal', row.id);
}

/** Ends it without having sent anything, or with a transaction that moved nothing: the money is back. */
export async function failWithdrawal(
  tx: EntityManager,
  row: WithdrawalRow,
  message: string,
  txId: string | null = null,
): Promise<void> {
  const failed = await moveWithdrawal(tx, row, 'failed', {
    merchant_message: message,
    completed_at: byClock,
    ...(txId === null ? {} : { tx_id: txId }),
  });
  await dropIntents(tx, withdrawalWorkflow(row.id));
  await giveBack(tx, row);
  await announceWithdrawal(tx, failed, 'withdrawal.failed', row.status);
}

/** Whether its address may still be paid; the entry stays listed until the transaction ends. */
export const isStillListed = async (tx: EntityManager, row: WithdrawalRow): Promise<boolean> =>
  isListed(tx, row.merchant_id, row.currency, row.address, await databaseNow(tx), row.destination_tag);

/** What the blocks above `height` had brought to its end, completed or reverted, is on its way again: its end in the ledger is mirrored.
 *  One whose money came back and is spent stays failed. Call before the transactions themselves are put back. Invariants: 5, step 6. */
export async function reopenWithdrawals(tx: EntityManager, network: string, height: number): Promise<void> {
  const gone = await tx.query<Array<{ ref: string; success: boolean }>>(
    `SELECT i.ref, a.success FROM attempt a JOIN intent i ON i.id = a.intent_id AND i.kind = 'withdrawal'
      WHERE a.network = $1 AND a.height > $2 AND a.status = 'final' ORDER BY i.ref`,
    [network, height],
  );
  for (const { ref, success } of gone) {
    const row = await lockWithdrawal(tx, ref);
    if (row?.status !== (success ? 'completed' : 'failed') || !(await reverseEnd(tx, holdOf(row)))) continue;
    if (!success) await readmit(tx, 'withdrawal', ref);
    const reopened = await moveWithdrawal(tx, row, 'broadcast', { completed_at: null, merchant_message: null });
    await announceWithdrawal(tx, reopened, 'withdrawal.broadcast', row.status);
  }
}

/** The merchant's withdrawal, locked. Throws WITHDRAWAL_NOT_FOUND: unknown and foreign are the same. */
async function lockOwn(tx: EntityManager, merchantId: string, id: string): Promise<WithdrawalRow> {
  const row = await lockWithdrawal(tx, id);
  if (!row || row.merchant_id !== merchantId) throw new DomainError('WITHDRAWAL_NOT_FOUND');
  return row;
}

/** `replayed`: it was done before, and nothing was done now. */
type Changed = Readonly<{ row: ShownWithdrawal; replayed: boolean }>;

/** Calls a withdrawal back while nothing is signed. Signing takes the same lock, so that one of the two wins. Of one that is
 *  cancelled already the same again, `replayed`. Throws WITHDRAWAL_NOT_FOUND, WITHDRAWAL_STATE. */
export async function cancelWithdrawal(
  tx: EntityManager,
  merchantId: string,
  id: string,
  from: readonly WithdrawalStatus[] = cancellable,
): Promise<Changed> {
  const row = await lockOwn(tx, merchantId, id);
  if (row.status === 'cancelled') return { row: { ...row, confirmations: 0 }, replayed: true };
  if (!from.includes(row.status)) throw new DomainError('WITHDRAWAL_STATE');
  const cancelled = await moveWithdrawal(tx, row, 'cancelled', { completed_at: byClock });
  await dropIntents(tx, withdrawalWorkflow(id));
  await giveBack(tx, row);
  await announceWithdrawal(tx, cancelled, 'withdrawal.cancelled', row.status);
  return { row: { ...cancelled, confirmations: 0 }, replayed: false };
}

/** Lets go what somebody else has asked for. Of one that is let go already the same again, `replayed`.
 *  Throws WITHDRAWAL_NOT_FOUND, WITHDRAWAL_STATE, SECOND_PERSON, ADDRESS_NOT_WHITELISTED. */
export async function approveWithdrawal(
  tx: EntityManager,
  merchantId: string,
  id: string,
  by: Requester,
): Promise<Changed> {
  const row = await lockOwn(tx, merchantId, id);
  if (row.status !== 'awaiting_approval') {
    if (!row.needs_approval || row.status === 'cancelled') throw new DomainError('WITHDRAWAL_STATE');
    return { row: (await readWithdrawal(tx, merchantId, id))!, replayed: true };
  }
  if (row.requested_by === by.id) throw new DomainError('SECOND_PERSON');
  if (!(await isStillListed(tx, row))) throw new DomainError('ADDRESS_NOT_WHITELISTED');
  const approved = await moveWithdrawal(tx, row, 'pending', {
    approved_by: by.id,
    approved_by_name: by.email,
    approved_at: byClock,
  });
  await requestWithdrawal(tx, approved);
  return { row: { ...approved, confirmations: 0 }, replayed: false };
}

export type WithdrawalFilter = Readonly<{
  status?: WithdrawalStatus;
  currency?: string;
  dateFrom?: Date;
  dateTo?: Date;
}>;

/** One page of a merchant's withdrawals, newest first, and how many there are in all. */
export async function listWithdrawals(
  db: Queryable,
  merchantId: string,
  filter: WithdrawalFilter,
  page: Readonly<{ page: number; limit: number }>,
): Promise<{ items: ShownWithdrawal[]; total: number }> {
  const where = `merchant_id = $1 AND ($2::text IS NULL OR status = $2) AND ($3::text IS NULL OR currency = $3)
    AND ($4::timestamptz IS NULL OR created_at >= $4) AND ($5::timestamptz IS NULL OR created_at < $5)`;
  const values = [merchantId, filter.status, filter.currency?.toUpperCase(), filter.dateFrom, filter.dateTo];
  return pageOfRecords(db, { select: shown, from: 'withdrawal w', where }, values, page);
}

export async function readWithdrawal(db: Queryable, merchantId: string, id: string): Promise<ShownWithdrawal | null> {
  const [row] = await db.query<ShownWithdrawal[]>(
    `SELECT ${shown} FROM withdrawal w WHERE id = $1 AND merchant_id = $2`,
    [id, merchantId],
  );
  return row ?? null;
}
