import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { EntityManager } from 'typeorm';
import { failPoint } from '../../db/fail-point';
import { originNow } from '../../db/origin';
import { openSealed } from '../../db/sealing';
import { finishAttempt, type DueDelivery } from '../../db/webhooks/deliveries';
import { holdBack, letForward, slowAfterMs } from '../../db/webhooks/delivery-queue';
import { noteFailure, noteSuccess } from '../../db/webhooks/webhook-endpoints';
import type { Config } from '../../domain/config';
import { inSpan, traceparentNow } from '../../domain/tracing';
import { afterAttempt } from '../../domain/webhooks/delivery';
import { eventIds } from '../../domain/webhooks/event-line';
import { eventJson } from '../../domain/webhooks/event-view';
import { failingLimitMs } from '../../domain/webhooks/webhook-endpoint';
import { postOutside, type Posted } from './outbound';

type Settings = Pick<Config, 'SECRETS_KEY' | 'ALLOW_INSECURE_CALLBACKS' | 'WEBHOOK_TIME_SCALE'>;

export type Log = Readonly<{ info(fields: object, text: string): void }>;

/** What an attempt came to. `isLate`: it had not been answered when `slowAfterMs` were over. */
export type Sent = Readonly<{ at: Date; posted: Posted; isLate: boolean }>;

/** What becomes of a delivery. */
export type Noted = Readonly<{
  status: 'succeeded' | 'retrying' | 'failed' | 'cancelled';
  nextInMs: number;
  /** It would be over without success, and was asked for again meanwhile. */
  isNewRound: boolean;
}>;

/** Signs an event and posts it, once. The receiver may see an attempt twice when this process dies after the POST: it
 *  carries the same `webhook-id`. */
export async function send(config: Settings, delivery: DueDelivery, onLate: () => Promise<unknown>): Promise<Sent> {
  const at = delivery.taken_at; // receivers refuse what is minutes off
  const body = eventJson({ ...delivery, id: delivery.event_id });
  // One signature for each secret in force: while a new one is taken over, either verifies.
  const signature = delivery.secrets
    .map((sealed) => new Webhook(openSealed(config.SECRETS_KEY, sealed)).sign(delivery.event_id, at, body))
    .join(' ');
  const headers = {
    'webhook-id': delivery.event_id,
    'webhook-timestamp': Math.floor(at.getTime() / 1000).toString(),
    'webhook-signature': signature,
    'x-webhook-attempt': String(delivery.attempts),
    'user-agent': 'CryptoPayments-Webhook/1',
  };
  const posting = inTraceOf(delivery, () => {
    const traceparent = traceparentNow();
    const traced = traceparent === null ? headers : { ...headers, traceparent };
    return postOutside(delivery.url, body, traced, config.ALLOW_INSECURE_CALLBACKS);
  });
  const answered = new AbortController();
  const late = sleep(slowAfterMs, true, { ref: false, signal: answered.signal }).catch(() => false);
  const isLate = await Promise.race([posting.then(() => false), late]);
  answered.abort();
  if (isLate) await onLate();
  const posted = await posting;
  await failPoint('webhook.afterPost');
  return { at, posted, isLate };
}

const idsOf = (delivery: DueDelivery) =>
  eventIds({
    type: delivery.type,
    merchantId: delivery.merchant_id,
    entityId: delivery.entity_id,
    requestId: delivery.request_id,
    traceparent: delivery.traceparent,
  });

/** Posts in a span of the trace under way, that of a workflow which tries again, or of that of the event. */
function inTraceOf(delivery: DueDelivery, post: () => Promise<Posted>): Promise<Posted> {
  const { id: deliveryId, event_id: eventId, type, attempts: attempt } = delivery;
  const { traceId: _, ...ids } = idsOf(delivery);
  return inSpan(
    {
      name: `webhook ${type}`,
      kind: 'client',
      parent: traceparentNow() ?? delivery.traceparent,
      attributes: { ...ids, deliveryId, eventId, type, attempt },
    },
    post,
    ({ statusCode, error }) => ({
      attributes: { 'http.response.status_code': statusCode ?? undefined },
      fault: error === null ? undefined : statusCode === null ? 'NO_ANSWER' : `HTTP_${statusCode}`,
    }),
  );
}

/** Tells the log what became of an attempt, first or later: neither address nor words of the receiver. */
export function logAttempt(log: Log, delivery: DueDelivery, sent: Sent, noted: Omit<Noted, 'nextInMs'>): void {
  const { id: deliveryId, event_id: eventId, type, endpoint, attempts: attempt } = delivery;
  const { statusCode, durationMs } = sent.posted;
  const fields = {
    deliveryId,
    eventId,
    type,
    endpoint,
    ...idsOf(delivery),
    workflowId: originNow().workflowId,
    attempt,
    statusCode,
    ms: durationMs,
  };
  const willRetry = noted.isNewRound || noted.status === 'retrying';
  if (noted.status === 'succeeded') log.info(fields, 'delivery sent');
  else log.info({ ...fields, willRetry }, 'delivery failed');
}

/** Notes that nothing was sent, because the merchant wants nothing there. */
export async function noteUnwanted(tx: EntityManager, delivery: DueDelivery): Promise<Noted> {
  const error = delivery.endpoint === 'ipn' ? 'IPN is switched off' : 'The endpoint is switched off or deleted';
  const nothing = { durationMs: 0, statusCode: null, responseBody: '', nextInMs: null };
  await finishAttempt(tx, delivery, { ...nothing, status: 'cancelled', at: delivery.taken_at, error });
  return { status: 'cancelled', nextInMs: 0, isNewRound: false };
}

/** Notes what an attempt came to: in the log, on the delivery, on its endpoint, and whether the receiver is slow.
 *  `jitter`: 0.9 to 1.1. */
export async function noteAttempt(
  tx: EntityManager,
  config: Settings,
  delivery: DueDelivery,
  { at, posted, isLate }: Sent,
  jitter: number,
): Promise<Noted> {
  const { attempts, attempts_before, endpoint, url } = delivery;
  const next = afterAttempt(attempts - attempts_before, posted, jitter, config.WEBHOOK_TIME_SCALE);
  const isNewRound = await finishAttempt(tx, delivery, {
    ...next,
    at,
    durationMs: posted.durationMs,
    statusCode: posted.statusCode,
    responseBody: posted.body,
    error: posted.error,
  });
  const isSlow = isLate || next.status !== 'succeeded';
  if (isSlow && !isLate && !delivery.is_slow) await holdBack(tx, delivery);
  if (!isSlow && delivery.is_slow) await letForward(tx, delivery);
  if (endpoint !== 'ipn' && next.status === 'succeeded') await noteSuccess(tx, endpoint);
  if (endpoint !== 'ipn' && next.status !== 'succeeded')
    await noteFailure(tx, config.SECRETS_KEY, endpoint, {
      url,
      at,
      isGone: posted.statusCode === 410,
      limitMs: failingLimitMs * config.WEBHOOK_TIME_SCALE,
    });
  return { status: next.status, nextInMs: next.nextInMs ?? 0, isNewRound };
}
