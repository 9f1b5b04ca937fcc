import { createHmac } from 'node:crypto';
import { Refusal } from './refusal.js';
import type { RawEvent } from './stream.js';

/** Sends an event as the service does, signed anew: Standard Webhooks. */

export type Forwarded = Readonly<{ status: number | null; ms: number; error?: string }>;

const patienceMs = 15_000;

/** Throws Refusal where it is no address. */
export function forwardUrl(text: string): string {
  const whole = /^\d+$/.test(text) ? `http://localhost:${text}` : text.includes('://') ? text : `http://${text}`;
  if (!URL.canParse(whole) || !/^https?:$/.test(new URL(whole).protocol))
    throw new Refusal(`'${text}' is no address to forward to, such as http://localhost:8080/webhooks`);
  return whole;
}

function signature(secret: string, id: string, seconds: number, body: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`;
}

export async function forward(url: string, secret: string, { id, raw }: RawEvent): Promise<Forwarded> {
  const seconds = Math.floor(Date.now() / 1000);
  const started = performance.now();
  const passed = (): number => Math.round(performance.now() - started);
  try {
    const response = await fetch(url, {
      method: 'POST',
      body: raw,
      redirect: 'manual',
      signal: AbortSignal.timeout(patienceMs),
      headers: {
        'Content-Type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': signature(secret, id, seconds, raw),
      },
    });
    await response.arrayBuffer();
    return { status: response.status, ms: passed() };
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
    return { status: null, ms: passed(), error: cause?.code ?? cause?.message ?? message };
  }
}
