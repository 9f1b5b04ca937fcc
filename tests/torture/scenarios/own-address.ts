import { add } from '../../../domain/money';
import { finals } from '../../world';
import { usualCurrencies } from '../networks';
import { patienceMs, plain, type Scenario } from '../stage';

/** A merchant whose money settles at an address of their own, in one payment or several at once: what comes there is
 *  what the payments say, by the chain's own word. */
export const scenario: Scenario = (random, name) => {
  const currency = random.pick(['USDT_ERC20', 'USDT_ERC20', ...usualCurrencies] as const);
  const amounts = Array.from({ length: random.whole(1, 3) }, () => random.whole(20, 90));
  return {
    what: `${name}: ${amounts.join(', ')} USD in ${currency} to an own address`,
    async live(stage) {
      const { world } = stage;
      const shop = await stage.again(() => world.shop());
      const address = stage.address(currency, name);
      await stage.again(() => world.settleAt(shop, currency, address));
      const nets = await Promise.all(
        amounts.map(async (amount) => {
          const invoice = await world.invoice(shop, { amount, currency, expiresIn: 3600 });
          const due = plain(invoice.amount);
          await stage.payLater(invoice, due);
          const last = await world.sees(shop, invoice.id, finals, { ms: patienceMs });
          if (last.status !== 'SETTLED' || plain(last.amountPaid) !== due)
            stage.problems.push(`payment ${invoice.id} to an own address ended ${last.status} with ${last.amountPaid}`);
          const [row] = await stage.read<{ net: string }>(
            'SELECT settled_net_amount::text AS net FROM payment WHERE id = $1',
            [invoice.id],
          );
          return row!.net;
        }),
      );
      stage.recipients.push({ what: name, currency, address, expected: add('0', ...nets) });
    },
  };
};
