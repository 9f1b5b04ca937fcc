import { openPayments } from '../../db/lightning/payments';
import { Turns } from '../../domain/lightning/turns';
import { look, newest, wallet } from './lightning-host';
import { calls, list, node, rich, signer, step, usual, waiting, withdraw } from './lightning-out';
import { lineTo, other, queue, withPayer } from './lightning-payout';

/** What one merchant may take of the node and of the looks at it, where many wait. */

withPayer();

/** Has the invoices of as many lines fetched; their hashes. */
async function linesWithInvoices(count: number): Promise<string[]> {
  await queue(Array.from({ length: count }, () => lineTo(undefined, '0.00002')));
  while (wallet.given.length < count) expect(await look()).toEqual([]);
  return [...wallet.given];
}

it('has so many payments of one merchant under way at the most, and one more once one has ended', async () => {
  const hashes = await linesWithInvoices(20);
  node.nextEnd = 'IN_FLIGHT';
  const said: Array<string | null> = [];
  for (const hash of hashes) said.push(await step(hash));
  const called = (): string[] => hashes.filter((hash) => calls(hash) > 0);
  expect(called()).toHaveLength(16);
  expect(said.slice(16)).toEqual(Array(4).fill('the node has 16 payments of its merchant under way'));
  const [first] = called() as [string];
  node.paid.get(first)!.status = 'SUCCEEDED';
  await step(first);
  for (const hash of hashes) await step(hash);
  expect(called()).toHaveLength(17);
  // Another merchant is not kept by them, and a setting says how many.
  const { hash } = await waiting(await rich());
  await step(hash);
  expect(calls(hash)).toBe(1);
  const rest = hashes.find((one) => calls(one) === 0)!;
  await step(rest, usual, { mostUnderWay: 17 });
  expect(calls(rest)).toBe(1);
});

it('looks at the payments of merchants in turn', async () => {
  const lines = await linesWithInvoices(3);
  const { hash } = await waiting(await rich());
  const order = new Turns().due(await openPayments(signer), 1).map((one) => one.hash);
  expect(order).toEqual(expect.arrayContaining([hash, ...lines]));
  const [, second] = order.filter((one) => lines.includes(one));
  expect(order.indexOf(hash)).toBeLessThan(order.indexOf(second!));
});

it('asks the host of a merchant whose first try has failed before the tenth line of another', async () => {
  const bob = await rich();
  expect((await list(bob, other)).status).toBe(201);
  const { body } = await withdraw(bob, other);
  await queue(Array.from({ length: 9 }, () => lineTo(undefined, '0.00002')));
  await look(new Map([[body.data._id as string, { count: 1, at: 0 }]]));
  expect(wallet.asked.filter((url) => url.includes('/lnurlp/you'))).toHaveLength(1);
  expect(newest()).toBeDefined();
});
