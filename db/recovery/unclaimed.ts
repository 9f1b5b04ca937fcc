import type { EntityManager } from 'typeorm';
import { assetOf, networks, type NetworkId } from '../../domain/chains/assets';
import type { DepositRef } from '../../domain/ledger/ledger';
import { unclaimedJournal, unclaimedKey } from '../../domain/ledger/unclaimed';
import { isFoundUnclaimed } from '../chains/found-by-balance';
import { notifyOwners } from '../chains/notify';
import { openIncident, resolveIncident } from '../incidents';
import { ensure, reverse } from '../ledger/ledger';
import { setAllocation } from '../payments/deposits';
import type { Queryable } from '../query';
import type { RowOf } from '../entity';
import type { depositEntity } from '../payments/entities';

/** Money on addresses of ours that no payment has: a recovery has forgotten them, many share them and no tag of ours
 *  says whose it is, or no transfer tells of it. */

export type Unclaimed = Pick<
  RowOf<typeof depositEntity>,
  'id' | 'network' | 'tx_id' | 'out_index' | 'address' | 'tag' | 'stated_tag' | 'currency' | 'amount' | 'found_by'
>;
const columns = `d.id, d.network, d.tx_id, d.out_index, d.address, d.tag, d.stated_tag, d.currency,
   trim_scale(d.amount)::text AS amount, d.found_by`;
/** Do payments share addresses there, told apart by tags? */
const isShared = (network: string): boolean => networks[network as NetworkId]?.destinationTags !== undefined;
/** No transfer tells of it, and there such money is nobody's. */
const isFound = ({ network, found_by }: Pick<Unclaimed, 'network' | 'found_by'>): boolean =>
  found_by === 'balance' && isFoundUnclaimed(network);

const refOf = (row: Unclaimed): DepositRef => ({
  network: row.network,
  txId: row.tx_id,
  index: row.out_index,
  currency: assetOf(row.currency!).currency,
  amount: row.amount,
});

/** A confirmed deposit without a payment is owed to somebody unknown, and operators are told. Nothing for any other. A
 *  transfer that was read before its address was claimed, and stored after it, goes to the payment. */
export async function bookUnclaimed(tx: EntityManager, depositId: string): Promise<void> {
  const [row] = await tx.query<Unclaimed[]>(
    `SELECT ${columns} FROM deposit d
      WHERE d.id = $1 AND d.status = 'confirmed' AND d.role = 'deposit' AND d.payment_id IS NULL
        AND d.allocation IS NULL AND NOT d.is_dust AND d.amount > 0 FOR UPDATE`,
    [depositId],
  );
  if (!row) return;
  const [owner] = await tx.query<Array<{ payment_id: string | null }>>(
    'SELECT payment_id FROM address WHERE network = $1 AND address = $2 AND tag = $3 FOR UPDATE',
    [row.network, row.address, row.tag],
  );
  const isOwned = owner !== undefined && owner.payment_id !== null;
  if (isOwned && !isFound(row)) {
    await tx.query('UPDATE deposit SET payment_id = $2 WHERE id = $1', [row.id, owner.payment_id]);
    return notifyOwners(tx, [row.id]);
  }
  await ensure(tx, unclaimedJournal(refOf(row)));
  await setAllocation(tx, [row.id], 'unclaimed');
  const { address, stated_tag: statedTag, currency, amount, tx_id: txId } = row;
  await openIncident(tx, {
    kind: 'unclaimed-deposit',
    subject: { kind: 'deposit', id: row.id },
    details: {
      address,
      ...(isShared(row.network) ? { depositId: row.id, statedTag } : {}),
      ...(isOwned ? { depositId: row.id, paymentId: owner.payment_id } : {}),
      ...{ currency, amount, txId },
    },
  });
}

/** Takes unclaimed deposits out of the books that a reorganisation has taken out of the chain. */
export async function releaseOrphaned(tx: EntityManager, network: string): Promise<void> {
  const rows = await tx.query<Unclaimed[]>(
    `SELECT ${columns} FROM deposit d
      WHERE d.network = $1 AND d.allocation = 'unclaimed' AND d.status <> 'confirmed' ORDER BY d.id FOR UPDATE`,
    [network],
  );
  for (const row of rows) await reverse(tx, unclaimedKey(refOf(row)));
  await setAllocation(
    tx,
    rows.map((row) => row.id),
    null,
  );
}

/** Unclaimed money, oldest first. */
export const unclaimedDeposits = (tx: EntityManager): Promise<Unclaimed[]> =>
  tx.query<Unclaimed[]>(`SELECT ${columns} FROM deposit d WHERE d.allocation = 'unclaimed' ORDER BY d.id`);

type OfPage = Unclaimed & Readonly<{ confirmed_at: Date; owner: string | null }>;
/** The same page by page, newest first, from the deposit before `cursor`. `owner`: the payment of its address. */
export const unclaimedPage = (db: Queryable, cursor: string | null, limit: number): Promise<OfPage[]> =>
  db.query<OfPage[]>(
    `SELECT ${columns}, d.confirmed_at, (SELECT a.payment_id FROM address a
              WHERE a.network = d.network AND a.address = d.address AND a.tag = '' AND a.role = 'deposit') AS owner
       FROM deposit d
      WHERE d.allocation = 'unclaimed' AND d.confirmed_at IS NOT NULL AND ($1::bigint IS NULL OR d.id < $1)
      ORDER BY d.id DESC LIMIT $2`,
    [cursor, limit],
  );

/** The act that gives an unclaimed deposit to a payment. */
export const claimedBy = ({ network, owner }: Pick<OfPage, 'network' | 'owner'>): 'claim-address' | 'claim-deposit' =>
  isShared(network) || owner !== null ? 'claim-deposit' : 'claim-address';

/** What a forgotten address holds for whoever claims it, locked with the address; null where it is not forgotten. */
export async function lockForgotten(tx: EntityManager, network: string, address: string): Promise<Unclaimed[] | null> {
  // First the deposits, then the address: the order in which a deposit that becomes final takes them.
  const unclaimed = await tx.query<Unclaimed[]>(
    `SELECT ${columns} FROM deposit d WHERE d.network = $1 AND d.address = $2 AND d.allocation = 'unclaimed'
      ORDER BY d.id FOR UPDATE`,
    [network, address],
  );
  const [row] = await tx.query<unknown[]>(
    `SELECT FROM address WHERE network = $1 AND address = $2 AND role = 'deposit' AND payment_id IS NULL AND tag = ''
        AND NOT EXISTS (SELECT FROM address o WHERE o.network = $1 AND o.address = $2 AND o.tag <> '') FOR UPDATE`,
    [network, address],
  );
  return row ? unclaimed : null;
}

/** Gives a forgotten address to a payment of its owner, with all that came to it: `unclaimed`, as `lockForgotten` has
 *  it, and what is not final yet. The payment takes the money as it takes any other. `requestId`: what two operators
 *  have confirmed; the database asks for it. */
export async function claimAddress(
  tx: EntityManager,
  at: Readonly<{ requestId: string; network: string; address: string; paymentId: string }>,
  unclaimed: readonly Unclaimed[],
): Promise<void> {
  for (const row of unclaimed) {
    await reverse(tx, unclaimedKey(refOf(row)));
    await resolveIncident(tx, { kind: 'unclaimed-deposit', subject: { kind: 'deposit', id: row.id } });
  }
  const moved = await tx.query<Array<{ id: string }>>('SELECT id FROM claim_address($1, $2, $3, $4) AS id', [
    at.requestId,
    at.network,
    at.address,
    at.paymentId,
  ]);
  await notifyOwners(
    tx,
    moved.map((row) => row.id),
  );
}

/** An unclaimed deposit, locked; null where it is none. */
export async function lockUnclaimed(tx: EntityManager, id: string): Promise<Unclaimed | null> {
  const [row] = await tx.query<Unclaimed[]>(
    `SELECT ${columns} FROM deposit d WHERE d.id = $1 AND d.allocation = 'unclaimed' FOR UPDATE`,
    [id],
  );
  return row ?? null;
}

/** Which payment an address without a tag is of; null: of none. */
export async function ownerOf(tx: EntityManager, { network, address }: Pick<Unclaimed, 'network' | 'address'>) {
  const [row] = await tx.query<Array<{ payment_id: string | null }>>(
    `SELECT payment_id FROM address WHERE network = $1 AND address = $2 AND tag = '' AND role = 'deposit'`,
    [network, address],
  );
  return row?.payment_id ?? null;
}

/** Gives an unclaimed deposit to a payment there, as `lockUnclaimed` has it. The payment takes the money as it takes
 *  any other. `requestId`: what two operators have confirmed; the database asks for it. */
export async function claimDeposit(
  tx: EntityManager,
  to: Readonly<{ requestId: string; paymentId: string }>,
  unclaimed: Unclaimed,
): Promise<void> {
  await reverse(tx, unclaimedKey(refOf(unclaimed)));
  await resolveIncident(tx, { kind: 'unclaimed-deposit', subject: { kind: 'deposit', id: unclaimed.id } });
  await tx.query('SELECT claim_deposit($1, $2, $3)', [to.requestId, unclaimed.id, to.paymentId]);
  await notifyOwners(tx, [unclaimed.id]);
}
