/** Who has a wallet next, where a wallet has one open transaction at a time: its owners take turns.
 *  docs/decisions/0100-turns-at-a-wallet.md */

/** A transfer that waits for its wallet, by the database's clock. `isSigned`: what was signed for it has expired.
 *  `readySeconds`: since the signer last found that it waits for nothing else; null: it does. `passedSeconds`: since it
 *  had its turn and could not be signed; null: never. */
export type Waiter = Readonly<{
  intentId: string;
  owner: string;
  isSigned: boolean;
  waitedSeconds: number;
  readySeconds: number | null;
  passedSeconds: number | null;
}>;

/** Every waiter asks at least once a minute. One that has not asked for so long has nobody who would take its turn. */
const absentSeconds = 120;
/** One that could not be signed in its turn holds nobody up for as long as it had waited by then, within these bounds:
 *  each of many that a cap keeps waiting costs others a turn when its age has doubled, and not every ten minutes. */
const [leastPassedOver, mostPassedOver] = [600, 86_400];

const isPassedOver = ({ waitedSeconds, passedSeconds }: Waiter): boolean =>
  passedSeconds !== null &&
  passedSeconds < Math.min(mostPassedOver, Math.max(leastPassedOver, waitedSeconds - passedSeconds));

const holdsOthersUp = (one: Waiter): boolean =>
  one.readySeconds !== null && one.readySeconds < absentSeconds && !isPassedOver(one);

/** The owners that have the wallet before this intent does, who waits longest first. An intent that is no waiter yet
 *  comes last. Of one owner, what has expired is signed again before anything new. */
export function ownersBefore(
  waiters: readonly Waiter[],
  asker: Pick<Waiter, 'intentId' | 'owner' | 'isSigned'>,
): string[] {
  const own = waiters.find(({ intentId }) => intentId === asker.intentId);
  const isBefore = (one: Waiter): boolean => {
    if (one.owner === asker.owner) return one.isSigned && !asker.isSigned;
    if (!own || one.waitedSeconds !== own.waitedSeconds) return !own || one.waitedSeconds > own.waitedSeconds;
    return BigInt(one.intentId) < BigInt(own.intentId);
  };
  const before = waiters.filter((one) => holdsOthersUp(one) && isBefore(one));
  return [...new Set(before.toSorted((a, b) => b.waitedSeconds - a.waitedSeconds).map(({ owner }) => owner))];
}

/** When a waiter asks again: soon where it may be next, and once a minute at the least. `before`: so many owners have
 *  the wallet before it. */
export const turnAgainInMs = (before: number): number => Math.min(60_000, 20_000 * Math.max(1, before));
