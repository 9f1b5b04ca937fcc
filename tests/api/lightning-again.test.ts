import { liftStop, stopOutgoing } from '../../db/access/merchant-stop';
import { freeze, unfreeze } from '../../db/limits/outbound';
import { unguarded } from '../unguarded';
import {
  balanceOf,
  calls,
  currency,
  db,
  expire,
  found,
  node,
  richAnew,
  rowOf,
  shown,
  step,
  untouched,
  usual,
  waiting,
  withNode,
  type Rich,
} from './lightning-out';

/** A payment that the node has called failed, or knows nothing of: what is asked before it is called again, and what
 *  counts against the cap for new destinations. The node is a simulator of lnd's API. */

let ann: Rich;
withNode();
beforeEach(async () => {
  ann = await richAnew();
});

/** One whose first call has found no way. */
async function failedOnce(): Promise<{ id: string; hash: string }> {
  const one = await waiting(ann);
  node.nextEnd = 'FAILED';
  expect(await step(one.hash)).toBeNull();
  node.nextEnd = 'SUCCEEDED';
  return one;
}
async function unlist(): Promise<void> {
  const { body } = await ann.get('/api/v1/whitelist');
  const entry = `/api/v1/whitelist/${body.data.wallets[0].id}/delete`;
  expect((await ann.post(entry, { totpCode: await ann.code() })).status).toBe(200);
}

it('does not call again while the money is stopped or frozen, and goes on after it', async () => {
  const { id, hash } = await failedOnce();
  await stopOutgoing(db.manager, ann.merchantId, 'looked at');
  expect(await step(hash)).toBe('outgoing money of the merchant is held: looked at');
  await freeze(db.manager, currency, 'looked at');
  await liftStop(db.manager, ann.merchantId);
  expect(await step(hash)).toBe('BTC_LN is frozen');
  expect(calls(hash)).toBe(1);
  await unfreeze(db.manager, currency);
  await step(hash);
  await step(hash);
  expect(await shown(ann, id)).toMatchObject({ status: 'completed' });
});

it('does not call again for a call that was lost, while the money is stopped', async () => {
  const { id, hash } = await waiting(ann);
  node.isAway = (path) => path === '/v2/router/send';
  await expect(step(hash)).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  node.mend();
  await stopOutgoing(db.manager, ann.merchantId, 'looked at');
  expect(await step(hash)).toBe('outgoing money of the merchant is held: looked at');
  expect(await rowOf(hash)).toMatchObject({ calls: 1, unanswered: 1, outcome: null });
  // What has left all the same is booked.
  node.paid.set(hash, { status: 'SUCCEEDED', amountMsat: 20_000_000n });
  await step(hash);
  expect(await shown(ann, id)).toMatchObject({ status: 'completed' });
  expect(calls(hash)).toBe(0);
});

it('gives the money back where the payee is no longer listed', async () => {
  const { id, hash } = await failedOnce();
  await unlist();
  expect(await step(hash)).toBeNull();
  expect(await shown(ann, id)).toMatchObject({ status: 'failed', merchantMessage: expect.stringMatching(/whitelist/) });
  expect([calls(hash), await balanceOf(ann)]).toMatchObject([1, untouched]);
  expect(await found()).toEqual([]);
});

it('waits with that while a call may still arrive', async () => {
  const { id, hash } = await waiting(ann);
  node.isAway = (path) => path === '/v2/router/send';
  await expect(step(hash)).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  node.mend();
  await unlist();
  expect(await step(hash)).toBe('its payee is no longer listed, and the node may have it under way');
  expect(await shown(ann, id)).toMatchObject({ status: 'processing' });
  await expire(hash);
  expect(await step(hash)).toBeNull();
  expect([calls(hash), await shown(ann, id)]).toMatchObject([0, { status: 'failed' }]);
});

it('waits between two calls, whichever process made the first', async () => {
  const { id, hash } = await waiting(ann);
  node.nextEnd = 'FAILED';
  await step(hash, usual, { pauseMs: 60_000 });
  expect(await step(hash, usual, { pauseMs: 60_000 })).toBe('the node has it under way, or may have');
  expect(calls(hash)).toBe(1);
  await unguarded(db, (tx) =>
    tx.query(`UPDATE lightning_payment SET called_at = called_at - interval '1 minute' WHERE hash = $1`, [hash]),
  );
  node.nextEnd = 'SUCCEEDED';
  await step(hash, usual, { pauseMs: 60_000 });
  await step(hash, usual, { pauseMs: 60_000 });
  expect([calls(hash), await shown(ann, id)]).toMatchObject([2, { status: 'completed' }]);
});

it('counts nothing against the cap of what the node has called failed', async () => {
  await unguarded(db, (tx) => tx.query('DELETE FROM signer.new_payment'));
  const capped = { coolingOffHours: 24, dailyCaps: { BTC_LN: '0.0003' } };
  const above = 'it is above the cap of 0.0003 BTC_LN a day for new destinations';
  const first = await waiting(ann);
  node.nextEnd = 'FAILED';
  await step(first.hash, capped);
  const second = await waiting(ann);
  // It may still be paid by another way.
  expect(await step(second.hash, capped)).toBe(above);
  for (let n = 0; n < 3; n += 1) await step(first.hash, capped);
  expect(await shown(ann, first.id)).toMatchObject({ status: 'failed' });
  node.nextEnd = 'SUCCEEDED';
  await step(second.hash, capped);
  await step(second.hash, capped);
  expect(await shown(ann, second.id)).toMatchObject({ status: 'completed' });
  // What was paid counts.
  const third = await waiting(ann);
  expect(await step(third.hash, capped)).toBe(above);
});

it('counts what has failed by its time alone: a call of it was never answered', async () => {
  await unguarded(db, (tx) => tx.query('DELETE FROM signer.new_payment'));
  const capped = { coolingOffHours: 24, dailyCaps: { BTC_LN: '0.0003' } };
  const lost = await waiting(ann);
  node.isAway = (path) => path === '/v2/router/send';
  await expect(step(lost.hash, capped)).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  node.mend();
  await expire(lost.hash);
  expect(await step(lost.hash, capped)).toBeNull();
  expect(await shown(ann, lost.id)).toMatchObject({ status: 'failed' });
  const other = await waiting(ann);
  expect(await step(other.hash, capped)).toBe('it is above the cap of 0.0003 BTC_LN a day for new destinations');
});
