import { setTimeout as sleep } from 'node:timers/promises';
import { add, subtract } from '../../../domain/money';
import { plain, round, type Scenario } from '../stage';
import { cancelByPayer } from './cancel';

const kinds = [
  'full',
  'full',
  'partThenRest',
  'partThenRest',
  'over',
  'lateByMempool',
  'cancelled',
  'expired',
] as const;

/** A payment: how it is paid, in what, and where it must end. */
export const scenario: Scenario = (random, name, currencies) => {
  const kind = random.pick(kinds);
  const currency = kind === 'lateByMempool' ? 'BTC' : random.pick(currencies);
  const amount = random.whole(20, 90);
  const share = random.whole(20, 80) / 100;
  // Each payer has an address of their own: the limit on cancels is not what is tried here.
  const payer = `10.${random.whole(0, 255)}.${random.whole(0, 255)}.${random.whole(1, 254)}`;
  return {
    what: `${name}: ${kind}, ${amount} USD in ${currency}, share ${share}`,
    async live(stage) {
      const { world, shop } = stage;
      const expiresIn = kind === 'expired' || kind === 'lateByMempool' ? 60 : 3600;
      const invoice = await world.invoice(shop, { amount, currency, expiresIn });
      const due = plain(invoice.amount);
      switch (kind) {
        case 'full':
          await stage.pay(invoice, due);
          return stage.settles(invoice, 'SETTLED', due);
        case 'over': {
          const more = add(due, plain(round(invoice.amount * share, currency)));
          await stage.pay(invoice, more);
          return stage.settles(invoice, 'SETTLED', more);
        }
        case 'partThenRest': {
          const part = plain(round(invoice.amount * share, currency));
          await stage.pay(invoice, part);
          await world.sees(shop, invoice.id, ['PARTIALLY_PAID'], { ms: 300_000 });
          await stage.pay(invoice, subtract(due, part));
          return stage.settles(invoice, 'SETTLED', due);
        }
        case 'lateByMempool': {
          // Near its end, so that its blocks come after it.
          const [{ left } = { left: 0 }] = await stage.read<{ left: number }>(
            'SELECT extract(epoch FROM expires_at - clock_timestamp())::float8 AS left FROM payment WHERE id = $1',
            [invoice.id],
          );
          const end = Date.now() + left * 1000;
          await sleep(Math.max(0, left - 20) * 1000);
          await stage.pay(invoice, due);
          // Where its node was down, its payer may have been too late.
          return Date.now() < end ? stage.settles(invoice, 'SETTLED', due) : stage.settlesSomehow(invoice, due);
        }
        case 'cancelled':
          await cancelByPayer(stage, invoice, payer);
          return stage.settles(invoice, 'CANCELLED', '0');
        case 'expired':
          return stage.settles(invoice, 'EXPIRED', '0');
      }
    },
  };
};
