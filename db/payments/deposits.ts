import type { EntityManager } from 'typeorm';
import { DomainError } from '../../domain/errors';
import type { Rated, RatedDeposit } from '../../domain/payments/payable';
import type { RowOf } from '../entity';
import type { depositEntity } from './entities';

/** A deposit row as postings and sweeps need it. */
export type DepositRow = Pick<
  RowOf<typeof depositEntity>,
  | 'id'
  | 'network'
  | 'tx_id'
  | 'out_index'
  | 'address'
  | 'tag'
  | 'role'
  | 'payment_id'
  | 'child_payment_id'
  | 'currency'
  | 'amount'
  | 'status'
  | 'first_seen_at'
  | 'allocation'
  | 'exchange_rate'
  | 'quote_amount'
> & {
  inherited: Rated[];
  branch: number;
  key_index: number;
  /** Whose the receiver is that it came to. */
  merchant_id: string | null;
};

const columns = `d.id, d.network, d.tx_id, d.out_index, d.address, d.tag, d.role, d.payment_id, d.child_payment_id,
  d.currency, d.amount::text, d.status, d.first_seen_at, d.allocation, d.exchange_rate, d.quote_amount,
  (SELECT coalesce(json_agg(json_build_object('amount', i.amount::text, 'exchangeRate', i.exchange_rate::text,
            'quoteAmount', i.quote_amount::text) ORDER BY i.n), '[]')
     FROM deposit_part i WHERE i.deposit_id = d.id) AS inherited,
  a.branch, a.key_index, a.merchant_id`;

/** Deposits by id, in that order of ids. Throws where one is missing: ids come from our own rows. */
export async function depositsById(tx: EntityManager, ids: readonly string[]): Promise<DepositRow[]> {
  const rows = await tx.query<DepositRow[]>(
    `SELECT ${columns} FROM deposit d
       JOIN address a ON a.network = d.network AND a.address = d.address AND a.tag = d.tag
      WHERE d.id = ANY($1::bigint[]) ORDER BY d.id`,
    [ids],
  );
  if (rows.length !== ids.length)
    throw new DomainError('INTERNAL_ERROR', `Of deposits ${ids.join(', ')} only ${rows.length} exist`);
  return rows;
}

/** Confirmed deposits of a payment that the ledger holds in `unsettled`. */
export const unsettledDeposits = (tx: EntityManager, paymentId: string): Promise<DepositRow[]> =>
  tx.query<DepositRow[]>(
    `SELECT ${columns} FROM deposit d
       JOIN address a ON a.network = d.network AND a.address = d.address AND a.tag = d.tag
      WHERE (d.payment_id = $1 AND d.child_payment_id IS NULL OR d.child_payment_id = $1) AND d.allocation = 'unsettled'
        ORDER BY d.id`,
    [paymentId],
  );

export const setAllocation = (tx: EntityManager, ids: readonly string[], allocation: string | null): Promise<unknown> =>
  tx.query('UPDATE deposit SET allocation = $2 WHERE id = ANY($1::bigint[])', [ids, allocation]);

/** A deposit as prices look at it. */
export const ratedOf = (deposit: DepositRow): RatedDeposit => ({
  amount: deposit.amount,
  exchangeRate: deposit.exchange_rate,
  quoteAmount: deposit.quote_amount,
  inherited: deposit.inherited,
});
