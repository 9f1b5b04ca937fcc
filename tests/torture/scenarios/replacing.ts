import { setTimeout as sleep } from 'node:timers/promises';
import { subtract } from '../../../domain/money';
import { plain, round, type Scenario } from '../stage';

/** A payer who sends a part early, waits, and replaces it: by the whole price, or by a payment to himself. */
export const scenario: Scenario = (random, name) => {
  const amount = random.whole(20, 90);
  const share = random.whole(5, 80) / 100;
  const waitMs = random.whole(0, 6000);
  const isTakenBack = random.next() < 0.4;
  const what = isTakenBack ? 'taken back' : 'replaced by all';
  return {
    what: `${name}: ${amount} USD in BTC, ${share} of it early, ${what} after ${waitMs} ms`,
    async live(stage) {
      const { world, shop } = stage;
      const invoice = await world.invoice(shop, { amount, currency: 'BTC', expiresIn: 3600 });
      const due = plain(invoice.amount);
      const part = plain(round(invoice.amount * share, 'BTC'));
      const early = await stage.payLater(invoice, part);
      await sleep(waitMs);
      const change = isTakenBack ? { address: stage.address('BTC', name) } : { amount: due };
      const isReplaced = await stage.withNode('BTC', () =>
        world.payer.replace(early, { ...change, fee: 20_000n }).then(
          () => true,
          () => false, // a block had it already
        ),
      );
      if (!isReplaced || !isTakenBack) stage.paid.push({ currency: 'BTC', amount: isReplaced ? due : part });
      if (!isReplaced) await stage.pay(invoice, subtract(due, part));
      else if (isTakenBack) await stage.pay(invoice, due);
      await stage.settles(invoice, 'SETTLED', due);
    },
  };
};
