import type { EntityManager } from 'typeorm';
import { isId } from '../../domain/ids';
import { recordAct } from '../../db/access/audit-log';
import { stoppedBecause, liftStop } from '../../db/access/merchant-stop';
import { findMerchant } from '../../db/access/merchants';
import { stoppedPayouts } from '../payouts/stopped';
import { stoppedRefunds } from '../refunds/stopped';
import { stoppedWithdrawals } from '../withdrawals/stopped';
import { invalid, notNow, type OperatorAct, type Payload } from './act';

const fields = { merchantId: 'Id of the merchant.' };

/** The payload, where the merchant's outgoing money is stopped. */
async function stopped(tx: EntityManager, { merchantId }: Payload): Promise<Payload> {
  const merchant = isId(merchantId) ? await findMerchant(tx, merchantId) : null;
  if (!merchant) throw invalid(`No merchant ${merchantId}`);
  if ((await stoppedBecause(tx, merchant.id)) === null) throw notNow(`No money of merchant ${merchant.id} is held`);
  return { merchantId: merchant.id };
}

const sorts = [stoppedWithdrawals, stoppedRefunds, stoppedPayouts];

/** How much there is of each sort, in words. */
async function counted(tx: EntityManager, merchantId: string): Promise<string> {
  const parts: string[] = [];
  for (const { what, unsigned } of sorts) parts.push(`${(await unsigned(tx, merchantId)).length} ${what}`);
  return parts.join(', ');
}

export const liftMerchantStop: OperatorAct = {
  kind: 'lift-hold',
  title: 'Let the outgoing money of a suspended merchant leave',
  fields,
  validate: stopped,
  async describe(tx, { merchantId }) {
    const { name } = (await findMerchant(tx, merchantId!))!;
    return `Let the outgoing money of merchant ${merchantId} (${name}) leave: ${await counted(tx, merchantId!)} wait`;
  },
  async execute(tx, payload, { requestId, reason, actor }) {
    const merchantId = payload['merchantId']!;
    if (!(await liftStop(tx, merchantId))) throw notNow(`No money of merchant ${merchantId} is held`);
    await recordAct(tx, actor, {
      merchantId,
      action: 'merchant.hold_lifted',
      target: merchantId,
      after: { reason, requestId },
    });
    return `Outgoing money of merchant ${merchantId} may leave`;
  },
};

export const cancelStoppedMoney: OperatorAct = {
  kind: 'cancel-held',
  title: 'Cancel the held withdrawals, refunds and mass payouts of a suspended merchant',
  fields,
  validate: stopped,
  async describe(tx, { merchantId }) {
    const { name } = (await findMerchant(tx, merchantId!))!;
    return (
      `Cancel what merchant ${merchantId} (${name}) has on its way out and nobody has signed ` +
      `(${await counted(tx, merchantId!)} now): it is in the balance again, and the hold stays`
    );
  },
  async execute(tx, payload, { requestId, reason, actor }) {
    const { merchantId } = await stopped(tx, payload);
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
