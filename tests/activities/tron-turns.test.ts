/** @jest-environment node */
import { payoutActivities } from '../../activities/payouts/payouts';
import { sweepActivities } from '../../activities/payments/payments';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { createCodecs } from '../../chains/codecs';
import { queueBatch } from '../../commands/payouts/queue';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { newId } from '../../domain/ids';
import { sendPayouts } from '../../txmanager/send/payouts';
import { anApprover } from '../approver';
import { creditFromCapital } from '../credit-from-capital';
import { forAllTests, payer, units, type TronShop } from './tron-shop';

/** A hot wallet and a gas wallet of TRON, which have one open transaction at a time, and those who wait for them. */

type Token = 'TRX' | 'USDT_TRC20';
let tron: TronShop;
const ann = anApprover('ann@shop.example');
forAllTests((started) => {
  tron = started;
});
beforeAll(async () => {
  // Receivers that are there: nothing waits for a first transfer to them.
  const there: Array<[person: number, currency: Token]> = [
    [210, 'TRX'],
    [211, 'TRX'],
    [211, 'USDT_TRC20'],
  ];
  for (const [person, currency] of there)
    await tron.world.paid(payer, { currency, to: tron.world.addressAt(person), units: units(1) });
  await tron.fundWallets();
  for (const asset of ['TRX', 'USDT_TRC20']) await creditFromCapital(tron.db, tron.shop.id, asset, '1000');
});

const deps = () => ({ codecs: createCodecs(tron.config.chain), rateMaxAgeSeconds: 3600 });
const nodes = () => [tron.adapter];
const listed = new Map<Token, string>();
/** An address on the whitelist. */
async function receiver(currency: Token): Promise<string> {
  const known = listed.get(currency);
  if (known !== undefined) return known;
  const address = tron.world.addressAt(currency === 'TRX' ? 210 : 211);
  await addToWhitelist(tron.db.manager, tron.shop.id, ann, { type: 'wallet', currency, address, destinationTag: null });
  listed.set(currency, address);
  return address;
}

/** A withdrawal with what its workflow does next. */
async function withdrawal(currency: Token) {
  const ask = { currency, amount: '20', feeMode: 'add' as const, address: await receiver(currency) };
  const { row } = await tron.db.transaction((tx) => openWithdrawal(tx, deps(), tron.shop.id, ask, ann, newId()));
  const { nextWithdrawalIntent } = withdrawalActivities({ db: tron.db, nodes: nodes() });
  const next = () => nextWithdrawalIntent(row.id);
  return { owner: `withdrawal/${row.id}`, next, look: () => lookAt(next) };
}

/** A mass payout with what its workflow does next. */
async function payout(lines: number) {
  const currency = 'TRX';
  const address = await receiver(currency);
  const rows = Array.from({ length: lines }, () => ({ currency, address, amount: '3' }));
  const { row } = await tron.db.transaction((tx) => queueBatch(tx, deps(), tron.shop.id, ann, { rows }));
  const { payoutStep } = payoutActivities({ db: tron.db, nodes: nodes() });
  return {
    owner: `payout-batch/${row.id}`,
    async look(): Promise<boolean> {
      const step = await payoutStep(row.id);
      if (!step) return false;
      if (step.sign) await tron.signer().signPayouts(row.id);
      await sendPayouts({ db: tron.db, adapter: tron.adapter, log: { info: () => undefined } }, row.id);
      return true;
    },
  };
}

/** One look of the workflow of a single transfer; false once all of it has ended. */
async function lookAt(next: () => Promise<unknown>): Promise<boolean> {
  const intent = (await next()) as { id: string } | null;
  if (!intent) return false;
  const signed = await tron.signer().signOnce(intent.id);
  if (signed.state === 'stored') await tron.sendSigned(intent.id);
  return true;
}

/** Who has signed from the hot wallet, in this order. */
const turns = async (): Promise<string[]> =>
  (
    (await tron.db.query(
      `SELECT i.owner_kind || '/' || i.owner_id AS owner FROM attempt a JOIN intent i ON i.id = a.intent_id
        WHERE a.from_address = $1 ORDER BY a.id`,
      [tron.addressOf('treasury')],
    )) as Array<{ owner: string }>
  ).map(({ owner }) => owner);

it('pays withdrawals in their order beside a mass payout, which has no line between them', async () => {
  const batch = await payout(5);
  await batch.look();
  const [one, two, three] = [await withdrawal('TRX'), await withdrawal('TRX'), await withdrawal('TRX')];
  for (const each of [one, two, three]) await each.look();
  await tron.mine();
  // The payout looks before each of them does, and the last of them before the first.
  const all = [batch, three, two, one];
  for (let rounds = 0, isOpen = true; isOpen; rounds += 1) {
    expect(rounds).toBeLessThan(20);
    isOpen = false;
    for (const each of all) if (await each.look()) isOpen = true;
    await tron.mine();
  }
  const [first, ...others] = await turns();
  expect(first).toBe(batch.owner);
  expect(others.slice(0, 3)).toEqual([one, two, three].map(({ owner }) => owner));
  expect(others.slice(3)).toEqual(Array<string>(4).fill(batch.owner));
});

it('gives the gas wallet in turn to sweeps and withdrawals', async () => {
  const made = await tron.confirmed('USDT_TRC20');
  const sweeps = sweepActivities({ db: tron.db, config: tron.config, nodes: nodes() });
  await sweeps.queueSweep(made.paymentId);
  const nextOfSweep = () => sweeps.nextIntent(made.paymentId);
  const [one, two] = [await withdrawal('USDT_TRC20'), await withdrawal('USDT_TRC20')];
  const topUpOf = async (next: () => Promise<unknown>): Promise<string> => {
    const intent = await next();
    expect(intent).toMatchObject({ kind: 'gas' });
    return (intent as { id: string }).id;
  };
  const [first, second, third] = [await topUpOf(one.next), await topUpOf(nextOfSweep), await topUpOf(two.next)];
  const sign = (id: string) => tron.signer().signOnce(id);
  expect(await sign(first)).toEqual({ state: 'stored' });
  expect(await sign(second)).toMatchObject({ state: 'waiting', lookAgainInMs: 20_000 });
  expect(await sign(third)).toMatchObject({ state: 'waiting', lookAgainInMs: 20_000 });
  await tron.sendSigned(first);
  // What it has paid for leaves from another wallet, and waits for none of them.
  await one.look();
  expect(await sign(third)).toMatchObject({ state: 'waiting', reason: expect.stringContaining('sweep/') });
  expect(await sign(second)).toEqual({ state: 'stored' });
  await tron.sendSigned(second);
  expect(await sign(third)).toEqual({ state: 'stored' });
  await tron.sendSigned(third);
  await tron.carryOutAll(nextOfSweep);
  await tron.carryOutAll(two.next);
  expect(await tron.run(made)).toBe('SETTLED');
});
