import { liftStop, stopOutgoing } from '../../db/access/merchant-stop';
import { byTwoOperators } from '../operators';
import { unguarded } from '../unguarded';
import { address, look, metadata, newest, usualAnswers, wallet } from './lightning-host';
import { anInvoice, balanceOf, calls, db, found, node, step } from './lightning-out';
import { ann, linesOf, lineTo, queue, shown, untouched, waiting, withPayer } from './lightning-payout';

/** Payout lines whose invoice our node refuses, has failed to pay, or never answers about. */

withPayer();

const day = 86_400;
it.each([
  ['whose end no date can hold', { expiry: 1e13 }, /lasts for more than 8 days/],
  ['that lasts for ten years', { expiry: 3650 * day }, /lasts for more than 8 days/],
  ['that asks for more blocks than lnd gives', { blocks: 2013 }, /asks for 2013 blocks/],
] as const)('takes no invoice of its host %s', async (_what, over, why) => {
  wallet.answers = { ...usualAnswers, invoice: () => ({ pr: anInvoice({ satoshi: 19_900, metadata, ...over }).text }) };
  await queue([lineTo()]);
  expect(await look()).toEqual([expect.stringMatching(why)]);
  wallet.answers = usualAnswers;
  expect(await look()).toEqual([]);
  await step(newest());
});

it('comes back where the node refuses it', async () => {
  const { id, hash } = await waiting();
  node.refuses = () => ({ code: 2, message: 'invoice expired' });
  for (let n = 0; n < 3; n += 1) expect(await step(hash)).toBe('the node refuses it: invoice expired');
  expect(await step(hash)).toBeNull();
  expect(await shown(id)).toMatchObject({ status: 'failed', legs: [{ status: 'failed' }] });
  expect(await balanceOf(ann)).toMatchObject(untouched);
  expect(await found()).toEqual([]);
});

it('is not called again while the money is stopped, and comes back where its address is no longer listed', async () => {
  const { id, hash } = await waiting();
  node.nextEnd = 'FAILED';
  expect(await step(hash)).toBeNull();
  await stopOutgoing(db.manager, ann.merchantId, 'looked at');
  expect(await step(hash)).toBe('outgoing money of the merchant is held: looked at');
  await liftStop(db.manager, ann.merchantId);
  const { body } = await ann.get('/api/v1/whitelist');
  const entry = body.data.wallets.find((one: { address: string }) => one.address === address);
  expect((await ann.post(`/api/v1/whitelist/${entry.id}/delete`, { totpCode: await ann.code() })).status).toBe(200);
  expect(await step(hash)).toBeNull();
  expect(calls(hash)).toBe(1);
  const merchantMessage: unknown = expect.stringMatching(/whitelist/);
  expect(await shown(id)).toMatchObject({ status: 'failed', legs: [{ status: 'failed', merchantMessage }] });
  expect(await balanceOf(ann)).toMatchObject(untouched);
  expect(await found()).toEqual([]);
});

it('comes back once two operators have given its call up', async () => {
  const { id, line, hash } = await waiting();
  node.isAway = (path) => path === '/v2/router/send';
  for (let n = 0; n < 3; n += 1) await expect(step(hash)).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  node.mend();
  await unguarded(db, (tx) =>
    tx.query(`UPDATE lightning_payment SET called_at = called_at - interval '1 day' WHERE hash = $1`, [hash]),
  );
  const { summary } = await byTwoOperators(db, 'fail-lightning', { hash });
  expect(summary).toContain(`0.000199 BTC_LN (for ${line} of merchant ${ann.merchantId})`);
  expect(await step(hash)).toBeNull();
  expect((await linesOf(id)).map(({ status }) => status)).toEqual(['failed']);
  expect([calls(hash), await balanceOf(ann)]).toMatchObject([0, untouched]);
  expect(await found()).toEqual([]);
});
