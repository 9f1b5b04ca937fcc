import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { add, negate } from '../../../domain/money';
import { finals, type Invoice } from '../../world';
import type { Receiver, Stage } from '../stage';
import { chargedBeside } from './charged';

/** `afterMs`: null where it is not cancelled. `tooLate`: what is answered then. */
export type Cancellation = Readonly<{
  afterMs: number | null;
  cancel: (tx: EntityManager) => Promise<unknown>;
  tooLate: string;
}>;

export const inWords = (afterMs: number | null): string => (afterMs === null ? '' : `, cancelled after ${afterMs} ms`);

export async function cancelLater(stage: Stage, { afterMs, cancel, tooLate }: Cancellation): Promise<void> {
  if (afterMs === null) return;
  await sleep(afterMs);
  await stage.ifInTime(cancel, tooLate);
}

/** Money that was asked to go to an address of its own: cancelled where that was drawn, and seen to its end. */
export async function leaves(
  stage: Stage,
  what: string,
  to: Receiver,
  back: Cancellation,
  read: () => Promise<{ status: string; net_amount: string; gross_amount: string } | null>,
): Promise<void> {
  await cancelLater(stage, back);
  const last = await stage.ended(what, ['completed', 'cancelled', 'failed'], read);
  if (last.status !== 'completed' && (last.status !== 'cancelled' || back.afterMs === null))
    stage.problems.push(`${what} ended ${last.status}`);
  const isSent = last.status === 'completed';
  stage.recipients.push({ what, ...to, expected: add('0', isSent ? last.net_amount : '0') });
  // A new account of TRON is the merchant's where the fee is.
  const beside = await chargedBeside(stage, what.replace(' ', '/'));
  stage.changes.push({ currency: to.currency, amount: negate(add(isSent ? last.gross_amount : '0', beside)) });
}

/** A payment is cancelled on its page, from a place of its own, unless it has ended. */
export const cancelByPayer = ({ world, shop }: Stage, { id, slug }: Invoice, place: string): Promise<void> =>
  world.until(
    'the cancel is answered',
    async () => {
      const answer = await world
        .call(null, 'POST', `/invoice/${slug}/cancel`, { confirm: true }, { 'x-forwarded-for': place })
        .catch(() => null);
      if (answer?.status === 200) return true;
      return finals.includes((await world.payment(shop, id).catch(() => null))?.status);
    },
    300_000,
  );
