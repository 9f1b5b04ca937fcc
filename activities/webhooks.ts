import { Webhook } from 'standardwebhooks';
import type { DataSource } from 'typeorm';
import type { Config } from '../domain/config';
import { afterAttempt } from '../domain/delivery';
import { beginAttempt, finishAttempt, type DueDelivery } from '../db/deliveries';
import { failPoint } from '../db/fail-point';
import { openSealed } from '../db/sealing';
import { postOutside } from './outbound';

export type WebhookDeps = Readonly<{ db: DataSource; config: Config }>;
export type Delivered = Readonly<{
  status: DueDelivery['status'];
  attempt: number;
  nextInMs: number;
  url: string;
  type: string;
  error: string | null;
}>;

/** The body of a delivery: the event with its data byte for byte as it was stored. gaps: 4. */
export function webhookBody(delivery: DueDelivery): string {
  const head = {
    id: delivery.event_id,
    type: delivery.type,
    timestamp: delivery.created_at.toISOString(),
    apiVersion: 'v1',
    livemode: true,
    merchantId: delivery.merchant_id,
  };
  return `${JSON.stringify(head).slice(0, -1)},"seq":${delivery.seq},"data":${delivery.data},"previous":${delivery.previous}}`;
}

export const webhookActivities = ({ db, config }: WebhookDeps) => ({
  /** One attempt to deliver an event; says whether it is over or when to try again. The receiver may see an attempt twice when this
   *  process dies after the POST: it carries the same `webhook-id`. `jitter`: 0.9 to 1.1, from the workflow, so that it replays. */
  async deliverOnce(deliveryId: string, jitter: number): Promise<Delivered> {
    const delivery = await beginAttempt(db, deliveryId);
    if (!delivery) return { status: 'cancelled', attempt: 0, nextInMs: 0, url: '', type: '', error: 'over already' };
    const common = { attempt: delivery.attempts, url: delivery.url, type: delivery.type };
    const at = new Date();
    if (!delivery.ipn_enabled) {
      await db.transaction((tx) =>
        finishAttempt(tx, deliveryId, delivery.attempts, {
          status: 'cancelled',
          at,
          durationMs: 0,
          statusCode: null,
          responseBody: '',
          error: 'IPN is switched off',
          nextInMs: null,
        }),
      );
      return { ...common, status: 'cancelled', nextInMs: 0, error: 'IPN is switched off' };
    }
    const body = webhookBody(delivery);
    const signature = new Webhook(openSealed(config.SECRETS_KEY, delivery.ipn_secret_sealed)).sign(
      delivery.event_id,
      at,
      body,
    );
    const posted = await postOutside(
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
    await failPoint('webhook.afterPost');
    const next = afterAttempt(delivery.attempts, posted, jitter, config.WEBHOOK_TIME_SCALE);
    await db.transaction((tx) =>
      finishAttempt(tx, deliveryId, delivery.attempts, {
        ...next,
        at,
        durationMs: posted.durationMs,
        statusCode: posted.statusCode,
        responseBody: posted.body,
        error: posted.error,
      }),
    );
    return { ...common, status: next.status, nextInMs: next.nextInMs ?? 0, error: posted.error };
  },
});
