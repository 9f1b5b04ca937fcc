import type { EntityManager } from 'typeorm';
import { readRefund } from '../../../db/refunds/refunds';
import { cancelRefund } from '../../../commands/refunds/cancel';
import { openRefund } from '../../../commands/refunds/create';
import { times } from '../../../domain/money';
import { assetOf } from '../../../domain/chains/assets';
import { plain, type Scenario } from '../stage';
import { inWords, leaves } from './cancel';

/** A payment in full, and a part of it or all of it back; some refunds are cancelled at a moment that is drawn. */
export const scenario: Scenario = (random, name, currencies) => {
  const currency = random.pick(currencies);
  const fiat = random.whole(40, 120);
  const share = random.pick(['0.4', '0.7', '1']);
  const feeBearer = random.pick(['payer', 'merchant'] as const);
  const cancelAfterMs = random.next() < 0.3 ? random.whole(0, 4000) : null;
  return {
    what: `${name}: ${share} of ${fiat} USD in ${currency}, fee of the ${feeBearer}${inWords(cancelAfterMs)}`,
    async live(stage) {
      const { world, shop } = stage;
      const invoice = await world.invoice(shop, { amount: fiat, currency, expiresIn: 3600 });
      const due = plain(invoice.amount);
      await stage.pay(invoice, due);
      await stage.settles(invoice, 'SETTLED', due);
      const receiver = stage.receiver(currency, name);
      const { address, destinationTag } = receiver;
      const to = { address, ...(destinationTag ? { destinationTag } : {}), feeBearer };
      const decimals = Math.min(8, assetOf(currency).decimals);
      const ask =
        share === '1'
          ? { ...to, type: 'full' as const }
          : { ...to, type: 'partial' as const, amount: times(due, share, decimals, 'down') };
      const { row } = await stage.surely((tx) =>
        openRefund(tx, stage.deps, {
          merchantId: shop.id,
          paymentId: invoice.id,
          ask,
          by: { userId: stage.by.id },
          idempotencyKey: name,
        }),
      );
      const cancel = (tx: EntityManager): Promise<unknown> => cancelRefund(tx, shop.id, row.id);
      await leaves(
        stage,
        `refund ${row.id}`,
        receiver,
        { afterMs: cancelAfterMs, cancel, tooLate: 'REFUND_STATE' },
        () => readRefund(world.db, shop.id, row.id),
      );
    },
  };
};
