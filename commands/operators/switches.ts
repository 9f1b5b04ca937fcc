import type { EntityManager } from 'typeorm';
import { recordAct, type Actor } from '../../db/access/audit-log';
import { isSwitchedOn, setSwitch, type Switch } from '../../db/access/switches';
import { freeze } from '../../db/limits/outbound';

/** What an operator stops for everybody, from a page or from a shell. */

/** Turns something on or off for everybody. */
export async function flipSwitch(
  tx: EntityManager,
  actor: Actor,
  to: Readonly<{ name: Switch; isOn: boolean; reason: string }>,
): Promise<void> {
  const before = await isSwitchedOn(tx, to.name);
  await setSwitch(tx, to.name, to.isOn, to.reason);
  await recordAct(tx, actor, {
    merchantId: null,
    action: 'switch.set',
    target: to.name,
    before: { isOn: before },
    after: { isOn: to.isOn, reason: to.reason },
  });
}

/** Stops a currency, or `everyCurrency`, from leaving. Whether it was not stopped before. */
export async function freezeCurrency(
  tx: EntityManager,
  actor: Actor,
  currency: string,
  reason: string,
): Promise<boolean> {
  const hasChanged = await freeze(tx, currency, reason);
  await recordAct(tx, actor, { merchantId: null, action: 'egress.frozen', target: currency, after: { reason } });
  return hasChanged;
}
