import { MockActivityEnvironment } from '@temporalio/testing';
import type { EntityManager } from 'typeorm';
import { lightningPayerActivities } from '../../activities/lightning/pay';
import { lndPayments } from '../../chains/lightning/payments';
import { lndReadings } from '../../chains/lightning/readings';
import { failWithdrawal } from '../../commands/withdrawals/fail';
import { lightningPosition } from '../../db/audit/reconcile-lightning';
import { liftStop, stopOutgoing } from '../../db/access/merchant-stop';
import { resolveNewDestinations } from '../../db/incidents';
import { openPayments } from '../../db/lightning/payments';
import { freeze, unfreeze } from '../../db/limits/outbound';
import { lockWithdrawal } from '../../db/withdrawals/withdrawals';
import { connectionsTo, urlFor } from '../setup/postgres';
import { eventually } from './harness';
import {
  anInvoice,
  balanceOf,
  calls,
  codeOf,
  currency,
  db,
  expire,
  found,
  h,
  list,
  net,
  node,
  payee,
  payments,
  record,
  rich,
  richAnew,
  rowOf,
  shown,
  signer,
  step,
  untouched,
  usual,
  waiting,
  withNode,
  withdraw,
  type Rich,
} from './lightning-out';
import { Person } from './person';

/** BTC_LN on its way out, from the routes to the node and into the books. */

let ann: Rich;
withNode();
beforeEach(async () => {
  ann = await richAnew();
});

const left = { balance: '0.000795', reserved: '0' };

it('is held, paid once, and booked by the word of the node', async () => {
  const { text, hash } = anInvoice();
  const { status, body } = await withdraw(ann, text);
  const figures = { amount: net, networkFee: '0.000001', netToDestination: net };
  expect([status, body.data]).toMatchObject([201, { ...figures, status: 'pending', address: payee, txId: null }]);
  expect(await balanceOf(ann)).toMatchObject({ balance: '0.000795', reserved: '0.000201' });
  const asked = 'SELECT FROM temporal_request WHERE workflow_id = $1';
  expect(await db.query(asked, [`withdrawal/${body.data._id}`])).toEqual([]);
  expect(await openPayments(signer)).toContainEqual(expect.objectContaining({ hash }));
  node.nextEnd = 'IN_FLIGHT';
  expect(await step(hash)).toBeNull();
  expect(await shown(ann, body.data._id)).toMatchObject({ status: 'processing' });
  expect((await ann.post(`/api/v1/withdrawals/${body.data._id}/cancel`)).status).toBe(409);
  expect(await step(hash)).toBe('the node has it under way, or may have');
  // What is on its way is no loss, before and after it has arrived.
  const readings = lndReadings(node.login, 'regtest');
  expect(await lightningPosition(payments, readings)).toMatchObject({ missing: null });
  node.paid.get(hash)!.status = 'SUCCEEDED';
  expect(await step(hash)).toBeNull();
  expect(await step(hash)).toBeNull();
  expect(await shown(ann, body.data._id)).toMatchObject({ status: 'completed', txId: hash });
  expect(await balanceOf(ann)).toMatchObject(left);
  expect(calls(hash)).toBe(1);
  expect(await rowOf(hash)).toMatchObject({ outcome: 'paid', fee_msat: '1234', preimage: node.preimages.get(hash) });
  expect(
    await db.query(
      `SELECT credit, trim_scale(amount)::text AS amount FROM posting
        WHERE journal_id = (SELECT id FROM journal WHERE key = $1) ORDER BY id`,
      [`hold/withdrawal/${body.data._id}/end`],
    ),
  ).toEqual([
    { credit: 'A:lightning', amount: net },
    { credit: 'I:network', amount: '0.000001' },
    { credit: 'A:lightning', amount: '0.00000002' },
  ]);
  const events = await db.query<Array<{ type: string }>>('SELECT type FROM event WHERE entity_id = $1 ORDER BY seq', [
    body.data._id,
  ]);
  expect(events.map(({ type }) => type.replace('withdrawal.', ''))).toEqual([
    ...['created', 'processing', 'broadcast', 'completed'],
  ]);
  expect(await found()).toEqual([]);
});

it.each([
  ['a lost answer', 'loses'],
  ['a call that has not arrived', 'isAway'],
] as const)('is paid once after %s', async (_what, how) => {
  const { id, hash } = await waiting(ann);
  node[how] = (path) => path === '/v2/router/send';
  await expect(step(hash)).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  expect(await rowOf(hash)).toMatchObject({ calls: 1, unanswered: 1, outcome: null });
  node.mend();
  await step(hash);
  await step(hash);
  expect(await shown(ann, id)).toMatchObject({ status: 'completed' });
  expect(calls(hash)).toBe(1);
  expect(await found()).toEqual([]);
});

it('is paid once, however many look at once', async () => {
  const { id, hash } = await waiting(ann);
  node.nextEnd = 'IN_FLIGHT';
  await Promise.all(Array.from({ length: 5 }, () => step(hash)));
  expect(calls(hash)).toBe(1);
  node.paid.get(hash)!.status = 'SUCCEEDED';
  await Promise.all(Array.from({ length: 5 }, () => step(hash)));
  expect(await shown(ann, id)).toMatchObject({ status: 'completed' });
  expect(await balanceOf(ann)).toMatchObject(left);
});

it('comes back where no way was found, and the audit tells of a node that pays it after all', async () => {
  const { id, hash } = await waiting(ann);
  node.nextEnd = 'FAILED';
  for (let n = 0; n < 4; n += 1) await step(hash);
  expect(calls(hash)).toBe(3);
  const merchantMessage: unknown = expect.stringMatching(/nothing has/);
  expect(await shown(ann, id)).toMatchObject({ status: 'failed', merchantMessage });
  expect(await balanceOf(ann)).toMatchObject(untouched);
  expect(await found()).toEqual([]);
  node.paid.get(hash)!.status = 'SUCCEEDED';
  expect(await found()).toContain('the Lightning node paid something else than is booked');
  node.paid.get(hash)!.status = 'FAILED';
});

it('stays held while a call may still arrive, and comes back once the node refuses its invoice', async () => {
  const { id, hash } = await waiting(ann);
  node.isAway = (path) => path === '/v2/router/send';
  for (let n = 0; n < 3; n += 1) await expect(step(hash)).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  expect(await step(hash)).toBe('the node has it under way, or may have');
  await expect(
    signer.query(`UPDATE lightning_payment SET outcome = 'failed', over_at = now() WHERE hash = $1`, [hash]),
  ).rejects.toMatchObject({ code: 'CP012' });
  await expire(hash);
  expect(await step(hash)).toBeNull();
  expect(await shown(ann, id)).toMatchObject({ status: 'failed' });
  expect(await balanceOf(ann)).toMatchObject(untouched);
});

it('is not booked by a node that shows no preimage, nor by a thief of the signer', async () => {
  const { id, hash } = await waiting(ann);
  const preimage = node.preimages.get(hash)!;
  node.preimages.set(hash, 'ab'.repeat(32));
  await step(hash);
  await expect(step(hash)).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  await expect(
    signer.query(
      `UPDATE lightning_payment SET outcome = 'paid', preimage = $2, fee_msat = 0, over_at = now() WHERE hash = $1`,
      [hash, 'ab'.repeat(32)],
    ),
  ).rejects.toMatchObject({ code: 'CP012' });
  expect(await shown(ann, id)).toMatchObject({ status: 'processing' });
  node.preimages.set(hash, preimage);
  await step(hash);
  expect(await shown(ann, id)).toMatchObject({ status: 'completed' });
});

it('is booked, and not paid again, where a restored database has forgotten the call', async () => {
  const { id, hash } = await waiting(ann);
  node.paid.set(hash, { status: 'SUCCEEDED', amountMsat: 20_000_000n });
  expect(await step(hash)).toBeNull();
  expect(calls(hash)).toBe(0);
  expect(await shown(ann, id)).toMatchObject({ status: 'completed', txId: hash });
  expect(await found()).toEqual([]);
});

it('takes an invoice once, whoever gives it', async () => {
  const { text } = anInvoice();
  const bob = await rich();
  expect((await withdraw(ann, text)).status).toBe(201);
  for (const person of [ann, bob])
    expect(codeOf(await withdraw(person, text))).toEqual([
      ...[400, 'INVALID_ADDRESS', 'This invoice was given before: ask for a new one'],
    ]);
  const other = anInvoice().text;
  const both = await Promise.all([withdraw(ann, `LIGHTNING:${other.toUpperCase()}`), withdraw(bob, other)]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([201, 400]);
});

it('goes to listed nodes alone, by an invoice, and never to our own', async () => {
  const bob = (await Person.admin(h)) as Rich;
  expect(codeOf(await withdraw(bob, anInvoice().text)).slice(0, 2)).toEqual([400, 'ADDRESS_NOT_WHITELISTED']);
  expect(codeOf(await list(bob, node.key)).slice(0, 2)).toEqual([400, 'INVALID_ADDRESS']);
  expect(codeOf(await list(bob, 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080')).slice(0, 2)).toEqual([
    ...[400, 'INVALID_ADDRESS'],
  ]);
  const { body } = await ann.get('/api/v1/whitelist');
  const byEntry = { whitelistId: body.data.wallets[0].id, address: undefined };
  expect(codeOf(await withdraw(ann, '', byEntry)).slice(0, 2)).toEqual([400, 'VALIDATION_ERROR']);
  expect(codeOf(await withdraw(ann, anInvoice({ satoshi: 30_000 }).text)).slice(0, 2)).toEqual([
    ...[400, 'VALIDATION_ERROR'],
  ]);
  expect(codeOf(await withdraw(ann, anInvoice({ satoshi: 99_500 }).text, { amount: '0.000995' })).slice(0, 2)).toEqual([
    ...[400, 'INSUFFICIENT_BALANCE'],
  ]);
});

describe('the signer', () => {
  it('pays nothing that waits for a second person, by its worth in dollars', async () => {
    const limits = { approvalUsd: '10', totpCode: await ann.code() };
    expect((await ann.call('PATCH', '/api/v1/settings/egress-limits', limits)).status).toBe(200);
    const { text, hash } = anInvoice();
    expect((await withdraw(ann, text)).body.data.status).toBe('awaiting_approval'); // 12.86 dollars
    expect(await openPayments(signer)).not.toContainEqual(expect.objectContaining({ hash }));
    await expect(step(hash)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
    expect(calls(hash)).toBe(0);
  });

  it('waits for what is stopped, frozen or above its cap, and cancels with it', async () => {
    const { id, hash } = await waiting(ann);
    await stopOutgoing(db.manager, ann.merchantId, 'looked at');
    expect(await step(hash)).toBe('outgoing money of the merchant is held: looked at');
    await liftStop(db.manager, ann.merchantId);
    await freeze(db.manager, currency, 'looked at');
    expect(await step(hash)).toBe('BTC_LN is frozen');
    await unfreeze(db.manager, currency);
    const capped = { coolingOffHours: 24, dailyCaps: { BTC_LN: '0.0001' } };
    expect(await step(hash, capped)).toBe('it is above the cap of 0.0001 BTC_LN a day for new destinations');
    expect(calls(hash)).toBe(0);
    const aboveCap = async (): Promise<number> => {
      await payments.transaction(resolveNewDestinations);
      const open = `SELECT FROM incident WHERE kind = 'new-destinations' AND resolved_at IS NULL`;
      return (await db.query<unknown[]>(open)).length;
    };
    expect(await aboveCap()).toBe(1);
    expect((await ann.post(`/api/v1/withdrawals/${id}/cancel`)).body.data.status).toBe('cancelled');
    expect(await aboveCap()).toBe(0);
    expect(await openPayments(signer)).not.toContainEqual(expect.objectContaining({ hash }));
    const next = await waiting(ann);
    await step(next.hash, capped);
    expect(await aboveCap()).toBe(1);
    await step(next.hash);
    expect([calls(next.hash), await aboveCap()]).toEqual([1, 0]);
    await step(next.hash);
    expect(await shown(ann, next.id)).toMatchObject({ status: 'completed' });
    ann = await richAnew();
    expect(await balanceOf(ann)).toMatchObject(untouched);
  });

  it('ends what is no longer listed', async () => {
    const { id, hash } = await waiting(ann);
    const { body } = await ann.get('/api/v1/whitelist');
    const entry = `/api/v1/whitelist/${body.data.wallets[0].id}/delete`;
    expect((await ann.post(entry, { totpCode: await ann.code() })).status).toBe(200);
    expect(await step(hash)).toBeNull();
    expect(await shown(ann, id)).toMatchObject({ status: 'failed' });
    expect(await balanceOf(ann)).toMatchObject(untouched);
    expect(calls(hash)).toBe(0);
  });

  it('pays nothing that a thief of the API has pointed elsewhere', async () => {
    const { id, hash } = await waiting(ann);
    const theirs = '03'.padEnd(66, 'e');
    expect((await list(ann, theirs)).status).toBe(201);
    await db.query('UPDATE withdrawal SET address = $2 WHERE id = $1', [id, theirs]);
    await expect(step(hash)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
    expect(calls(hash)).toBe(0);
  });
});

describe('the activity of the signer', () => {
  /** Until `isDone`, then the worker ends. What it has said. */
  async function workUntil(isDone: () => Promise<boolean> | boolean): Promise<string[]> {
    const said: string[] = [];
    const say = (_: object, text: string): void => void said.push(text);
    const { payLightning } = lightningPayerActivities({
      ...{ db: signer, payments: lndPayments(node.login), readings: lndReadings(node.login, 'regtest') },
      ...{ network: 'regtest', newDestinations: usual, record, config: { POLL_INTERVAL_MS: 20 } },
      log: { info: say, warn: say, error: say } as never,
    });
    const environment = new MockActivityEnvironment();
    const ended = environment.run(payLightning).catch((error: unknown) => error);
    await eventually(async () => isDone());
    environment.cancel();
    expect(await ended).toMatchObject({ type: 'MOVES', nonRetryable: false });
    return said;
  }

  it('pays once the signer has confirmed the database, and by the node of the books alone', async () => {
    const { id, hash } = await waiting(ann);
    await db.query('DELETE FROM key_epoch');
    let looks = 0;
    await workUntil(() => (looks += 1) > 5);
    expect(calls(hash)).toBe(0);
    await db.query('INSERT INTO key_epoch (epoch, beat, incarnation) VALUES (0, 0, database_incarnation())');
    const { key } = node;
    node.key = '03'.padEnd(66, 'f');
    const said: string[] = [];
    looks = 0;
    said.push(...(await workUntil(() => (looks += 1) > 5)));
    expect([calls(hash), said]).toEqual([0, ['The Lightning node cannot pay']]);
    node.key = key;
    await workUntil(async () => (await shown(ann, id))['status'] === 'completed');
    expect(calls(hash)).toBe(1);
  });

  it('does not call again at once: a node that has just come back finds no way yet', async () => {
    const { id, hash } = await waiting(ann);
    node.nextEnd = 'FAILED';
    let looks = 0;
    await workUntil(() => calls(hash) > 0 && (looks += 1) > 20);
    expect([calls(hash), (await shown(ann, id))['status']]).toEqual([1, 'processing']);
  });
});

it.each(['api', 'payments'] as const)('takes no money back, nor says that it was paid, as %s', async (role) => {
  const { id, hash } = await waiting(ann);
  node.nextEnd = 'IN_FLIGHT';
  await step(hash);
  const thief = await connectionsTo(urlFor(h.databaseUrl, role)).initialize();
  await expect(
    thief.query(`UPDATE lightning_payment SET outcome = 'failed', over_at = now() WHERE hash = $1`, [hash]),
  ).rejects.toMatchObject({ code: '42501' });
  const release = async (tx: EntityManager): Promise<void> =>
    failWithdrawal(tx, (await lockWithdrawal(tx, id))!, 'stolen');
  await expect(thief.transaction(release)).rejects.toMatchObject({ code: 'CP014' });
  await thief.destroy();
});
