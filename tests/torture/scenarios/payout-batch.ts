import type { EntityManager } from 'typeorm';
import { linesOf, readBatch } from '../../../db/payouts/payouts';
import { cancelBatch } from '../../../commands/payouts/cancel';
import { queueBatch } from '../../../commands/payouts/queue';
import { add, negate } from '../../../domain/money';
import { patienceMs, type Scenario } from '../stage';
import { amountOf } from './amounts';
import { cancelLater, inWords } from './cancel';
import { chargedBeside } from './charged';

/** Three to twelve payments at once, each to an address of its own; some batches are cancelled at a moment that is
 *  drawn. */
export const scenario: Scenario = (random, name, currencies) => {
  const rows = Array.from({ length: random.whole(3, 12) }, () => {
    const currency = random.pick(currencies);
    return { currency, amount: amountOf(random, currency) };
  });
  const cancelAfterMs = random.next() < 0.4 ? random.whole(0, 8000) : null;
  return {
    what: `${name}: ${rows.length} lines${inWords(cancelAfterMs)}`,
    async live(stage) {
      const { world, shop } = stage;
      const asked = rows.map((row, n) => ({ ...stage.receiver(row.currency, `${name}/${n}`), amount: row.amount }));
      for (const receiver of asked) await stage.list(receiver);
      const ask = { rows: asked, idempotencyKey: name };
      const { row } = await stage.surely((tx) => queueBatch(tx, stage.deps, shop.id, stage.by, ask));
      const cancel = (tx: EntityManager): Promise<unknown> => cancelBatch(tx, shop.id, row.id);
      await cancelLater(stage, { afterMs: cancelAfterMs, cancel, tooLate: 'BATCH_NOT_CANCELLABLE' });
      await world.until(
        `payout ${row.id} has ended`,
        async () => Boolean((await readBatch(world.db, shop.id, row.id).catch(() => null))?.completed_at),
        patienceMs,
      );
      const lines = await stage.surely((tx) => linesOf(tx, row.id));
      if (lines.length !== rows.length) stage.problems.push(`payout ${row.id} has ${lines.length} lines`);
      for (const line of lines) {
        const isSent = line.status === 'completed';
        if (!isSent && (line.status !== 'refunded' || cancelAfterMs === null))
          stage.problems.push(`line ${line.id} of payout ${row.id} ended ${line.status}: ${line.merchant_message}`);
        const { currency, address, destination_tag: tag } = line;
        const receiver = { currency, address, ...(tag === null ? {} : { destinationTag: tag }) };
        const expected = isSent ? line.net_amount : '0';
        stage.recipients.push({ what: `line ${line.id} of payout ${row.id}`, ...receiver, expected });
        const beside = await chargedBeside(stage, `leg/${line.id}`);
        stage.changes.push({ currency, amount: negate(add(isSent ? line.amount : '0', beside)) });
      }
    },
  };
};
