import { setTimeout as sleep } from 'node:timers/promises';
import { pay } from './pay.js';
import { Refusal } from './refusal.js';
import type { Access, Sandbox } from './settings.js';

/** What the scenes of `trigger` act with, and what many of them begin with: a payment. */

export type Stage = Access &
  Readonly<{
    sandbox: Sandbox;
    currency: string;
    signal: AbortSignal;
    /** What is done once the event has come, or has not. */
    afterwards: (act: () => unknown) => void;
  }>;
/** Brings the event about; answers the id of what it is about, or undefined where any event of the type will do. */
export type Scene = (stage: Stage) => Promise<string | undefined>;
export type Payment = Readonly<{ id: string; slug: string; amount: number }>;

type Json = Readonly<Record<string, unknown>>;
/** Posts to a part of the sandbox that needs no key. Throws Refusal with what it answers. */
export async function post({ signal }: Stage, url: string, body: Json): Promise<Json> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal });
  const text = await answer.text();
  if (!answer.ok) throw new Refusal(`POST ${new URL(url).pathname} was refused: ${text}`, 'NOT_TRIGGERED');
  return JSON.parse(text) as Json;
}

/** `usd`: what it costs. */
export async function create({ client }: Stage, currency?: string, expiresIn?: number, usd = 25): Promise<Payment> {
  const merchantOrderId = `order-${1000 + (Date.now() % 9000)}`;
  const made = await client.payments.create({
    amount: usd,
    currency,
    expiresIn,
    merchantOrderId,
    description: 'Coffee, 1 kg',
  });
  return { id: made.paymentId, slug: made.invoiceUrl.split('/').at(-1)!, amount: made.amount };
}

export async function until(stage: Stage, id: string, status: string): Promise<void> {
  for (;;) {
    const payment = await stage.client.payments.get(id, { signal: stage.signal });
    if (payment.status === status) return;
    if (['SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED'].includes(payment.status))
      throw new Refusal(`Payment ${id} became ${payment.status} on its way to ${status}`, 'NOT_TRIGGERED');
    await sleep(300, undefined, { signal: stage.signal });
  }
}

export async function settled(stage: Stage, usd?: number): Promise<Payment> {
  const payment = await create(stage, stage.currency, undefined, usd);
  await pay(stage.sandbox, payment.slug);
  await until(stage, payment.id, 'SETTLED');
  return payment;
}

/** A part of an amount, to six digits: coins have more. */
export const part = (amount: number, share: number): string => (amount * share).toFixed(6).replace(/\.?0+$/, '');
