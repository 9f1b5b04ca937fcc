import { Type } from 'typebox';
import { changeOfLink, stopSettlement } from '../../commands/wallets/settlement';
import { findMerchant } from '../../db/access/merchants';
import type { SettlementChangeRow } from '../../db/wallets/settlement-changes';
import { viewChange } from '../../domain/wallets/wallet-view';
import { actorOf } from '../access/users';
import type { ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { time } from '../http/schemas';

/** What the holder of a mailed link may see and do: stop a change of a settlement address. Contract: G6. */

const tag = 'Wallets';
const params = Type.Object({ token: Type.String({ description: 'The last part of the mailed link.' }) });
const schema = Type.Object({
  merchantName: Type.String(),
  settlementAddress: Type.String(),
  settlementAddressBefore: Type.String(),
  status: Type.String({ enum: ['awaiting_approval', 'cooling_off', 'applied', 'stopped', 'replaced'] }),
  requestedBy: Type.String({ description: 'E-mail address.' }),
  activeAt: time,
  createdAt: time,
});

const present = async ({ db }: ApiDeps, row: SettlementChangeRow) => ({
  merchantName: (await findMerchant(db, row.merchant_id))!.name,
  settlementAddressBefore: row.before_address,
  ...viewChange(row),
});

export const getSettlementChange = route({
  name: 'getSettlementChange',
  method: 'get',
  path: '/settlement-changes/{token}',
  summary: 'Get a change of a settlement address by its mailed link',
  description: 'Nothing is changed by looking.',
  tag,
  envelope: 'B',
  params,
  success: { status: 200, schema, description: 'The change.' },
  errors: ['STOP_LINK_NOT_FOUND'],
  answer: async ({ params: { token } }, deps) => ({
    data: await present(deps, await changeOfLink(deps.db.manager, deps, token)),
  }),
});

export const stopSettlementChange = route({
  name: 'stopSettlementChange',
  method: 'post',
  path: '/settlement-changes/{token}/stop',
  summary: 'Stop a change of a settlement address by its mailed link',
  description:
    'Once. A change that waits never counts. After one that counts already, for a week, later payments settle to the ' +
    'address before; those made meanwhile keep theirs.',
  tag,
  envelope: 'B',
  params,
  body: Type.Object({ confirm: Type.Literal(true) }),
  success: { status: 200, schema, description: 'Stopped.' },
  errors: ['STOP_LINK_NOT_FOUND', 'SETTLEMENT_STATE'],
  async answer({ params: { token }, ip, requestId }, deps) {
    const actor = actorOf(null, { ip, requestId });
    return { data: await present(deps, await deps.db.transaction((tx) => stopSettlement(tx, deps, token, actor))) };
  },
});
