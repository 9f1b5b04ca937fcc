import { Type } from 'typebox';
import type { EntityManager } from 'typeorm';
import type { Merchant } from '../../domain/access/access';
import { assetOf, isByLightning, payableOn } from '../../domain/chains/assets';
import { readAddress } from '../../domain/chains/address';
import { checkSettlement } from '../../domain/chains/tags';
import { DomainError } from '../../domain/errors';
import { walletChangedMail } from '../../domain/mail/mail';
import { emitWalletEvent, presentWallet } from '../../commands/wallets/wallet-event';
import {
  approveSettlement as approve,
  askSettlement,
  dropPending,
  rejectSettlement as reject,
} from '../../commands/wallets/settlement';
import { notifyAdmins } from '../../commands/mail/notify-admins';
import { viewWallet } from '../../domain/wallets/wallet-view';
import { openChanges } from '../../db/wallets/settlement-changes';
import { recordAct } from '../../db/access/audit-log';
import {
  addLightningWallet,
  addWallet as add,
  deactivateWallet as deactivate,
  lockWallet,
  walletsOf,
} from '../../db/wallets/wallets';
import { factorProps, requireFactor, withFactor } from '../access/step-up';
import { actorOf, approverOf } from '../access/users';
import type { ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { checkWithdrawalIp } from './withdrawal-ips';
import { codeSent, mailCode } from '../access/mfa';
import { named, nullable, time } from '../http/schemas';

export const walletSchema = named('Wallet', {
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
  pendingChange: nullable(
    Type.Object(
      {
        settlementAddress: Type.String(),
        status: Type.String({ enum: ['awaiting_approval', 'cooling_off'] }),
        activeAt: time,
        requestedBy: Type.String({ description: 'E-mail address.' }),
        createdAt: time,
      },
      { description: 'Another settlement address that was asked for and does not count yet.' },
    ),
  ),
});
const destinationTag = Type.Optional(Type.String({ maxLength: 40, description: 'For networks that have tags.' }));

const notify = (tx: EntityManager, deps: ApiDeps, merchant: Merchant, what: string): Promise<void> =>
  notifyAdmins(tx, deps, merchant.id, (to) => walletChangedMail(to, { merchantName: merchant.name, what }));

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
    const pending = new Map((await openChanges(db, merchant.id)).map((change) => [change.wallet_id, change]));
    return { data: (await walletsOf(db, merchant.id)).map((row) => viewWallet(row, pending.get(row.id) ?? null)) };
  },
});

export const addWallet = route({
  name: 'addWallet',
  method: 'post',
  path: '/api/v1/merchant-wallets',
  summary: 'Add the wallet of a currency',
  description:
    'Without `settlementAddress` settled money stays with the service and can be spent here; with one it leaves at ' +
    'once, from the moment that a change of the settlement address would count, and stays here until then. ' +
    'What comes by Lightning (`BTC_LN`) always stays; the public key of the node stands for the address. ' +
    'All admins are told by mail.',
  tag: 'Wallets',
  envelope: 'A',
  body: Type.Object({
    currency: Type.String({ maxLength: 20, description: 'Ticker.' }),
    settlementAddress: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Your own address.' })),
    destinationTag,
    ...factorProps,
  }),
  success: { status: 201, schema: walletSchema, description: 'Payments made from now on settle there.' },
  errors: ['CURRENCY_NOT_AVAILABLE', 'INVALID_ADDRESS', 'WALLET_EXISTS', 'IP_NOT_WHITELISTED'],
  async answer({ body, user, merchant, ...from }, deps) {
    await checkWithdrawalIp(deps.db, merchant.id, from.ip);
    requireFactor(body);
    const { networks, LIGHTNING_PAYMENTS: byLightning } = deps.config;
    const asset = payableOn(networks, byLightning).find(({ currency }) => currency === body.currency.toUpperCase());
    if (!asset) throw new DomainError('CURRENCY_NOT_AVAILABLE');
    const codec = deps.codecs[asset.network];
    const { settlementAddress } = body;
    if (settlementAddress !== undefined || body.destinationTag) checkSettlement(asset, body.destinationTag);
    if (settlementAddress !== undefined) readAddress(codec, settlementAddress);
    const data = await withFactor(deps, user, 'wallet_change', body, async (tx) => {
      const actor = actorOf(user, from);
      // Starts with the service; an address of the merchant's own goes the way of every change.
      const asked = { merchantId: merchant.id, currency: asset.currency };
      const wallet = isByLightning(asset.currency) ? await addLightningWallet(tx, asked) : await add(tx, asked, codec);
      await recordAct(tx, actor, {
        merchantId: merchant.id,
        action: 'wallet.added',
        target: wallet.id,
        after: { currency: wallet.currency, settlementAddress: wallet.settlement_address, custody: wallet.custody },
      });
      const what = `${user.displayName} added the ${wallet.currency} wallet ${wallet.settlement_address}.`;
      await notify(tx, deps, merchant, what);
      await emitWalletEvent(tx, 'wallet.added', wallet);
      if (settlementAddress === undefined) return presentWallet(tx, wallet);
      const using = { ...deps, codec, merchantName: merchant.name };
      return presentWallet(tx, await askSettlement(tx, using, wallet, settlementAddress, user, actor));
    });
    return { data };
  },
});

const walletParams = Type.Object({ walletId: Type.String({ maxLength: 100, description: '24-hex id.' }) });

export const repointWallet = route({
  name: 'repointWallet',
  method: 'patch',
  path: '/api/v1/merchant-wallets/{walletId}/settlement',
  summary: 'Settle to another address',
  description:
    'To an address of your own: from then on settled money leaves at once and is not spendable here. Payments made ' +
    'before keep theirs. It counts after `whitelistDelayHours` and, where `approvalUsd` is set, once a second person ' +
    'has approved it: until then it is the `pendingChange`, and a later one replaces it. The mail to all admins ' +
    'has a link that stops it, also for a week after it counts. ' +
    'To have money stay with the service again, deactivate the wallet and add another without an address.',
  tag: 'Wallets',
  envelope: 'A',
  params: walletParams,
  body: Type.Object({
    settlementAddress: Type.String({ minLength: 1, maxLength: 200, description: 'Your own address.' }),
    destinationTag,
    ...factorProps,
  }),
  success: { status: 200, schema: walletSchema, description: 'The wallet, with what waits.' },
  errors: ['WALLET_NOT_FOUND', 'INVALID_ADDRESS', 'IP_NOT_WHITELISTED'],
  async answer({ params, body, user, merchant, ...from }, deps) {
    await checkWithdrawalIp(deps.db, merchant.id, from.ip);
    const data = await withFactor(deps, user, 'wallet_change', body, async (tx) => {
      const wallet = await lockWallet(tx, merchant.id, params.walletId);
      const asset = assetOf(wallet.currency);
      checkSettlement(asset, body.destinationTag);
      const using = { ...deps, codec: deps.codecs[asset.network], merchantName: merchant.name };
      const after = await askSettlement(tx, using, wallet, body.settlementAddress, user, actorOf(user, from));
      return presentWallet(tx, after);
    });
    return { data };
  },
});

export const approveSettlement = route({
  name: 'approveSettlement',
  method: 'post',
  path: '/api/v1/merchant-wallets/{walletId}/settlement/approve',
  summary: 'Approve the settlement address that somebody else has asked for',
  description: 'The second person has held the right to approve for the cooling-off, a day at least.',
  tag: 'Wallets',
  envelope: 'A',
  params: walletParams,
  body: Type.Object(factorProps),
  success: { status: 200, schema: walletSchema, description: 'It counts, or waits for its hour.' },
  errors: ['WALLET_NOT_FOUND', 'SETTLEMENT_STATE', 'SECOND_PERSON', 'APPROVER_TOO_NEW', 'IP_NOT_WHITELISTED'],
  async answer({ params, body, user, merchant, ...from }, deps) {
    await checkWithdrawalIp(deps.db, merchant.id, from.ip);
    const data = await withFactor(deps, user, 'wallet_change', body, async (tx) => {
      const wallet = await lockWallet(tx, merchant.id, params.walletId);
      const after = await approve(tx, wallet, approverOf(user, deps), actorOf(user, from));
      return presentWallet(tx, after);
    });
    return { data };
  },
});

export const rejectSettlement = route({
  name: 'rejectSettlement',
  method: 'post',
  path: '/api/v1/merchant-wallets/{walletId}/settlement/reject',
  summary: 'Refuse the settlement address that waits',
  tag: 'Wallets',
  envelope: 'A',
  params: walletParams,
  body: Type.Object(factorProps),
  success: { status: 200, schema: walletSchema, description: 'The wallet as it was.' },
  errors: ['WALLET_NOT_FOUND', 'SETTLEMENT_STATE'],
  async answer({ params, body, user, merchant, ...from }, deps) {
    const data = await withFactor(deps, user, 'wallet_change', body, async (tx) => {
      const wallet = await lockWallet(tx, merchant.id, params.walletId);
      await reject(tx, wallet, actorOf(user, from));
      return presentWallet(tx, wallet);
    });
    return { data };
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
  errors: ['WALLET_NOT_FOUND', 'IP_NOT_WHITELISTED'],
  async answer({ params, body, user, merchant, ...from }, deps) {
    await checkWithdrawalIp(deps.db, merchant.id, from.ip);
    const { id } = await withFactor(deps, user, 'wallet_change', body, async (tx) => {
      const wallet = await lockWallet(tx, merchant.id, params.walletId);
      await dropPending(tx, wallet);
      const after = await deactivate(tx, wallet);
      await recordAct(tx, actorOf(user, from), {
        merchantId: merchant.id,
        action: 'wallet.deactivated',
        target: wallet.id,
        before: { currency: wallet.currency, settlementAddress: wallet.settlement_address, custody: wallet.custody },
      });
      await notify(
        tx,
        deps,
        merchant,
        `${user.displayName} deactivated the ${wallet.currency} wallet ${wallet.settlement_address}.`,
      );
      await emitWalletEvent(tx, 'wallet.deactivated', after, wallet);
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
