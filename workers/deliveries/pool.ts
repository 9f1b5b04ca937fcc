import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { DataSource, EntityManager } from 'typeorm';
import { logAttempt, noteAttempt, noteUnwanted, send, type Sent } from '../../activities/webhooks/attempt';
import { serverOf, type ServerPlaces } from '../../activities/webhooks/server-places';
import { Semaphore } from '../../domain/semaphore';
import { failPoint } from '../../db/fail-point';
import { Bell } from '../../db/temporal/bell';
import {
  claimDeliveries,
  holdBack,
  leaveQueue,
  putBack,
  requestRetry,
  slowAfterMs,
  waitingReceivers,
  type ClaimedDelivery,
} from '../../db/webhooks/delivery-queue';
import type { Config } from '../../domain/config';
import { attemptsAtOnce } from '../../domain/webhooks/delivery';
import { fairShares, UnderWay, type Receiver } from '../../domain/webhooks/fair-shares';
import { Notes, patiently } from './notes';

/** A POST takes 15 s at most and begins within `startWithinMs`: its claim lasts longer, so that no other pool takes the
 *  delivery meanwhile. */
const claimSeconds = 30;
const startWithinMs = 10_000;
/** After so many claims that died with their process a workflow goes on: the delivery itself may be what kills. */
const mostClaims = 3;
/** Attempts under way. Those in front no longer count once they are late: slow receivers take no place from others. */
const places = { all: 100, ofMerchant: 2 * attemptsAtOnce, atReceiver: attemptsAtOnce };
/** Late ones included. */
const mostUnderWay = 1000;
const receiversAtOnce = 64;
/** Failures that are noted at once, so that a pool of connections is left to others. */
const notesAtOnce = 2;
/** Deliveries that come within this are claimed together. */
const gatherMs = 10;
const pollMs = 1000;
/** What found its server busy is claimed again about so much later. */
const busyMs = 2000;
const graceMs = 5000;

/** A queue of its own: who is in front goes first. `after`: the receiver up to which this turn has come. */
type Lane = { readonly isBehind: boolean; readonly underWay: UnderWay; after: Receiver | null };

/** Makes the first attempt of each round of a delivery, from the queue in PostgreSQL and without Temporal. What has to
 *  be tried again goes to a workflow. docs/decisions/0044-first-attempts.md */
export class DeliveryPool {
  private readonly front: Lane = { isBehind: false, underWay: new UnderWay(places), after: null };
  private readonly behind: Lane = { isBehind: true, underWay: new UnderWay(places), after: null };
  private readonly attempts = new Set<Promise<void>>();
  private readonly bell: Bell;
  private readonly notes: Notes;
  private readonly noting = new Semaphore(notesAtOnce);
  private readonly stopping = new AbortController();
  private nudged = new AbortController();
  private done: Promise<void> = Promise.resolve();

  constructor(
    private readonly db: DataSource,
    private readonly config: Config,
    private readonly servers: ServerPlaces,
    private readonly log: Logger,
  ) {
    this.bell = new Bell(config.DATABASE_URL, 'delivery_queue');
    this.notes = new Notes(db);
  }

  start(): void {
    this.done = this.loop();
  }

  /** Claims nothing more, and gives attempts under way a moment. What is left of them is claimed again elsewhere. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.nudged.abort();
    await this.done;
    await Promise.race([Promise.all(this.attempts), sleep(graceMs, undefined, { ref: false })]);
    await this.bell.close();
  }

  private async loop(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      this.nudged = new AbortController();
      const isMore = await this.claim().catch((error: Error) => {
        this.log.warn({ error: error.message }, 'The queue of deliveries could not be read');
        return false;
      });
      if (this.stopping.signal.aborted) return;
      if (!isMore) await this.bell.wait(pollMs, this.nudged.signal);
      await sleep(gatherMs);
    }
  }

  /** Begins what there are places for; true where more may wait. What is behind has its turn when nothing in front
   *  may begin. */
  private async claim(): Promise<boolean> {
    if (this.attempts.size >= mostUnderWay) return false;
    const inFront = await this.claimIn(this.front);
    return inFront ?? (await this.claimIn(this.behind)) ?? false;
  }

  /** Whether more may wait; null where nothing could begin. */
  private async claimIn(lane: Lane): Promise<boolean | null> {
    if (lane.underWay.free() <= 0) return false;
    const since = performance.now();
    const isTurnUnderWay = lane.after !== null;
    const receivers = await waitingReceivers(this.db, lane.isBehind, lane.after, receiversAtOnce);
    const isPage = receivers.length === receiversAtOnce;
    lane.after = isPage ? receivers.at(-1)! : null;
    const shares = fairShares(receivers, lane.underWay);
    const claimed = shares.length ? await claimDeliveries(this.db, shares, lane.isBehind, claimSeconds) : [];
    for (const delivery of claimed) this.begin(lane, delivery, since);
    if (isPage || isTurnUnderWay) return true;
    if (!claimed.length) return null;
    const isUsedUp = ({ merchantId, endpoint, most }: (typeof shares)[number]): boolean =>
      claimed.filter((one) => one.merchant_id === merchantId && one.endpoint === endpoint).length === most;
    return shares.some(isUsedUp);
  }

  private begin(lane: Lane, delivery: ClaimedDelivery, since: number): void {
    const receiver = { merchantId: delivery.merchant_id, endpoint: delivery.endpoint };
    let isCounted = true;
    const release = (): void => {
      if (isCounted) lane.underWay.add(receiver, -1);
      isCounted = false;
      this.nudged.abort();
    };
    lane.underWay.add(receiver, 1);
    const attempt = this.attempt(delivery, since, lane.isBehind ? () => undefined : release)
      .catch((error: Error) =>
        this.log.error(
          { deliveryId: delivery.id, merchantId: delivery.merchant_id, error: error.message },
          'A first attempt was not made or not noted; it is made again when its claim ends',
        ),
      )
      .finally(() => {
        this.attempts.delete(attempt);
        release();
      });
    this.attempts.add(attempt);
  }

  private async attempt(delivery: ClaimedDelivery, since: number, onLate: () => void): Promise<void> {
    const { db } = this;
    await failPoint('webhook.afterClaim');
    if (delivery.status !== 'pending' && delivery.status !== 'retrying') return void (await leaveQueue(db, delivery));
    if (delivery.tries > mostClaims) return this.leave(delivery, () => Promise.resolve());
    if (!delivery.is_on) return void (await this.leave(delivery, (tx) => noteUnwanted(tx, delivery)));
    const server = serverOf(delivery.merchant_id, delivery.url);
    if (!(await this.servers.takeWithin(server, slowAfterMs))) {
      if (!delivery.is_slow) await holdBack(db, delivery);
      await putBack(db, delivery, busyMs * (0.5 + Math.random()));
      return;
    }
    let sent: Sent;
    try {
      if (performance.now() - since > startWithinMs) throw new Error('This process stood still for too long');
      sent = await send(this.config, delivery, () => this.noteLate(delivery, onLate));
    } finally {
      this.servers.leave(server);
    }
    await this.note(delivery, sent);
  }

  private async noteLate(delivery: ClaimedDelivery, onLate: () => void): Promise<void> {
    onLate();
    if (delivery.is_slow) return;
    await holdBack(this.db, delivery).catch((error: Error) =>
      this.log.warn({ deliveryId: delivery.id, error: error.message }, 'A slow receiver could not be held back'),
    );
  }

  private async note(delivery: ClaimedDelivery, sent: Sent): Promise<void> {
    const { statusCode, durationMs, body, error } = sent.posted;
    const { id, attempts: n, url } = delivery;
    if (error === null && !sent.isLate && !delivery.is_slow && !delivery.is_failing) {
      await this.notes.add({ id, n, url, at: sent.at, durationMs, statusCode, responseBody: body });
      return logAttempt(this.log, delivery, sent, { status: 'succeeded', isNewRound: false });
    }
    const noted = await this.leave(delivery, (tx) =>
      noteAttempt(tx, this.config, delivery, sent, 0.9 + Math.random() * 0.2),
    );
    logAttempt(this.log, delivery, sent, noted);
  }

  /** Notes what became of an attempt, and hands what has to be tried again to a workflow, in one transaction. */
  private leave<Result>(delivery: ClaimedDelivery, note: (tx: EntityManager) => Promise<Result>): Promise<Result> {
    return this.noting.run(() =>
      patiently(() =>
        this.db.transaction(async (tx) => {
          const noted = await note(tx);
          if (await leaveQueue(tx, delivery)) await requestRetry(tx, delivery.id);
          return noted;
        }),
      ),
    );
  }
}
