import { attemptsAtOnce } from '../../domain/webhooks/delivery';

/** A server of a merchant. One of another merchant at the same address has places of its own. */
export const serverOf = (merchantId: string, url: string): string =>
  `${merchantId}/${URL.canParse(url) ? new URL(url).host : ''}`;

/** Attempts that are under way in this process, by server: first attempts and repeats share the places, so one that
 *  does not answer leaves room to others. */
export class ServerPlaces {
  private readonly taken = new Map<string, number>();
  private readonly waiting = new Map<string, Array<() => void>>();

  /** Takes a place if there is one and nobody waits for it. */
  take(server: string): boolean {
    const taken = this.taken.get(server) ?? 0;
    if (taken >= attemptsAtOnce) return false;
    this.taken.set(server, taken + 1);
    return true;
  }

  /** Takes a place as soon as it is this one's turn; false where that is not within `ms`. */
  async takeWithin(server: string, ms: number): Promise<boolean> {
    if (this.take(server)) return true;
    const queue = this.waiting.get(server) ?? [];
    this.waiting.set(server, queue);
    return new Promise((resolve) => {
      const turn = (): void => {
        clearTimeout(timer);
        resolve(true);
      };
      const timer = setTimeout(() => {
        queue.splice(queue.indexOf(turn), 1);
        resolve(false);
      }, ms);
      queue.push(turn);
    });
  }

  /** Gives a place back: to who waits longest, if anybody does. */
  leave(server: string): void {
    const next = this.waiting.get(server)?.shift();
    if (next) return next();
    this.waiting.delete(server);
    const left = this.taken.get(server)! - 1;
    if (left) this.taken.set(server, left);
    else this.taken.delete(server);
  }
}
