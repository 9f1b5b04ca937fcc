import type { EntityManager } from 'typeorm';
import { recordAct } from '../../db/access/audit-log';
import { post } from '../../db/ledger/ledger';
import { freeInNode, lacksBooked, lockCapital } from '../../db/lightning/capital';
import { lightningCapitalJournal, ownersMoves, type OwnersMove } from '../../domain/ledger/lightning';
import { lightningCurrency as currency } from '../../domain/lightning/currency';
import { compare, isPositive, larger, trim } from '../../domain/money';
import { invalid, notNow, type OperatorAct, type Payload } from './act';

/** In whole bitcoin, to the satoshi. */
const amountOfBitcoin = /^\d{1,8}(\.\d{1,8})?$/;

const summaries: Readonly<Record<OwnersMove, (money: string) => string>> = {
  'taken-out': (money) => `Book that its owner takes ${money} out of the Lightning node (Q:capital)`,
  'put-in': (money) => `Book that its owner has put ${money} into the Lightning node (Q:capital)`,
  fees: (money) => `Book ${money} that channels of the Lightning node pay to the chain (E:network)`,
  lost: (money) => `Book that the Lightning node has lost ${money} (E:loss)`,
};

function asked(payload: Payload): { what: OwnersMove; amount: string } {
  const what = ownersMoves.find((one) => one === payload['what']);
  if (!what) throw invalid(`what must be one of ${ownersMoves.join(', ')}`);
  const amount = payload['amount']!;
  if (!amountOfBitcoin.test(amount) || !isPositive(amount))
    throw invalid('amount must be a number of bitcoin above zero, with eight decimals at the most');
  return { what, amount: trim(amount) };
}

/** What leaves must leave what merchants are owed. What the node lacks is put in before anything of it is capital. */
async function check(tx: EntityManager, { what, amount }: ReturnType<typeof asked>): Promise<void> {
  if (what === 'put-in') {
    if (await lacksBooked(tx))
      throw notNow('The Lightning node has less than the books say: what is put in makes up for that first');
    return;
  }
  const free = await freeInNode(tx);
  const most = `${larger(free, '0')} ${currency}`;
  if (compare(amount, free) > 0)
    throw notNow(`The books have ${most} in the Lightning node beyond what merchants are owed`);
}

export const bookLightning: OperatorAct = {
  kind: 'book-lightning',
  title: 'Book what its owner takes out of the Lightning node or puts in, or what the node pays in fees or loses',
  fields: {
    what: ownersMoves.map((one) => `\`${one}\``).join(', '),
    amount: 'Bitcoin, above zero.',
  },
  async validate(tx, payload) {
    const checked = asked(payload);
    await check(tx, checked);
    return checked;
  },
  describe: (_tx, payload) => {
    const { what, amount } = asked(payload);
    return Promise.resolve(summaries[what](`${amount} ${currency}`));
  },
  async execute(tx, payload, { requestId, reason, actor }) {
    const { what, amount } = asked(payload);
    await lockCapital(tx);
    await check(tx, { what, amount });
    await post(tx, lightningCapitalJournal({ requestId, what, currency, amount, reason }));
    await recordAct(tx, actor, {
      merchantId: null,
      action: 'lightning.booked',
      target: currency,
      after: { what, amount, requestId, reason },
    });
    return `${amount} ${currency} is booked: ${what}`;
  },
};
