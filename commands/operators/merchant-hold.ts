import type { EntityManager } from 'typeorm';
import { isId } from '../../domain/ids';
import { recordAct } from '../../db/access/audit-log';
import { heldBecause, liftHold } from '../../db/access/merchant-hold';
import { findMerchant } from '../../db/access/merchants';
import { heldPayouts } from '../payouts/held';
import { heldRefunds } from '../refunds/held';
import { heldWithdrawals } from '../withdrawals/held';
import { invalid, notNow, type OperatorAct, type Payload } from './act';

const fields = { merchantId: 'Id of the merchant.' };

/** The payload, where the merchant's outgoing money is held. */
async function held(tx: EntityManager, { merchantId }: Payload): Promise<Payload> {
  const merchant = isId(merchantId) ? await findMerchant(tx, merchantId) : null;
  if (!merchant) throw invalid(`No merchant ${merchantId}`);
  if ((await heldBecause(tx, merchant.id)) === null) throw notNow(`No money of merchant ${merchant.id} is held`);
  return { merchantId: merchant.id };
}

const sorts = [heldWithdrawals, heldRefunds, heldPayouts];

/** How much there is of each sort, in words. */
async function counted(tx: EntityManager, merchantId: string): Promise<string> {
  const parts: string[] = [];
  for (const { what, unsigned } of sorts) parts.push(`${(await unsigned(tx, merchantId)).length} ${what}`);
  return parts.join(', ');
}

export const liftMerchantHold: OperatorAct = {
  kind: 'lift-hold',
  title: 'Let the outgoing money of a suspended merchant leave',
  fields,
  validate: held,
  async describe(tx, { merchantId }) {
    const { name } = (await findMerchant(tx, merchantId!))!;
    return `Let the outgoing money of merchant ${merchantId} (${name}) leave: ${await counted(tx, merchantId!)} wait`;
  },
  async execute(tx, payload, { requestId, reason, actor }) {
    const merchantId = payload['merchantId']!;
    if (!(await liftHold(tx, merchantId))) throw notNow(`No money of merchant ${merchantId} is held`);
    await recordAct(tx, actor, {
      merchantId,
      action: 'merchant.hold_lifted',
      target: merchantId,
      after: { reason, requestId },
    });
    return `Outgoing money of merchant ${merchantId} may leave`;
  },
};

export const cancelHeldMoney: OperatorAct = {
  kind: 'cancel-held',
  title: 'Cancel the held withdrawals, refunds and mass payouts of a suspended merchant',
  fields,
  validate: held,
  async describe(tx, { merchantId }) {
    const { name } = (await findMerchant(tx, merchantId!))!;
    return (
      `Cancel what merchant ${merchantId} (${name}) has on its way out and nobody has signed ` +
      `(${await counted(tx, merchantId!)} now): it is in the balance again, and the hold stays`
    );
  },
  async execute(tx, payload, { requestId, reason, actor }) {
    const { merchantId } = await held(tx, payload);
    const parts: string[] = [];
    const cancelled: string[] = [];
    for (const { what, unsigned, cancel } of sorts) {
      const ids = await unsigned(tx, merchantId!);
      for (const id of ids) await cancel(tx, merchantId!, id);
      parts.push(`${ids.length} ${what}`);
      cancelled.push(...ids);
    }
    await recordAct(tx, actor, {
      merchantId: merchantId!,
      action: 'merchant.held_cancelled',
      target: merchantId!,
      after: { reason, requestId, cancelled },
    });
    return `Cancelled: ${parts.join(', ')}`;
  },
};
