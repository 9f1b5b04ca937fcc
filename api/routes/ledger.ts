import { Type } from 'typebox';
import { balancesOf } from '../../db/balances';
import { route } from '../route';

const exact = (description: string) => Type.String({ description: `${description} Exact decimal string.` });

export const listBalances = route({
  name: 'listBalances',
  method: 'get',
  path: '/api/v1/ledger/balances',
  summary: 'Balance of every currency',
  tag: 'Ledger',
  envelope: 'B',
  success: {
    status: 200,
    schema: Type.Object({
      balances: Type.Array(
        Type.Object({
          currency: Type.String(),
          balance: exact('Spendable.'),
          reserved: exact('Held by what is on its way out.'),
          available: exact('Equals balance: a hold moves money out of it.'),
          pending: exact('Net of payments confirmed and not settled.'),
        }),
      ),
    }),
    description: 'One entry per currency.',
  },
  errors: [],
  async answer({ merchant }, { db }) {
    return { data: { balances: await balancesOf(db, merchant.id) } };
  },
});
