import type { EntityManager } from 'typeorm';
import { compare, fit, isPositive, times } from '../../domain/money';
import { recordAct } from '../../db/access/audit-log';
import { lockOpenIntent, setLimits, type IntentRow } from '../../db/txmanager/intents';
import { invalid, notNow, type OperatorAct, type Payload } from './act';

/** One request raises a limit to so many times its value at most: a misplaced digit costs no more. */
const mostTimes = '10';
const whole = /^\d{1,40}$/;
const id = /^\d{1,18}$/;

/** The intent, locked, where both limits may be raised to these. */
async function raisable(tx: EntityManager, payload: Payload): Promise<IntentRow> {
  const intent = await lockOpenIntent(tx, payload['intentId']!);
  if (!intent) throw notNow(`There is no open intent ${payload['intentId']}`);
  const { maxUnitPrice, feeBudget } = payload;
  for (const [name, now, next] of [
    ['maxUnitPrice', intent.max_unit_price, maxUnitPrice!],
    ['feeBudget', intent.fee_budget, feeBudget!],
  ] as const) {
    if (compare(next, now) < 0) throw notNow(`${name} is ${fit(now, 3, 'down')} already`);
    if (compare(next, times(now, mostTimes, 18, 'up')) > 0)
      throw notNow(`${name} is ${fit(now, 3, 'down')}: one request raises it to ten times that at the most`);
  }
  if (compare(maxUnitPrice!, intent.max_unit_price) === 0 && compare(feeBudget!, intent.fee_budget) === 0)
    throw notNow('Both limits are as they were');
  return intent;
}

export const raiseCap: OperatorAct = {
  kind: 'raise-cap',
  title: 'Raise what an intent may pay for its transaction',
  fields: {
    intentId: 'Number of the intent, as the incident `fee-cap` names it.',
    maxUnitPrice: 'Most wei per gas, or satoshi per vbyte.',
    feeBudget: 'Most of the native base unit in all.',
  },
  async validate(tx, payload) {
    const { intentId, maxUnitPrice, feeBudget } = payload;
    if (!id.test(intentId!)) throw invalid('intentId must be the number of an intent');
    for (const [name, value] of Object.entries({ maxUnitPrice, feeBudget }))
      if (!whole.test(value!) || !isPositive(value!)) throw invalid(`${name} must be a whole number of base units`);
    const checked = { intentId: intentId!, maxUnitPrice: maxUnitPrice!, feeBudget: feeBudget! };
    await raisable(tx, checked);
    return checked;
  },
  async describe(tx, payload) {
    const intent = await raisable(tx, payload);
    const [price, budget] = [fit(intent.max_unit_price, 3, 'down'), fit(intent.fee_budget, 0, 'down')];
    return (
      `Raise the limits of intent ${intent.id} (${intent.kind} ${intent.ref}, ${intent.currency}): unit price from ` +
      `${price} to ${payload['maxUnitPrice']}, budget from ${budget} to ${payload['feeBudget']}`
    );
  },
  async execute(tx, payload, { requestId, reason, actor }) {
    const intent = await raisable(tx, payload);
    const [maxUnitPrice, feeBudget] = [payload['maxUnitPrice']!, payload['feeBudget']!];
    await setLimits(tx, intent.id, { maxUnitPrice, feeBudget });
    await recordAct(tx, actor, {
      merchantId: intent.merchant_id,
      action: 'intent.limits_raised',
      target: intent.id,
      before: { maxUnitPrice: intent.max_unit_price, feeBudget: intent.fee_budget },
      after: { maxUnitPrice, feeBudget, reason, requestId },
    });
    return `Intent ${intent.id} may pay ${maxUnitPrice} per unit and ${feeBudget} in all`;
  },
};
