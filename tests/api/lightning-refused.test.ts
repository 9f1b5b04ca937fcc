import {
  anInvoice,
  balanceOf,
  calls,
  codeOf,
  found,
  node,
  richAnew,
  rowOf,
  shown,
  step,
  untouched,
  waiting,
  withNode,
  withdraw,
  type Rich,
} from './lightning-out';
import { nameInvoice, openedRefund, paymentOf } from './lightning-refund';

/** Invoices that our node would refuse, and what it refuses: no money waits for either. The node is a simulator of
 *  lnd's API. */

let ann: Rich;
withNode();
beforeEach(async () => {
  ann = await richAnew();
});

const day = 86_400;

it.each([
  ['whose end overflows in lnd', { expiry: 2 ** 34 }],
  ['whose end no date can hold', { expiry: 1e13 }],
  ['that lasts for ten years', { expiry: 3650 * day }],
  ['that asks for more blocks than lnd gives', { blocks: 289 }],
] as const)('is not given an invoice %s', async (_what, over) => {
  const { link } = await openedRefund(ann, await paymentOf(ann));
  for (const confirm of [false, true])
    expect(codeOf(await nameInvoice(link, anInvoice(over).text, confirm)).slice(0, 2)).toEqual([
      400,
      'INVALID_ADDRESS',
    ]);
  expect(codeOf(await withdraw(ann, anInvoice(over).text)).slice(0, 2)).toEqual([400, 'INVALID_ADDRESS']);
});

it('is given an invoice of a week, as many wallets write them', async () => {
  expect((await withdraw(ann, anInvoice({ expiry: 7 * day, blocks: 288 }).text)).status).toBe(201);
});

it('gives the money back of what the node refuses', async () => {
  const { id, hash } = await waiting(ann);
  node.refuses = () => ({ code: 2, message: 'invoice expired. Valid until some time ago' });
  const said = 'the node refuses it: invoice expired. Valid until some time ago';
  for (let n = 0; n < 3; n += 1) expect(await step(hash)).toBe(said);
  expect(await rowOf(hash)).toMatchObject({ calls: 3, unanswered: 0, outcome: null });
  expect(await step(hash)).toBeNull();
  expect(await shown(ann, id)).toMatchObject({ status: 'failed' });
  expect(await balanceOf(ann)).toMatchObject(untouched);
  expect(await found()).toEqual([]);
});

it('counts a refusal as an answer, also where the node goes away after it', async () => {
  const { hash } = await waiting(ann);
  node.refuses = () => {
    node.isAway = () => true;
    return { code: 6, message: 'payment is in transition' };
  };
  expect(await step(hash)).toBe('the node refuses it: payment is in transition');
  expect(await rowOf(hash)).toMatchObject({ calls: 1, unanswered: 0 });
});

it('takes what is said of a connection for no answer', async () => {
  const { id, hash } = await waiting(ann);
  node.refuses = () => ({ code: 14, message: 'error reading from server: EOF' });
  await expect(step(hash)).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  expect(await rowOf(hash)).toMatchObject({ calls: 1, unanswered: 1 });
  node.mend();
  await step(hash);
  await step(hash);
  expect([calls(hash), (await shown(ann, id))['status']]).toEqual([2, 'completed']);
});
