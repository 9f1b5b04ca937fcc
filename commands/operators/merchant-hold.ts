import type { EntityManager } from 'typeorm';
import { isId } from '../../domain/ids';
import { recordAct } from '../../db/access/audit-log';
import { heldBecause, liftHold, unsignedOf, type Unsigned } from '../../db/access/merchant-hold';
import { findMerchant } from '../../db/access/merchants';
import { cancelBatch } from '../payouts/cancel';
import { cancelRefund } from '../refunds/cancel';
import { cancelWithdrawal } from '../withdrawals/cancel';
import { invalid, notNow, type OperatorAct, type Payload } from './act';

const fields = { merchantId: 'Id of the merchant.' };

/** The payload, where the merchant's outgoing money is held. */
async function held(tx: EntityManager, { merchantId }: Payload): Promise<Payload> {
  const merchant = isId(merchantId) ? await findMerchant(tx, merchantId) : null;
  if (!merchant) throw invalid(`No merchant ${merchantId}`);
  if ((await heldBecause(tx, merchant.id)) === null) throw notNow(`No money of merchant ${merchant.id} is held`);
  return { merchantId: merchant.id };
}

const counted = (some: readonly Unsigned[]): string =>
  (['withdrawal', 'refund', 'payout'] as const)
    .map((kind) => `${some.filter((one) => one.kind === kind).length} ${kind}s`)
    .join(', ');

export const liftMerchantHold: OperatorAct = {
  kind: 'lift-hold',
  title: 'Let the outgoing money of a suspended merchant leave',
  fields,
  validate: held,
  async describe(tx, { merchantId }) {
    const { name } = (await findMerchant(tx, merchantId!))!;
    const waiting = counted(await unsignedOf(tx, merchantId!));
    return `Let the outgoing money of merchant ${merchantId} (${name}) leave: ${waiting} wait`;
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

const cancel: Readonly<
  Record<Unsigned['kind'], (tx: EntityManager, merchantId: string, id: string) => Promise<unknown>>
> = { withdrawal: cancelWithdrawal, refund: cancelRefund, payout: cancelBatch };

export const cancelHeldMoney: OperatorAct = {
  kind: 'cancel-held',
  title: 'Cancel the held withdrawals, refunds and mass payouts of a suspended merchant',
  fields,
  validate: held,
  async describe(tx, { merchantId }) {
    const { name } = (await findMerchant(tx, merchantId!))!;
    return (
      `Cancel what merchant ${merchantId} (${name}) has on its way out and nobody has signed ` +
      `(${counted(await unsignedOf(tx, merchantId!))} now): it is in the balance again, and the hold stays`
    );
  },
  async execute(tx, payload, { requestId, reason, actor }) {
    const { merchantId } = await held(tx, payload);
    const unsigned = await unsignedOf(tx, merchantId!);
    for (const { kind, id } of unsigned) await cancel[kind](tx, merchantId!, id);
    await recordAct(tx, actor, {
      merchantId: merchantId!,
      action: 'merchant.held_cancelled',
      target: merchantId!,
      after: { reason, requestId, cancelled: unsigned.map(({ kind, id }) => `${kind} ${id}`) },
    });
    return `Cancelled: ${counted(unsigned)}`;
  },
};
