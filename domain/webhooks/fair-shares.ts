/** Whose turn it is when many deliveries wait for their first attempt: merchants take turns, and so do the receivers of
 *  a merchant. Who has ten thousand waiting delays nobody who has one. */

/** A webhook endpoint of a merchant, or 'ipn': all addresses that payments of the merchant name. */
export type Receiver = Readonly<{ merchantId: string; endpoint: string }>;
/** So many attempts may start. */
export type Share = Receiver & Readonly<{ most: number }>;

/** How many attempts are under way at most: in all, of a merchant, at a receiver. */
export type Places = Readonly<{ all: number; ofMerchant: number; atReceiver: number }>;

/** How many attempts are under way, by merchant and by receiver. */
export class UnderWay {
  private all = 0;
  private readonly counts = new Map<string, number>();

  constructor(readonly places: Places) {}

  add(receiver: Receiver, by: 1 | -1): void {
    this.all += by;
    for (const key of [receiver.merchantId, keyOf(receiver)]) {
      const count = (this.counts.get(key) ?? 0) + by;
      if (count) this.counts.set(key, count);
      else this.counts.delete(key);
    }
  }

  free(): number {
    return this.places.all - this.all;
  }

  freeFor({ merchantId }: Receiver): number {
    return this.places.ofMerchant - (this.counts.get(merchantId) ?? 0);
  }

  freeAt(receiver: Receiver): number {
    return this.places.atReceiver - (this.counts.get(keyOf(receiver)) ?? 0);
  }
}

const keyOf = ({ merchantId, endpoint }: Receiver): string => `${merchantId}/${endpoint}`;

/** The free places among receivers that wait: one to a merchant in each turn, until no place is left or nobody may have
 *  another. Receivers without a share are left out. */
export function fairShares(waiting: readonly Receiver[], underWay: UnderWay): Share[] {
  const shares = new Map<string, Receiver & { most: number }>();
  const merchants = [...Map.groupBy(waiting, ({ merchantId }) => merchantId).values()].map((receivers) => ({
    queue: [...receivers],
    left: underWay.freeFor(receivers[0]!),
  }));
  let free = underWay.free();
  for (let turn = merchants; turn.length && free > 0;) {
    for (const merchant of turn) {
      const receiver = merchant.queue.shift();
      if (!receiver || merchant.left <= 0 || free <= 0) continue;
      const share = shares.get(keyOf(receiver)) ?? { ...receiver, most: 0 };
      if (share.most >= underWay.freeAt(receiver)) continue;
      share.most += 1;
      merchant.left -= 1;
      free -= 1;
      shares.set(keyOf(receiver), share);
      merchant.queue.push(receiver);
    }
    turn = turn.filter(({ queue, left }) => queue.length && left > 0);
  }
  return [...shares.values()];
}
