import { Type } from 'typebox';
import type { EntityManager } from 'typeorm';
import type { Merchant } from '../../domain/access/access';
import { assetOf, assets } from '../../domain/chains/assets';
import { checkTag } from '../../domain/chains/tags';
import { DomainError } from '../../domain/errors';
import type { EventType } from '../../domain/webhooks/event-types';
import { walletChangedMail } from '../../domain/mail/mail';
import { recordAct } from '../../db/access/audit-log';
import { emitEvents } from '../../db/webhooks/events';
import {
  addWallet as add,
  deactivateWallet as deactivate,
  lockWallet,
  repointWallet as repoint,
  walletsOf,
  walletVersion,
  type WalletRow,
} from '../../db/wallets/wallets';
import { factorProps, withFactor } from '../access/step-up';
import { actorOf } from '../access/users';
import type { ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { tellAdmins } from '../access/tell-admins';
import { codeSent, mailCode } from '../access/account';
import { nullable, time } from '../http/schemas';

const walletSchema = Type.Object({
  id: Type.String(),
  currency: Type.String(),
  settlementAddress: Type.String(),
  destinationTag: nullable(Type.String()),
  custody: Type.String({
    enum: ['platform', 'external'],
    description: 'external: settled money leaves at once and is not spendable here.',
  }),
  isActive: Type.Boolean(),
  createdAt: time,
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

const destinationTag = Type.Optional(Type.String({ maxLength: 40, description: 'For networks that have tags.' }));

/** The event of a change, in its transaction, and last there. Contract: G4. */
async function announce(
  tx: EntityManager,
  type: Extract<EventType, `wallet.${string}`>,
  row: WalletRow,
  before?: WalletRow,
): Promise<void> {
  const [now, then] = [present(row), before && present(before)];
  const changed = Object.entries(then ?? {}).filter(([name, value]) => now[name as keyof typeof now] !== value);
  await emitEvents(tx, [
    {
      merchantId: row.merchant_id,
      type,
      entityId: row.id,
      stateVersion: await walletVersion(tx, row.id),
      data: JSON.stringify(now),
      previous: Object.fromEntries(changed),
    },
  ]);
}

const tell = (tx: EntityManager, deps: ApiDeps, merchant: Merchant, what: string): Promise<void> =>
  tellAdmins(tx, deps, merchant.id, (to) => walletChangedMail(to, { merchantName: merchant.name, what }));

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
    destinationTag,
    ...factorProps,
  }),
  success: { status: 201, schema: walletSchema, description: 'Payments made from now on settle there.' },
  errors: ['CURRENCY_NOT_AVAILABLE', 'INVALID_ADDRESS', 'WALLET_EXISTS'],
  async answer({ body, user, merchant, ...from }, deps) {
    const asset = assets.find(({ currency }) => currency === body.currency.toUpperCase());
    if (!asset) throw new DomainError('CURRENCY_NOT_AVAILABLE');
    const codec = deps.codecs[asset.network];
    if (body.settlementAddress !== undefined || body.destinationTag) checkTag(asset, body.destinationTag);
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
      await tell(
        tx,
        deps,
        merchant,
        `${user.displayName} added the ${wallet.currency} wallet ${wallet.settlement_address} (custody: ${wallet.custody}).`,
      );
      await announce(tx, 'wallet.added', wallet);
      return wallet;
    });
    return { data: present(row) };
  },
});

const walletParams = Type.Object({ walletId: Type.String({ maxLength: 100, description: '24-hex id.' }) });

export const repointWallet = route({
  name: 'repointWallet',
  method: 'patch',
  path: '/api/v1/merchant-wallets/{walletId}/settlement',
  summary: 'Settle to another address',
  description:
    'To an address of your own: from then on settled money leaves at once and is not spendable here. Payments made before keep theirs. ' +
    'All admins are told by mail. To have money stay with the service again, deactivate the wallet and add another without an address.',
  tag: 'Wallets',
  envelope: 'A',
  params: walletParams,
  body: Type.Object({
    settlementAddress: Type.String({ minLength: 1, maxLength: 200, description: 'Your own address.' }),
    destinationTag,
    ...factorProps,
  }),
  success: { status: 200, schema: walletSchema, description: 'Payments made from now on settle there.' },
  errors: ['WALLET_NOT_FOUND', 'INVALID_ADDRESS'],
  async answer({ params, body, user, merchant, ...from }, deps) {
    const row = await withFactor(deps, user, 'wallet_change', body, async (tx) => {
      const before = await lockWallet(tx, merchant.id, params.walletId);
      const asset = assetOf(before.currency);
      checkTag(asset, body.destinationTag);
      const after = await repoint(tx, before, body.settlementAddress, deps.codecs[asset.network]);
      await recordAct(tx, actorOf(user, from), {
        merchantId: merchant.id,
        action: 'wallet.repointed',
        target: after.id,
        before: { settlementAddress: before.settlement_address, custody: before.custody },
        after: { settlementAddress: after.settlement_address, custody: after.custody },
      });
      await tell(
        tx,
        deps,
        merchant,
        `${user.displayName} pointed the ${after.currency} wallet at ${after.settlement_address}; before it was ${before.settlement_address}.`,
      );
      await announce(tx, 'wallet.settlement_changed', after, before);
      return after;
    });
    return { data: present(row) };
  },
});

export const deactivateWallet = route({
  name: 'deactivateWallet',
  method: 'delete',
  path: '/api/v1/merchant-wallets/{walletId}',
  summary: 'Deactivate a wallet',
  description:
    'No payment can be made in its currency until another is added. Payments made before settle as they would have.',
  tag: 'Wallets',
  envelope: 'A',
  params: walletParams,
  body: Type.Object(factorProps),
  success: {
    status: 200,
    schema: Type.Object({ id: Type.String(), isActive: Type.Literal(false) }),
    description: 'It stays in the list.',
  },
  errors: ['WALLET_NOT_FOUND'],
  async answer({ params, body, user, merchant, ...from }, deps) {
    const { id } = await withFactor(deps, user, 'wallet_change', body, async (tx) => {
      const wallet = await lockWallet(tx, merchant.id, params.walletId);
      const after = await deactivate(tx, wallet);
      await recordAct(tx, actorOf(user, from), {
        merchantId: merchant.id,
        action: 'wallet.deactivated',
        target: wallet.id,
        before: { currency: wallet.currency, settlementAddress: wallet.settlement_address, custody: wallet.custody },
      });
      await tell(
        tx,
        deps,
        merchant,
        `${user.displayName} deactivated the ${wallet.currency} wallet ${wallet.settlement_address}.`,
      );
      await announce(tx, 'wallet.deactivated', after, wallet);
      return wallet;
    });
    return { data: { id, isActive: false } };
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
