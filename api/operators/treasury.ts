import { Type } from 'typebox';
import { assetPositions, hotWallets, type AssetPosition, type HotWallet } from '../../db/treasury/position';
import { route } from '../http/route';
import { exact, named, nullable, time } from '../http/schemas';

/** What lies where, against what is owed. */

const text = Type.String();
const role = Type.String({ enum: ['treasury', 'gas'] });
const lane = nullable(
  Type.String({ enum: ['used', 'dropped'], description: 'null: neither a hot wallet nor one of the past.' }),
);
const treasurySchema = named('Treasury', {
  assets: Type.Array(
    Type.Object({
      currency: text,
      treasury: exact('What the books say that the treasury holds.'),
      owed: exact('What merchants are owed in all.'),
      owedFor: Type.Array(Type.Object({ account: text, amount: exact('Owed on this account.') }), {
        description: 'The same by the kind of account, such as `available`, `reserved` or `unallocated`.',
      }),
      free: exact('What can be given by converting; of a frozen asset nothing.'),
      compared: nullable(
        Type.Object({
          at: time,
          height: text,
          ledger: exact('What the books said at that block.'),
          chain: exact('What addresses and coins held.'),
          unexplained: exact('What nothing explains; either sign.'),
        }),
      ),
      addresses: Type.Array(
        Type.Object({
          address: text,
          role,
          lane,
          free: exact('What can leave.'),
          taken: exact('What is planned, signed or locked.'),
        }),
        { description: 'Those with something on them, the fullest first.' },
      ),
    }),
  ),
  wallets: Type.Array(
    Type.Object({
      network: text,
      address: text,
      role,
      lane,
      index: Type.Integer({
        description: 'Which of the hot wallets; a gas wallet has that of the wallet it pays for.',
      }),
      native: Type.String({ description: 'The coin that pays for gas.' }),
      balance: exact('Of that coin.'),
      gasWanted: nullable(exact('What 50 token transfers cost at the price of now.')),
      nextNonce: Type.Integer(),
      isBlocked: Type.Boolean(),
      frozenReason: nullable(text),
      waiting: nullable(
        Type.Object(
          {
            intentId: text,
            kind: text,
            ref: text,
            txId: text,
            nonce: Type.Integer(),
            unitPrice: text,
            maxUnitPrice: text,
            isReplaced: Type.Boolean(),
            signedAt: time,
          },
          { description: 'Its lowest transaction that is in no block.' },
        ),
      ),
      behind: Type.Integer({ description: 'Transactions behind that one.' }),
    }),
    { description: 'Hot wallets and gas wallets of account chains.' },
  ),
});

const presentAsset = ({ currency, treasury, owedInAll, owed, free, compared, addresses }: AssetPosition) => ({
  currency,
  treasury,
  owed: owedInAll,
  owedFor: Object.entries(owed).map(([account, amount]) => ({ account, amount })),
  free,
  compared: compared && {
    at: compared.at.toISOString(),
    height: compared.height,
    ledger: compared.ledger,
    chain: compared.chain,
    unexplained: compared.unexplained,
  },
  addresses: addresses.map(({ held: _held, ...one }) => one),
});

const presentWallet = (one: HotWallet) => ({
  network: one.network,
  address: one.address,
  role: one.role,
  lane: one.lane,
  index: one.keyIndex,
  native: one.native,
  balance: one.balance,
  gasWanted: one.gasWanted,
  nextNonce: one.nextNonce,
  isBlocked: one.isBlocked,
  frozenReason: one.frozenReason,
  waiting:
    // What expires has no nonce that others wait behind: the wallet itself is said to be blocked.
    one.intentId === null || one.nonce === null
      ? null
      : {
          intentId: one.intentId,
          kind: one.kind!,
          ref: one.ref!,
          txId: one.txId!,
          nonce: one.nonce,
          unitPrice: one.unitPrice!,
          maxUnitPrice: one.maxUnitPrice!,
          isReplaced: one.isReplaced,
          signedAt: one.signedAt!.toISOString(),
        },
  behind: one.behind,
});

export const getTreasury = route({
  name: 'getTreasury',
  method: 'get',
  path: '/api/v1/platform/treasury',
  summary: 'What lies where, against what is owed',
  tag: 'Platform',
  envelope: 'A',
  success: { status: 200, schema: treasurySchema, description: 'Every asset, and the hot wallets of account chains.' },
  errors: [],
  answer: (_call, { db, config }) =>
    db.transaction('REPEATABLE READ', async (tx) => {
      const assets = await assetPositions(tx, config.networks);
      const wallets = await hotWallets(tx, config.networks, assets);
      return { data: { assets: assets.map(presentAsset), wallets: wallets.map(presentWallet) } };
    }),
});
