import { setTimeout as sleep } from 'node:timers/promises';
import { cancelWithdrawal, openWithdrawal, readWithdrawal } from '../../../db/withdrawals';
import { negate } from '../../../domain/money';
import { currencies, type Scenario } from '../stage';
import { amountOf } from './amounts';

/** A withdrawal, as a person makes it, without the factor; some are called back at a moment that is drawn. */
export const scenario: Scenario = (random, name) => {
  const currency = random.pick(currencies);
  const feeMode = random.pick(['deduct', 'add'] as const);
  const amount = amountOf(random, currency);
  const cancelAfterMs = random.next() < 0.4 ? random.whole(0, 5000) : null;
  return {
    what: `${name}: ${amount} ${currency}, fee ${feeMode}${cancelAfterMs === null ? '' : `, called back after ${cancelAfterMs} ms`}`,
    async live(stage) {
      const { world, shop } = stage;
      const address = stage.address(currency, name);
      await stage.list(currency, address);
      const ask = { currency, address, feeMode, amount };
      const { row } = await stage.surely((tx) => openWithdrawal(tx, stage.deps, shop.id, ask, stage.by, name));
      if (cancelAfterMs !== null) {
        await sleep(cancelAfterMs);
        await stage.ifInTime((tx) => cancelWithdrawal(tx, shop.id, row.id), 'WITHDRAWAL_STATE');
      }
      const last = await stage.ended(`withdrawal ${row.id}`, ['completed', 'cancelled', 'failed'], () =>
        readWithdrawal(world.db, shop.id, row.id),
      );
      if (last.status !== 'completed' && (last.status !== 'cancelled' || cancelAfterMs === null))
        stage.problems.push(`withdrawal ${row.id} ended ${last.status}`);
      const isSent = last.status === 'completed';
      const expected = isSent ? last.net_amount : '0';
      stage.recipients.push({ what: `withdrawal ${row.id}`, currency, address, expected });
      if (isSent) stage.changes.push({ currency, amount: negate(last.gross_amount) });
    },
  };
};
