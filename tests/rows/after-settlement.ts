import type { Payment } from '../../sandbox/payer';
import { payIn } from '../../sandbox/seed';
import {
  world,
  shop,
  open,
  text,
  sees,
  until,
  queued,
  depthOf,
  isReorged,
  takeCoins,
  takeEthereum,
  bringBack,
  type Case,
  paid,
} from './stage';
import type { Invoice } from '../world';

/** What settled is gone: the loss is ours, nothing of its asset leaves, and operators are told; until they have
 *  looked. */
async function frozen(invoice: Invoice): Promise<void> {
  await isReorged(invoice);
  expect((await world.payment(shop, invoice.id)).status).toBe('SETTLED');
  expect(await world.db.query('SELECT currency FROM egress_freeze')).toEqual([{ currency: invoice.currency }]);
  const [{ open }] = await world.db.query(
    `SELECT count(*)::int AS open FROM incident WHERE kind = 'deep-reorg' AND subject_id = $1 AND resolved_at IS NULL`,
    [invoice.id],
  );
  expect(open).toBe(1);
}
async function looked(invoice: Invoice): Promise<void> {
  await world.db.query('DELETE FROM egress_freeze');
  await world.db.query(`UPDATE incident SET resolved_at = now() WHERE kind = 'deep-reorg' AND subject_id = $1`, [
    invoice.id,
  ]);
}
/** Settled, within as few blocks as there can be. */
async function settledSoon(currency: string): Promise<{ invoice: Invoice; sent: Payment }> {
  const both = await queued(currency);
  await world.payer.mine(currency, currency === 'BTC' ? 2 : 3);
  await sees(both.invoice, 'SETTLED', currency);
  await isBooked(both.invoice, currency);
  return both;
}
const isBooked = (invoice: Invoice, currency: string): Promise<void> =>
  until('its sweep is booked', async () => {
    const [open] = await world.db.query('SELECT FROM intent WHERE payment_id = $1 AND NOT booked', [invoice.id]);
    if (open) await world.payer.mine(currency);
    return !open;
  });
const lost = async (invoice: Invoice): Promise<number> => {
  const [row] = await world.db.query(
    `SELECT coalesce(sum(CASE WHEN debit = 'E:loss' THEN amount ELSE -amount END), 0)::float8 AS lost FROM posting
       WHERE 'E:loss' IN (debit, credit) AND asset = $1`,
    [invoice.currency],
  );
  return row.lost as number;
};
async function returned(invoice: Invoice): Promise<void> {
  await until('the loss is taken back', async () => {
    await world.payer.mine(invoice.currency!);
    return (await lost(invoice)) === 0;
  });
  await isBooked(invoice, invoice.currency!);
  await looked(invoice);
}

const gone = { rows: '23', status: 'SETTLED', exceptions: ['reorged'], told: `created ${paid} reorged` };

export const afterSettlement: Case[] = [
  {
    name: 'six blocks of Bitcoin are replaced after settlement, and have it again',
    ...gone,
    async drive() {
      const { invoice } = await settledSoon('BTC');
      await takeCoins('BTC', await depthOf(invoice));
      await frozen(invoice);
      await world.payer.mine('BTC', 8);
      await returned(invoice);
      return invoice;
    },
  },
  {
    name: 'six blocks of Ethereum are replaced after settlement, and have it again',
    ...gone,
    async drive() {
      const { invoice } = await settledSoon('ETH');
      const raws = await takeEthereum(await depthOf(invoice));
      await frozen(invoice);
      expect(await lost(invoice)).toBe((await world.payment(shop, invoice.id)).amountPaid);
      await bringBack(raws);
      await returned(invoice);
      return invoice;
    },
  },
  {
    name: 'six blocks of Ethereum are replaced after settlement, and do not have it',
    ...gone,
    async drive() {
      const { invoice } = await settledSoon('ETH');
      await takeEthereum(await depthOf(invoice));
      await frozen(invoice);
      await borne(invoice);
      return invoice;
    },
  },
  {
    name: 'six blocks of Bitcoin are replaced after settlement, and spend its coins elsewhere',
    ...gone,
    async drive() {
      const { invoice, sent } = await settledSoon('BTC');
      const elsewhere = await open('BTC');
      await takeCoins('BTC', await depthOf(invoice), { sent, address: elsewhere.address });
      await frozen(invoice);
      // A sweep to the treasury does not wait for people.
      await sees(elsewhere, ['CONFIRMED', 'SWEEP_QUEUED', 'SETTLED'], 'BTC');
      await borne(invoice);
      await sees(elsewhere, 'SETTLED', 'BTC');
      return invoice;
    },
  },
];
/** A loss for good: we owe more than we hold, and say so, until the platform puts money in. */
async function borne(invoice: Invoice): Promise<void> {
  expect(await lost(invoice)).toBe((await world.payment(shop, invoice.id)).amountPaid);
  await world.payer.mine(invoice.currency!, 4);
  expect((await world.audit()).filter(({ invariant }) => invariant !== 'I4')).toEqual([]);
  await payIn(world.db, world.payer, invoice.currency!, text(invoice.amount));
  await world.payer.mine(invoice.currency!, 4);
  await looked(invoice);
}
