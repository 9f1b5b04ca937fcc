import { Type } from 'typebox';
import { assets } from '../../domain/assets';
import { DomainError } from '../../domain/errors';
import { walletChangedMail } from '../../domain/mail';
import { recordAct } from '../../db/audit-log';
import { queueMail } from '../../db/mail';
import { adminEmails } from '../../db/users';
import { addWallet as add, walletsOf, type WalletRow } from '../../db/wallets';
import { factorProps, withFactor } from '../auth/step-up';
import { actorOf } from '../auth/users';
import { route } from '../route';
import { codeSent, mailCode } from './account';

const walletSchema = Type.Object({
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
});
const present = (row: WalletRow) => ({
  id: row.id,
  currency: row.currency,
  settlementAddress: row.settlement_address,
  destinationTag: row.destination_tag,
  custody: row.custody,
  isActive: row.is_active,
  createdAt: row.created_at.toISOString(),
});

export const listWallets = route({
  name: 'listWallets',
  method: 'get',
  path: '/api/v1/merchant-wallets',
  summary: 'List wallets, deactivated ones included',
  tag: 'Wallets',
  envelope: 'B',
  success: {
    status: 200,
    schema: Type.Array(walletSchema),
    description: 'At most one active wallet per currency.',
  },
  errors: [],
  async answer({ merchant }, { db }) {
    return { data: (await walletsOf(db, merchant.id)).map(present) };
  },
});

export const addWallet = route({
  name: 'addWallet',
  method: 'post',
  path: '/api/v1/merchant-wallets',
  summary: 'Add the wallet of a currency',
  description:
    'Without `settlementAddress` settled money stays with the service and can be spent here; with one it leaves at once. All admins are told by mail.',
  tag: 'Wallets',
  envelope: 'A',
  body: Type.Object({
    currency: Type.String({ maxLength: 20, description: 'Ticker.' }),
    settlementAddress: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Your own address.' })),
    destinationTag: Type.Optional(Type.String({ maxLength: 40, description: 'For networks that have tags.' })),
    ...factorProps,
  }),
  success: { status: 201, schema: walletSchema, description: 'Payments made from now on settle there.' },
  errors: ['CURRENCY_NOT_AVAILABLE', 'INVALID_ADDRESS', 'WALLET_EXISTS'],
  async answer({ body, user, merchant, ...from }, deps) {
    const asset = assets.find(({ currency }) => currency === body.currency.toUpperCase());
    if (!asset) throw new DomainError('CURRENCY_NOT_AVAILABLE');
    const codec = deps.codecs[asset.network];
    if (body.settlementAddress !== undefined && codec.normalise(body.settlementAddress) === null)
      throw new DomainError('INVALID_ADDRESS');
    const row = await withFactor(deps, user, 'wallet_change', body, async (tx) => {
      const wallet = await add(
        tx,
        { merchantId: merchant.id, currency: asset.currency, address: body.settlementAddress },
        codec,
      );
      await recordAct(tx, actorOf(user, from), {
        merchantId: merchant.id,
        action: 'wallet.added',
        target: wallet.id,
        after: { currency: wallet.currency, settlementAddress: wallet.settlement_address, custody: wallet.custody },
      });
      const what = `${user.displayName} added the ${wallet.currency} wallet ${wallet.settlement_address} (custody: ${wallet.custody}).`;
      for (const to of await adminEmails(tx, merchant.id))
        await queueMail(tx, deps.config.SECRETS_KEY, walletChangedMail(to, { merchantName: merchant.name, what }));
      return wallet;
    });
    return { data: present(row) };
  },
});

export const sendWalletCode = route({
  name: 'sendWalletCode',
  method: 'post',
  path: '/api/v1/merchant-wallets/send-email-code',
  summary: 'Mail a code that confirms a change of wallets',
  tag: 'Wallets',
  envelope: 'A',
  success: { status: 200, schema: codeSent, description: 'The newest code is the only one that counts.' },
  errors: [],
  answer: async ({ user }, deps) => ({ data: await mailCode(deps, user, 'wallet_change') }),
});
