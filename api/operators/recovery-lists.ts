import { Type } from 'typebox';
import { recoveries } from '../../db/recovery/epoch';
import { newestLost } from '../../db/recovery/lost';
import { claimedBy, unclaimedPage } from '../../db/recovery/unclaimed';
import { route } from '../http/route';
import { exact, limit, named, nullable, pageOf, time } from '../http/schemas';

/** What recoveries of the database have lost, and money that no payment has. docs/operations/backup-and-restore.md */

const tag = 'Platform';
const text = Type.String();
const mostLost = 100;
const recoveriesSchema = named('Recoveries', {
  recoveries: Type.Array(
    Type.Object({
      epoch: Type.Integer(),
      reason: text,
      begunAt: time,
      unwatched: Type.Integer({ description: 'Addresses that are still to be watched.' }),
    }),
  ),
  lost: Type.Array(
    Type.Object({
      ref: text,
      network: text,
      currency: text,
      status: text,
      txId: text,
      outputs: Type.Array(Type.Object({ address: text, units: Type.String({ description: 'Base units.' }) })),
      fate: Type.String({
        enum: ['taken', 'waits', 'ownerless'],
        description:
          '`taken`: its row has taken it over. `waits`: its row takes it over. `ownerless`: nobody knows what it was ' +
          'for, and it is booked as a loss as far as it left.',
      }),
    }),
    { description: `What was signed in the time that recoveries have lost: the newest ${mostLost}.` },
  ),
  isCut: Type.Boolean({ description: 'More was lost than is listed.' }),
});

export const getRecoveries = route({
  name: 'getRecoveries',
  method: 'get',
  path: '/api/v1/platform/recoveries',
  summary: 'List recoveries, and what was signed in the time that they have lost',
  tag,
  envelope: 'A',
  success: { status: 200, schema: recoveriesSchema, description: 'Newest first.' },
  errors: [],
  async answer(_call, { db }) {
    const lost = await newestLost(db, mostLost + 1);
    return {
      data: {
        recoveries: (await recoveries(db)).map(({ begun_at: at, ...one }) => ({ ...one, begunAt: at.toISOString() })),
        lost: lost.slice(0, mostLost).map(({ tx_id: txId, was: fate, outputs, ...one }) => ({
          ...one,
          txId,
          fate,
          outputs: (JSON.parse(outputs) as Array<{ address: string; units: string }>).map(({ address, units }) => ({
            address,
            units: String(units),
          })),
        })),
        isCut: lost.length > mostLost,
      },
    };
  },
});

const unclaimedSchema = named('UnclaimedDeposit', {
  id: Type.String({ description: 'Decimal number.' }),
  network: text,
  address: text,
  statedTag: nullable(Type.String({ description: 'The destination tag that it came with.' })),
  txId: nullable(Type.String({ description: 'null: no transaction tells of it, its address holds it.' })),
  currency: text,
  amount: exact('What came.'),
  confirmedAt: time,
  act: Type.String({
    enum: ['claim-address', 'claim-deposit'],
    description: 'The request of two operators that gives it to a payment.',
  }),
});

export const listUnclaimedDeposits = route({
  name: 'listUnclaimedDeposits',
  method: 'get',
  path: '/api/v1/platform/unclaimed-deposits',
  summary: 'List money that came to addresses of ours, and that no payment has',
  tag,
  envelope: 'A',
  query: Type.Object({ cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,18}$' })), limit }),
  success: {
    status: 200,
    schema: Type.Object({ items: Type.Array(unclaimedSchema), nextCursor: nullable(Type.String()) }),
    description: 'Newest first; `nextCursor` null at the end.',
  },
  errors: [],
  async answer({ query }, { db }) {
    const { cursor, limit } = pageOf(query);
    const rows = await unclaimedPage(db, cursor ?? null, limit + 1);
    const items = rows.slice(0, limit);
    return {
      data: {
        items: items.map((row) => ({
          id: row.id,
          network: row.network,
          address: row.address,
          statedTag: row.stated_tag,
          txId: row.found_by === 'balance' ? null : row.tx_id,
          currency: row.currency!,
          amount: row.amount,
          confirmedAt: row.confirmed_at.toISOString(),
          act: claimedBy(row),
        })),
        nextCursor: rows.length > limit ? items.at(-1)!.id : null,
      },
    };
  },
});
