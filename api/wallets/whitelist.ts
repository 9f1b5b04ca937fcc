import { Type } from 'typebox';
import type { EntityManager } from 'typeorm';
import type { Merchant, User } from '../../domain/access/access';
import { ownAddress } from '../../domain/chains/address';
import { isByLightning, payableOn } from '../../domain/chains/assets';
import { readReceiver } from '../../domain/chains/receivers';
import { readLightningReceiver } from '../../domain/lightning/receiver';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { normaliseRange } from '../../domain/access/ip-range';
import { whitelistChangedMail } from '../../domain/mail/mail';
import { recordAct } from '../../db/access/audit-log';
import { knownNode } from '../../db/lightning/node';
import { emitEvents } from '../../db/webhooks/events';
import { refuseOurs } from '../../db/wallets/wallets';
import {
  addToWhitelist,
  listedIps,
  removeFromWhitelist,
  whitelistOf,
  type WhitelistRow,
} from '../../db/wallets/whitelist';
import { factorProps, requireFactor, withFactor } from '../access/step-up';
import { actorOf } from '../access/users';
import { isListed } from '../../domain/access/client-ip';
import type { ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { line, named, nullable, time } from '../http/schemas';
import { notifyAdmins } from '../../commands/mail/notify-admins';
import { checkWithdrawalIp } from './withdrawal-ips';
import { codeSent, mailCode } from '../access/mfa';

/** Where a merchant's money may go, and from where it may be sent. Contract: 4.8, G11. */

const tag = 'Whitelist';
const properties = {
  id: Type.String(),
  type: Type.String({ enum: ['wallet', 'ip'] }),
  currency: nullable(Type.String()),
  address: nullable(Type.String()),
  destinationTag: nullable(Type.String()),
  ip: nullable(Type.String()),
  label: nullable(Type.String()),
  createdBy: Type.String({ description: 'E-mail address.' }),
  createdAt: time,
  activeAt: Type.String({
    format: 'date-time',
    description: 'It counts from then on: see `whitelistDelayHours` in the settings.',
  }),
};
export const entrySchema = named('WhitelistEntry', properties);
const present = (row: WhitelistRow) => ({
  id: row.id,
  type: row.type,
  currency: row.currency,
  address: row.address,
  destinationTag: row.destination_tag,
  ip: row.ip,
  label: row.label,
  createdBy: row.created_by,
  createdAt: row.created_at.toISOString(),
  activeAt: row.active_at.toISOString(),
});
const labelSchema = Type.Optional(line(100, 'How you call it.'));
const wordsFor = ({ currency, address, ip }: WhitelistRow): string => ip ?? `${currency} address ${address}`;

/** The audit log, the admins' mail and the event, in the transaction of the change. */
async function note(
  tx: EntityManager,
  deps: ApiDeps,
  { user, merchant, ...from }: { user: User; merchant: Merchant; ip: string; requestId: string },
  change: 'added' | 'removed',
  row: WhitelistRow,
): Promise<void> {
  const { type, currency, address, ip } = row;
  const what = type === 'ip' ? { ip } : { currency, address };
  await recordAct(tx, actorOf(user, from), {
    merchantId: merchant.id,
    action: `whitelist.${change}`,
    target: row.id,
    ...(change === 'added' ? { after: what } : { before: what }),
  });
  const words = `${user.displayName} ${change === 'added' ? 'added' : 'removed'} ${wordsFor(row)}.`;
  await notifyAdmins(tx, deps, merchant.id, (to) =>
    whitelistChangedMail(to, { merchantName: merchant.name, what: words }),
  );
  await emitEvents(tx, [
    {
      merchantId: merchant.id,
      type: 'whitelist.changed',
      entityId: row.id,
      stateVersion: change === 'added' ? 1 : 2,
      data: JSON.stringify({ ...present(row), removedAt: row.removed_at?.toISOString() ?? null }),
      previous: change === 'added' ? {} : { removedAt: null },
    },
  ]);
}

export const getWhitelist = route({
  name: 'getWhitelist',
  method: 'get',
  path: '/api/v1/whitelist',
  summary: 'Read the whitelist',
  tag,
  envelope: 'A',
  success: {
    status: 200,
    schema: Type.Object({ wallets: Type.Array(entrySchema), ips: Type.Array(entrySchema) }),
    description: 'Addresses that money may go to, and addresses that it may be sent from (none: any). Newest first.',
  },
  errors: [],
  async answer({ merchant }, { db }) {
    const rows = await whitelistOf(db, merchant.id);
    const of = (type: WhitelistRow['type']) => rows.filter((row) => row.type === type).map(present);
    return { data: { wallets: of('wallet'), ips: of('ip') } };
  },
});

export const whitelistWallet = route({
  name: 'whitelistWallet',
  method: 'post',
  path: '/api/v1/whitelist/wallet',
  summary: 'Let money go to an address',
  description: 'From a listed address only, where addresses are listed.',
  tag,
  envelope: 'A',
  body: Type.Object({
    currency: Type.String({ maxLength: 32, description: 'Ticker.' }),
    address: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Stored in the one spelling of its network. For BTC_LN a Lightning address or a node key.',
    }),
    destinationTag: Type.Optional(Type.String({ maxLength: 40, description: 'For networks that have tags.' })),
    label: labelSchema,
    ...factorProps,
  }),
  success: { status: 201, schema: entrySchema, description: 'The entry.' },
  errors: ['CURRENCY_NOT_AVAILABLE', 'INVALID_ADDRESS', 'ALREADY_WHITELISTED', 'IP_NOT_WHITELISTED'],
  async answer({ body, ...call }, deps) {
    await checkWithdrawalIp(deps.db, call.merchant.id, call.ip);
    requireFactor(body);
    const { networks, LIGHTNING_WITHDRAWALS: byLightning } = deps.config;
    const asset = payableOn(networks, byLightning).find(({ currency }) => currency === body.currency.toUpperCase());
    if (!asset) throw new DomainError('CURRENCY_NOT_AVAILABLE');
    const { address, destinationTag } = isByLightning(asset.currency)
      ? { address: readLightningReceiver(body.address), destinationTag: null }
      : readReceiver(deps.codecs[asset.network], asset, body);
    const row = await withFactor(deps, call.user, 'whitelist_change', body, async (tx) => {
      await refuseOurs(tx, asset.network, address);
      if ((await knownNode(tx))?.key === address) throw new DomainError('INVALID_ADDRESS', ownAddress);
      const added = await addToWhitelist(tx, call.merchant.id, call.user, {
        type: 'wallet',
        currency: asset.currency,
        address,
        destinationTag,
        label: body.label,
      });
      await note(tx, deps, call, 'added', added);
      return added;
    });
    return { data: present(row) };
  },
});

export const whitelistIp = route({
  name: 'whitelistIp',
  method: 'post',
  path: '/api/v1/whitelist/ip',
  summary: 'Let money be sent from an address',
  description: 'The first entry shuts out every other address.',
  tag,
  envelope: 'A',
  body: Type.Object({
    ip: Type.String({ minLength: 1, maxLength: 60, description: 'IPv4, IPv6 or a CIDR range.' }),
    label: labelSchema,
    ...factorProps,
  }),
  success: {
    status: 201,
    schema: Type.Object({
      ...properties,
      warnings: Type.Array(Type.String({ enum: ['CALLER_IP_NOT_LISTED'] }), {
        description: 'CALLER_IP_NOT_LISTED: once it is active you cannot send money from where you are now.',
      }),
    }),
    description: 'The entry.',
  },
  errors: ['INVALID_IP', 'ALREADY_WHITELISTED'],
  async answer({ body, ...call }, deps) {
    requireFactor(body);
    const ip = normaliseRange(body.ip);
    if (ip === null) throw new DomainError('INVALID_IP');
    return withFactor(deps, call.user, 'whitelist_change', body, async (tx) => {
      const added = await addToWhitelist(tx, call.merchant.id, call.user, { type: 'ip', ip, label: body.label });
      await note(tx, deps, call, 'added', added);
      const isShutOut = !isListed(call.ip, [ip, ...(await listedIps(tx, call.merchant.id))]);
      return { data: { ...present(added), warnings: isShutOut ? ['CALLER_IP_NOT_LISTED'] : [] } };
    });
  },
});

export const deleteWhitelistEntry = route({
  name: 'deleteWhitelistEntry',
  method: 'post',
  path: '/api/v1/whitelist/{id}/delete',
  summary: 'Take an entry off the whitelist',
  tag,
  envelope: 'A',
  params: Type.Object({ id: Type.String({ description: '24-hex id.' }) }),
  body: Type.Object(factorProps),
  success: { status: 200, schema: Type.Object({ deleted: Type.Literal(true) }), description: 'It counts no more.' },
  errors: ['INVALID_ID', 'WHITELIST_REMOVE_FAILED'],
  async answer({ params, body, ...call }, deps) {
    if (!isId(params.id)) throw new DomainError('INVALID_ID');
    await withFactor(deps, call.user, 'whitelist_change', body, async (tx) => {
      const removed = await removeFromWhitelist(tx, call.merchant.id, params.id, call.user.id);
      await note(tx, deps, call, 'removed', removed);
    });
    return { data: { deleted: true } };
  },
});

export const sendWhitelistCode = route({
  name: 'sendWhitelistCode',
  method: 'post',
  path: '/api/v1/whitelist/send-email-code',
  summary: 'Mail a code that confirms a change of the whitelist',
  tag,
  envelope: 'A',
  success: { status: 200, schema: codeSent, description: 'The newest code is the only one that counts.' },
  errors: [],
  answer: async ({ user }, deps) => ({ data: await mailCode(deps, user, 'whitelist_change') }),
});
