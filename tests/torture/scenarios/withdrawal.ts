import type { EntityManager } from 'typeorm';
import { readWithdrawal } from '../../../db/withdrawals/withdrawals';
import { cancelWithdrawal } from '../../../commands/withdrawals/cancel';
import { openWithdrawal } from '../../../commands/withdrawals/create';
import type { Scenario } from '../stage';
import { amountOf } from './amounts';
import { inWords, leaves } from './cancel';

/** A withdrawal, as a person makes it, without the factor; some are cancelled at a moment that is drawn. */
export const scenario: Scenario = (random, name, currencies) => {
  const currency = random.pick(currencies);
  const feeMode = random.pick(['deduct', 'add'] as const);
  const amount = amountOf(random, currency);
  const cancelAfterMs = random.next() < 0.4 ? random.whole(0, 5000) : null;
  return {
    what: `${name}: ${amount} ${currency}, fee ${feeMode}${inWords(cancelAfterMs)}`,
    async live(stage) {
      const { world, shop } = stage;
      const receiver = stage.receiver(currency, name);
      await stage.list(receiver);
      const ask = { ...receiver, feeMode, amount };
      const { row } = await stage.surely((tx) => openWithdrawal(tx, stage.deps, shop.id, ask, stage.by, name));
      const cancel = (tx: EntityManager): Promise<unknown> => cancelWithdrawal(tx, shop.id, row.id);
      await leaves(
        stage,
        `withdrawal ${row.id}`,
        receiver,
        { afterMs: cancelAfterMs, cancel, tooLate: 'WITHDRAWAL_STATE' },
        () => readWithdrawal(world.db, shop.id, row.id),
      );
    },
  };
};
