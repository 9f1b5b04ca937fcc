import { world, open, pay, half, halfPaid, sees, late, queued, isReorged, takeCoins, type Case } from './stage';

/** Six blocks of a coin are replaced by others with the same transactions. */
export const blocksReplaced = (currency: string, name: string): Case => ({
  rows: '16, 11',
  name,
  status: 'SETTLED',
  exceptions: ['reorged'],
  async drive() {
    const { invoice } = await queued(currency);
    await takeCoins(currency, 6);
    await isReorged(invoice);
    await world.payer.mine(currency, 7);
    await sees(invoice, 'SETTLED', currency);
    return invoice;
  },
});

/** Blocks of Bitcoin that are replaced, and pools that are looked into. */
export const bitcoin: Case[] = [
  {
    rows: '12, 8',
    name: 'one of two parts is replaced, and comes again',
    status: 'SETTLED',
    exceptions: ['reorged'],
    async drive() {
      const invoice = await halfPaid('BTC');
      const second = await pay(invoice, half(invoice));
      await sees(invoice, 'CONFIRMING');
      const elsewhere = await open('BTC');
      await world.payer.replace(second, { address: elsewhere.address, fee: 9000n });
      expect((await sees(invoice, 'PARTIALLY_PAID')).exceptions).toEqual(['reorged']);
      await pay(invoice, half(invoice));
      await sees(invoice, 'SETTLED', 'BTC');
      await sees(elsewhere, 'PARTIALLY_PAID');
      return invoice;
    },
  },
  {
    rows: '13',
    name: 'the only part is replaced after its time',
    status: 'EXPIRED',
    exceptions: ['reorged'],
    told: 'created detected confirming reorged expired',
    async drive() {
      const invoice = await open('BTC');
      const sent = await pay(invoice);
      await sees(invoice, 'CONFIRMING');
      await late(invoice);
      const elsewhere = await open('BTC');
      await world.payer.replace(sent, { address: elsewhere.address, fee: 9000n });
      await sees(elsewhere, 'SETTLED', 'BTC');
      await sees(invoice, 'EXPIRED');
      return invoice;
    },
  },
  blocksReplaced('BTC', 'six blocks of Bitcoin are replaced before settlement, and have it again'),
  {
    rows: '16, 13',
    name: 'six blocks of Bitcoin are replaced before settlement, and spend its coins elsewhere; it is paid again',
    status: 'SETTLED',
    exceptions: ['reorged'],
    async drive() {
      const { invoice, sent } = await queued('BTC');
      const elsewhere = await open('BTC');
      await takeCoins('BTC', 6, { sent, address: elsewhere.address });
      await sees(invoice, 'WAITING');
      await pay(invoice);
      await world.payer.mine('BTC', 7);
      await sees(invoice, 'SETTLED', 'BTC');
      await sees(elsewhere, 'SETTLED', 'BTC');
      return invoice;
    },
  },
];
