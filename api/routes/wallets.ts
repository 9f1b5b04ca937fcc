import { Type } from 'typebox';
import { walletsOf } from '../../db/wallets';
import { route } from '../route';

export const listWallets = route({
  name: 'listWallets',
  method: 'get',
  path: '/api/v1/merchant-wallets',
  summary: 'List wallets, deactivated ones included',
  tag: 'Wallets',
  envelope: 'B',
  rate: 'global',
  may: { key: 'wallets:read', session: 'wallets:view' },
  success: {
    status: 200,
    schema: Type.Array(
      Type.Object({
        id: Type.String(),
        currency: Type.String(),
        settlementAddress: Type.String(),
        destinationTag: Type.Union([Type.String(), Type.Null()]),
        custody: Type.String({
          enum: ['platform', 'external'],
          description: 'external: settled money leaves at once and is not spendable here.',
        }),
        isActive: Type.Boolean(),
        createdAt: Type.String({ format: 'date-time' }),
      }),
    ),
    description: 'At most one active wallet per currency.',
  },
  errors: [],
  async answer({ merchant }, { db }) {
    const rows = await walletsOf(db, merchant.id);
    return {
      data: rows.map((row) => ({
        id: row.id,
        currency: row.currency,
        settlementAddress: row.settlement_address,
        destinationTag: row.destination_tag,
        custody: row.custody,
        isActive: row.is_active,
        createdAt: row.created_at.toISOString(),
      })),
    };
  },
});
