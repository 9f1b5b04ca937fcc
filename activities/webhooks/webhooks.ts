import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { DataSource } from 'typeorm';
import type { Config } from '../../domain/config';
import { afterAttempt, attemptsAtOnce, busyPauseMs } from '../../domain/webhooks/delivery';
import { eventJson } from '../../domain/webhooks/event-view';
import { failingLimitMs } from '../../domain/webhooks/webhook-endpoint';
import {
  beginAttempt,
  finishAttempt,
  holdBack,
  letForward,
  slowAfterMs,
  targetOf,
  type DueDelivery,
} from '../../db/webhooks/deliveries';
import { failPoint } from '../../db/fail-point';
import { openSealed } from '../../db/sealing';
import { noteFailure, noteSuccess } from '../../db/webhooks/webhook-endpoints';
import { postOutside } from './outbound';
import { lookAgainIn } from '../rest';

export type WebhookDeps = Readonly<{ db: DataSource; config: Config }>;
/** What became of an attempt, for the workflow: neither address nor words of the receiver, which Temporal need not know.
 *  `endpoint`: its id, or `ipn`. */
export type Delivered = Readonly<{
  status: DueDelivery['status'];
  attempt: number;
  nextInMs: number;
  endpoint: string;
  type: string;
  statusCode: number | null;
}>;

const over: Delivered = { status: 'cancelled', attempt: 0, nextInMs: 0, endpoint: '', type: '', statusCode: null };

export const webhookActivities = ({ db, config }: WebhookDeps) => {
  /** Attempts under way, by merchant and server. */
  const underWay = new Map<string, number>();

  async function attempt(deliveryId: string, jitter: number): Promise<Delivered> {
    const delivery = await beginAttempt(db, deliveryId);
    if (!delivery) return over;
    const common = { attempt: delivery.attempts, endpoint: delivery.endpoint, type: delivery.type };
    const at = new Date();
    if (!delivery.is_on) {
      const error = delivery.endpoint === 'ipn' ? 'IPN is switched off' : 'The endpoint is switched off or deleted';
      await db.transaction((tx) =>
        finishAttempt(tx, deliveryId, delivery.attempts, delivery.due, {
          status: 'cancelled',
          at,
          durationMs: 0,
          statusCode: null,
          responseBody: '',
          error,
          nextInMs: null,
        }),
      );
      return { ...common, status: 'cancelled', nextInMs: 0, statusCode: null };
    }
    const body = eventJson({ ...delivery, id: delivery.event_id });
    // One signature for each secret in force: while a new one is taken over, either verifies.
    const signature = delivery.secrets
      .map((sealed) => new Webhook(openSealed(config.SECRETS_KEY, sealed)).sign(delivery.event_id, at, body))
      .join(' ');
    const posting = postOutside(
      delivery.url,
      body,
      {
        'webhook-id': delivery.event_id,
        'webhook-timestamp': Math.floor(at.getTime() / 1000).toString(),
        'webhook-signature': signature,
        'x-webhook-attempt': String(delivery.attempts),
        'user-agent': 'CryptoPayments-Webhook/1',
      },
      config.ALLOW_INSECURE_CALLBACKS,
    );
    const isLate = await Promise.race([posting.then(() => false), sleep(slowAfterMs, true, { ref: false })]);
    if (isLate && !delivery.is_slow) await holdBack(db, delivery);
    const posted = await posting;
    await failPoint('webhook.afterPost');
    const { attempts, attempts_before, endpoint, url } = delivery;
    const next = afterAttempt(attempts - attempts_before, posted, jitter, config.WEBHOOK_TIME_SCALE);
    const isNewRound = await db.transaction(async (tx) => {
      const isAsked = await finishAttempt(tx, deliveryId, attempts, delivery.due, {
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
      if (endpoint === 'ipn') return isAsked;
      if (next.status === 'succeeded') await noteSuccess(tx, endpoint);
      else
        await noteFailure(tx, config.SECRETS_KEY, endpoint, {
          url,
          at,
          isGone: posted.statusCode === 410,
          limitMs: failingLimitMs * config.WEBHOOK_TIME_SCALE,
        });
      return isAsked;
    });
    const { statusCode } = posted;
    if (isNewRound) return { ...common, status: 'retrying', nextInMs: 1, statusCode };
    return { ...common, status: next.status, nextInMs: next.nextInMs ?? 0, statusCode };
  }

  return {
    /** One attempt to deliver an event; says whether it is over or when to try again. The receiver may see an attempt twice when this
     *  process dies after the POST: it carries the same `webhook-id`. Throws SERVER_BUSY where many attempts at the same server are under
     *  way: the next try comes a while later, counts as the first, and leaves no trace in the history. `jitter`: 0.9 to 1.1, from the
     *  workflow, so that it replays. */
    async deliverOnce(deliveryId: string, jitter: number): Promise<Delivered> {
      const target = await targetOf(db, deliveryId);
      if (!target) return over;
      const server = `${target.merchantId}/${URL.canParse(target.url) ? new URL(target.url).host : ''}`;
      const others = underWay.get(server) ?? 0;
      if (others >= attemptsAtOnce)
        throw lookAgainIn(
          busyPauseMs(Math.random(), config.WEBHOOK_TIME_SCALE),
          'SERVER_BUSY',
          `${others} attempts at this server are under way`,
        );
      underWay.set(server, others + 1);
      try {
        return await attempt(deliveryId, jitter);
      } finally {
        const left = underWay.get(server)! - 1;
        if (left) underWay.set(server, left);
        else underWay.delete(server);
      }
    },
  };
};
