import { negate } from '../../../domain/money';
import { lightningCurrency } from '../../../domain/lightning/currency';
import type { Scenario } from '../stage';
import { amountOf } from './amounts';
import { ended, execute } from './conversion';
import type { Draw } from './lightning-draw';
import { outgoing } from './lightning-out';
import { incoming } from './lightning-payment';

/** What is done by Lightning. Whatever comes of it, both nodes and the books must say the same at the end. */

/** What was earned by Lightning becomes bitcoin of the treasury, at par. */
const converted: Draw = (random, name) => {
  const fromAmount = amountOf(random, lightningCurrency);
  return {
    says: fromAmount,
    async live(stage) {
      const ask = { fromCurrency: lightningCurrency, toCurrency: 'BTC', fromAmount, idempotencyKey: name };
      const row = await ended(stage, await execute(stage, ask));
      if (row.status !== 'completed') return void stage.problems.push(`conversion ${row.id} ended ${row.status}`);
      stage.changes.push({ currency: lightningCurrency, amount: negate(row.from_amount) });
      stage.changes.push({ currency: 'BTC', amount: row.credit_amount ?? row.to_amount! });
    },
  };
};

const draws: Readonly<Record<string, Draw>> = { ...incoming, ...outgoing, converted };
export const lightningKinds = Object.keys(draws);

export const scenario: Scenario = (random, name) => {
  const kind = random.pick(lightningKinds);
  const { says, live } = draws[kind]!(random, name);
  return { what: `${name}: ${kind}, ${says}`, live };
};
