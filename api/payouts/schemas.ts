import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { amountPattern } from '../../domain/money';
import {
  batchStatuses,
  lineStatuses,
  maxPayoutRows,
  type BatchRow,
  type LineStatus,
} from '../../domain/payouts/payout';
import { readBatch } from '../../db/payouts/payouts';
import type { Queryable } from '../../db/query';
import { exact, line, livemode, named, nullable, time } from '../http/schemas';

/** What the routes of mass payouts take and answer. Contract: 4.7, G10. */

export const tag = 'Mass payouts';
export const perCurrency = (description: string) =>
  Type.Record(Type.String(), Type.String(), { description: `${description} Exact decimal strings by ticker.` });

export const rows = (minItems: number) =>
  Type.Array(
    Type.Object({
      currency: line(32, 'Ticker.'),
      address: line(200, 'On the withdrawal whitelist for this currency; in `BTC_LN` a Lightning address.'),
      amount: line(100, `What leaves the balance: ${amountPattern}. Digits that the chain cannot carry are cut.`),
      destinationTag: Type.Optional(line(64, 'For currencies that have tags.')),
    }),
    { minItems, maxItems: maxPayoutRows },
  );

export const validatedRow = named('PayoutRowResult', {
  rowIndex: Type.Integer({ description: 'Of the row as submitted, from zero.' }),
  currency: Type.String(),
  address: Type.String(),
  amount: Type.Number({ description: 'Rounded down to what the chain can carry; for display.' }),
  networkFee: nullable(Type.Number()),
  netToDestination: nullable(Type.Number()),
  valid: Type.Boolean(),
  error: Type.Optional(Type.String({ description: 'Why it would not be accepted.' })),
});

export const count = Type.Integer();
export const batchProperties = {
  _id: Type.String(),
  status: Type.String({ enum: [...batchStatuses] }),
  stateVersion: Type.Integer(),
  livemode,
  label: nullable(Type.String()),
  rowCount: count,
  totalsByCurrency: perCurrency('What leaves the balance.'),
  feeByCurrency: perCurrency('Network fees within it.'),
  counts: Type.Object(
    Object.fromEntries(lineStatuses.map((status) => [status, count])) as Record<LineStatus, typeof count>,
    { description: 'failed: returned; refunded: cancelled before it was signed.' },
  ),
  createdBy: Type.String({ description: 'E-mail address.' }),
  approvedBy: nullable(Type.String({ description: 'Who approved it, where a second person had to.' })),
  createdAt: time,
  updatedAt: time,
  completedAt: nullable(time),
};
export const batchSchema = named('MassPayout', batchProperties);
export const lineSchema = named('MassPayoutLeg', {
  _id: Type.String(),
  rowIndex: Type.Integer(),
  currency: Type.String(),
  address: Type.String(),
  destinationTag: nullable(Type.String()),
  amount: exact('What left the balance.'),
  networkFee: exact(
    'Its share of the network fee, as estimated when it was queued. It rises once, before anything is signed, by ' +
      'what the address takes above a usual transfer. In `BTC_LN`: half a percent, 10 satoshi at the least.',
  ),
  netToDestination: exact('What the address gets.'),
  status: Type.String({ enum: [...lineStatuses] }),
  txId: nullable(Type.String({ description: 'In `BTC_LN` the payment hash.' })),
  merchantMessage: nullable(
    Type.String({ description: 'Why it has ended so, or what it waits for before it is signed, in words for you.' }),
  ),
  updatedAt: time,
});

export const params = Type.Object({ id: Type.String({ description: '24-hex id.' }) });

/** Throws BATCH_NOT_FOUND, of a foreign one too. */
export async function found(db: Queryable, merchantId: string, id: string): Promise<BatchRow> {
  const row = isId(id) ? await readBatch(db, merchantId, id) : null;
  if (!row) throw new DomainError('BATCH_NOT_FOUND');
  return row;
}
