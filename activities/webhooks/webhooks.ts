import type { DataSource } from 'typeorm';
import type { Config } from '../../domain/config';
import { attemptsAtOnce, busyPauseMs } from '../../domain/webhooks/delivery';
import { beginAttempt, targetOf, type DueDelivery } from '../../db/webhooks/deliveries';
import { holdBack } from '../../db/webhooks/delivery-queue';
import { lookAgainIn } from '../rest';
import { logAttempt, noteAttempt, noteUnwanted, send, type Log } from './attempt';
import { serverOf, ServerPlaces } from './server-places';

/** `places`: shared with who makes first attempts in this process. */
export type WebhookDeps = Readonly<{ db: DataSource; config: Config; log: Log; places?: ServerPlaces }>;
/** What became of an attempt, for the workflow: neither address nor words of the receiver, which Temporal need not
 *  know. `endpoint`: its id, or `ipn`. */
export type Delivered = Readonly<{
  status: DueDelivery['status'];
  attempt: number;
  nextInMs: number;
  endpoint: string;
  type: string;
  statusCode: number | null;
}>;

const over: Delivered = { status: 'cancelled', attempt: 0, nextInMs: 0, endpoint: '', type: '', statusCode: null };

export const webhookActivities = ({ db, config, log, places = new ServerPlaces() }: WebhookDeps) => {
  async function attempt(deliveryId: string, jitter: number): Promise<Delivered> {
    const delivery = await beginAttempt(db, deliveryId);
    if (!delivery) return over;
    const common = { attempt: delivery.attempts, endpoint: delivery.endpoint, type: delivery.type };
    if (!delivery.is_on) {
      const { status } = await db.transaction((tx) => noteUnwanted(tx, delivery));
      return { ...common, status, nextInMs: 0, statusCode: null };
    }
    const sent = await send(config, delivery, async () => delivery.is_slow || (await holdBack(db, delivery)));
    const noted = await db.transaction((tx) => noteAttempt(tx, config, delivery, sent, jitter));
    logAttempt(log, delivery, sent, noted);
    const { statusCode } = sent.posted;
    if (noted.isNewRound) return { ...common, status: 'retrying', nextInMs: 1, statusCode };
    return { ...common, status: noted.status, nextInMs: noted.nextInMs, statusCode };
  }

  return {
    /** One attempt to deliver an event; says whether it is over or when to try again. A delivery whose first attempt is
     *  under way is none of the workflow's: it is asked for again where that fails. Throws SERVER_BUSY where many
     *  attempts at the same server are under way: the next try comes a while later, counts as the first, and leaves no
     *  trace in the history. `jitter`: 0.9 to 1.1, from the workflow, so that it replays. */
    async deliverOnce(deliveryId: string, jitter: number): Promise<Delivered> {
      const target = await targetOf(db, deliveryId);
      if (!target) return over;
      const server = serverOf(target.merchantId, target.url);
      if (!places.take(server))
        throw lookAgainIn(
          busyPauseMs(Math.random(), config.WEBHOOK_TIME_SCALE),
          'SERVER_BUSY',
          `${attemptsAtOnce} attempts at this server are under way`,
        );
      try {
        return await attempt(deliveryId, jitter);
      } finally {
        places.leave(server);
      }
    },
  };
};
