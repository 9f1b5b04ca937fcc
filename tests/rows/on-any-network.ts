import { assetOf, networkOf } from '../../domain/chains/assets';
import { fit, subtract } from '../../domain/money';
import { childOf, half, late, open, pay, sees, text, type Case } from './stage';

/** What payers do in any currency. Money is in a block of the currency's own network before anybody looks. */

export const partThenRest = (currency: string): Case => ({
  rows: '7, 8',
  name: `${currency}: a part, then the rest`,
  status: 'SETTLED',
  async drive() {
    const { native } = networkOf(currency);
    const invoice = await open(currency);
    const part = fit(half(invoice), assetOf(currency).payDecimals, 'down');
    await pay(invoice, part);
    await sees(invoice, 'PARTIALLY_PAID', native);
    await pay(invoice, subtract(text(invoice.amount), part));
    expect((await sees(invoice, 'SETTLED', native)).txIds).toHaveLength(2);
    return invoice;
  },
});

export const lateMoney = (currency: string): Case => ({
  rows: '5, 18',
  name: `${currency} after its time: late money is a payment of its own`,
  status: 'EXPIRED',
  exceptions: ['paidLate'],
  async drive() {
    const { native } = networkOf(currency);
    const invoice = await open(currency);
    await late(invoice);
    await sees(invoice, 'EXPIRED', native);
    await pay(invoice);
    expect(await childOf(invoice, native)).toMatchObject({ currency, amountPaid: invoice.amount });
    return invoice;
  },
});
