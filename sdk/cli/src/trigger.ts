import { setTimeout as sleep } from 'node:timers/promises';
import { pay } from './pay.js';
import { Refusal } from './refusal.js';
import type { Access, Sandbox } from './settings.js';
import { follow, headOf, type RawEvent } from './stream.js';

/** Makes events happen for real in a sandbox: real payments, real coins of its chains, mined blocks. */

type Stage = Access & Readonly<{ sandbox: Sandbox; currency: string; signal: AbortSignal }>;
type Payment = Readonly<{ id: string; slug: string; amount: number }>;
/** Brings the event about; answers the id of what it is about, or undefined where any event of the type will do. */
type Scene = (stage: Stage) => Promise<string | undefined>;

async function create({ client }: Stage, currency?: string, expiresIn?: number): Promise<Payment> {
  const made = await client.payments.create({ amount: 25, currency, expiresIn, description: 'Made by trigger' });
  return { id: made.paymentId, slug: made.invoiceUrl.split('/').at(-1)!, amount: made.amount };
}

async function until(stage: Stage, id: string, status: string): Promise<void> {
  for (;;) {
    const payment = await stage.client.payments.get(id, { signal: stage.signal });
    if (payment.status === status) return;
    if (['SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED'].includes(payment.status))
      throw new Refusal(`Payment ${id} became ${payment.status} on its way to ${status}`, 'NOT_TRIGGERED');
    await sleep(300, undefined, { signal: stage.signal });
  }
}

const paid =
  (confirm?: string): Scene =>
  async (stage) => {
    const payment = await create(stage, stage.currency);
    await pay(stage.sandbox, payment.slug, { confirm });
    return payment.id;
  };

const settled = async (stage: Stage): Promise<Payment> => {
  const payment = await create(stage, stage.currency);
  await pay(stage.sandbox, payment.slug);
  await until(stage, payment.id, 'SETTLED');
  return payment;
};

/** Half of an amount, to six digits: coins have more. */
const half = (amount: number): string => (amount / 2).toFixed(6).replace(/\.?0+$/, '');

async function repeat(stage: Stage): Promise<undefined> {
  const payment = await settled(stage);
  await pay(stage.sandbox, payment.slug, { amount: half(payment.amount) });
}

async function refund(stage: Stage): Promise<string> {
  const { id } = await settled(stage);
  const made = await stage.client.refunds.create(id, { type: 'full', reason: 'Made by trigger' });
  return made._id!;
}

export const scenes: Readonly<Record<string, Scene>> = {
  'payment.created': async (stage) => (await create(stage, stage.currency)).id,
  'payment.currency_selected': async (stage) => {
    const { id } = await create(stage);
    await stage.client.payments.selectCurrency(id, { currency: stage.currency });
    return id;
  },
  'payment.partially_paid': async (stage) => {
    const payment = await create(stage, stage.currency);
    await pay(stage.sandbox, payment.slug, { amount: half(payment.amount) });
    return payment.id;
  },
  'payment.detected': paid(),
  'payment.confirming': paid('1'),
  'payment.confirmed': paid(),
  'payment.sweep_queued': paid(),
  'payment.settled': paid(),
  'payment.repeat_deposit': repeat,
  'payment.cancelled': async (stage) => {
    const { id } = await create(stage, stage.currency);
    await stage.client.payments.cancel(id);
    return id;
  },
  'payment.expired': async (stage) => (await create(stage, stage.currency, 60)).id,
  'refund.created': refund,
  'refund.cancelled': async (stage) => {
    const id = await refund(stage);
    await stage.client.refunds.cancel(id);
    return id;
  },
};

const areaOf = (type: string): string => type.split('.')[0]!;

/** How `type` is brought about. Throws Refusal. */
export function sceneOf(type: string): Scene {
  if (Object.hasOwn(scenes, type)) return scenes[type]!;
  throw new Refusal(`'${type}' cannot be triggered. These can: ${Object.keys(scenes).join(', ')}`, 'UNKNOWN_EVENT');
}

/** Brings `type` about and answers the event. Throws Refusal. */
export async function trigger(
  access: Access & Readonly<{ sandbox: Sandbox }>,
  type: string,
  scene: Scene,
  { currency, timeoutMs }: Readonly<{ currency: string; timeoutMs: number }>,
): Promise<RawEvent> {
  const signal = AbortSignal.timeout(timeoutMs);
  const late = (): Refusal =>
    new Refusal(`${type} did not come within ${Math.round(timeoutMs / 1000)} s: --timeout gives it longer`, 'TOO_LATE');
  try {
    const after = await headOf(access);
    const about = await scene({ ...access, currency, signal });
    for await (const event of follow(access, { after, types: `${areaOf(type)}.*`, everyMs: 200, signal })) {
      const id = event.data['_id'] ?? event.data['id'];
      if (event.type === type && (about === undefined || id === about)) return event;
    }
  } catch (error) {
    throw signal.aborted ? late() : error;
  }
  throw late();
}
