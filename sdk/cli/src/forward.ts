import { createHmac } from 'node:crypto';
import { patience } from './patience.js';
import { Refusal } from './refusal.js';
import type { RawEvent } from './stream.js';

/** Sends an event as the service does, signed anew: Standard Webhooks. */

export type Forwarded = Readonly<{ status: number | null; ms: number; error?: string }>;

export type Forwarding = Readonly<{
  timeoutMs?: number;
  /** Aborted: nothing is forwarded again. */
  signal?: AbortSignal;
  /** Told before each repeat. */
  onAgain?: (lost: Forwarded) => void;
}>;

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

/** Forwards an event. Without an answer it is forwarded again where this process was stopped meanwhile (a sleeping
 *  laptop): nobody knows whether the answer was lost or never came, and a receiver tells a repeat by its `webhook-id`.
 *  Silence of a server while we are awake is final. */
export async function forward(
  url: string,
  secret: string,
  event: RawEvent,
  { timeoutMs = 15_000, signal, onAgain }: Forwarding = {},
): Promise<Forwarded> {
  for (;;) {
    const { wasStopped, ...answer } = await attempt(url, secret, event, timeoutMs);
    if (answer.status !== null || !wasStopped || signal?.aborted) return answer;
    onAgain?.(answer);
  }
}

async function attempt(
  url: string,
  secret: string,
  { id, raw }: RawEvent,
  timeoutMs: number,
): Promise<Forwarded & { wasStopped: boolean }> {
  const seconds = Math.floor(Date.now() / 1000);
  const started = performance.now();
  const passed = (): number => Math.round(performance.now() - started);
  const waiting = patience(timeoutMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      body: raw,
      redirect: 'manual',
      signal: waiting.signal,
      headers: {
        'Content-Type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': signature(secret, id, seconds, raw),
      },
    });
    await response.arrayBuffer();
    return { status: response.status, ms: passed(), wasStopped: waiting.end() };
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string; message?: string } };
    const said = cause?.code ?? cause?.message ?? message;
    return { status: null, ms: passed(), error: said, wasStopped: waiting.end() };
  }
}
