import { confirmRequest, fileRequest } from '../../commands/operators/requests';
import { lndInvoices } from '../../chains/lightning/invoices';
import { lndPayments } from '../../chains/lightning/payments';
import { lndReadings } from '../../chains/lightning/readings';
import { audit } from '../../db/audit/audit';
import { markEnded } from '../../db/audit/mark-lightning';
import { freeze, unfreeze } from '../../db/limits/outbound';
import { noteOverdue } from '../../db/lightning/overdue';
import { connectionsTo, urlFor } from '../setup/postgres';
import { anOperator } from '../operators';
import { unguarded } from '../unguarded';
import {
  balanceOf,
  calls,
  currency,
  db,
  expire,
  found,
  h,
  node,
  payments,
  richAnew,
  rowOf,
  shown,
  signer,
  step,
  untouched,
  usual,
  waiting,
  withNode,
  type Rich,
} from './lightning-out';

/** A payment by Lightning that waits for an answer which never comes: two operators end it, with the rights of the API,
 *  and the signer by the node's word. The node is a simulator of lnd's API. */

let ann: Rich;
withNode();
beforeEach(async () => {
  ann = await richAnew();
});

/** One whose three calls have had no answer. */
async function unanswered(): Promise<{ id: string; hash: string }> {
  const one = await waiting(ann);
  node.isAway = (path) => path === '/v2/router/send';
  for (let n = 0; n < 3; n += 1) await expect(step(one.hash)).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  node.mend();
  expect(await step(one.hash)).toBe('the node has it under way, or may have');
  return one;
}
const age = (hash: string, hours: number): Promise<unknown> =>
  unguarded(db, (tx) =>
    tx.query('UPDATE lightning_payment SET called_at = called_at - make_interval(hours => $2) WHERE hash = $1', [
      ...[hash, hours],
    ]),
  );
/** Asked for and confirmed twice, with the rights of the API. */
async function giveUp(hash: string): Promise<unknown> {
  const operators = [await anOperator(db), await anOperator(db)] as const;
  const asked = { kind: 'fail-lightning', payload: { hash }, reason: 'the old machine is gone' };
  const api = await connectionsTo(urlFor(h.databaseUrl, 'api')).initialize();
  try {
    const { id, summary } = await api.transaction((tx) => fileRequest(tx, operators[0].actor, asked));
    for (const one of operators) await api.transaction((tx) => confirmRequest(tx, one, id));
    return summary;
  } finally {
    await api.destroy();
  }
}

it('comes back a day after its last call, once two operators have said so', async () => {
  const { id, hash } = await unanswered();
  const refused = { code: 'ACT_REFUSED' };
  await expect(giveUp(hash)).rejects.toMatchObject({ ...refused, message: expect.stringContaining('less than a day') });
  await age(hash, 23);
  await expect(giveUp(hash)).rejects.toMatchObject(refused);
  await age(hash, 1);
  expect(await giveUp(hash)).toBe(
    `Fail the payment ${hash} of 0.0002 BTC_LN (for ${id} of merchant ${ann.merchantId}), unless the node knows it, ` +
      'and give its money back',
  );
  expect(await shown(ann, id)).toMatchObject({ status: 'processing' });
  await expect(giveUp(hash)).rejects.toMatchObject({ ...refused, message: expect.stringContaining('is given up') });
  await expect(
    signer.query('UPDATE lightning_payment SET calls = calls + 1, unanswered = unanswered + 1 WHERE hash = $1', [hash]),
  ).rejects.toMatchObject({ code: 'CP012' });
  expect(await step(hash)).toBeNull();
  expect(await shown(ann, id)).toMatchObject({ status: 'failed' });
  expect([calls(hash), await balanceOf(ann)]).toMatchObject([0, untouched]);
  expect(await found()).toEqual([]);
  await expect(giveUp(hash)).rejects.toMatchObject({
    ...refused,
    message: expect.stringContaining('has ended: failed'),
  });
  const acts = await db.query(`SELECT merchant_id, target FROM audit_log WHERE action = 'lightning_payment.given_up'`);
  expect(acts).toEqual([{ merchant_id: ann.merchantId, target: id }]);
});

it('is booked by the word of the node, whatever operators have said', async () => {
  const { id, hash } = await unanswered();
  await age(hash, 24);
  await giveUp(hash);
  node.paid.set(hash, { status: 'IN_FLIGHT', amountMsat: 20_000_000n });
  expect(await step(hash)).toBe('the node has it under way, or may have');
  node.paid.get(hash)!.status = 'SUCCEEDED';
  await step(hash);
  expect(await shown(ann, id)).toMatchObject({ status: 'completed', txId: hash });
  expect(await found()).toEqual([]);
});

it('is not given up where every call was answered, nor where there is none', async () => {
  const { hash } = await waiting(ann);
  node.nextEnd = 'FAILED';
  await step(hash);
  await age(hash, 24);
  await expect(giveUp(hash)).rejects.toMatchObject({
    ...{ code: 'ACT_REFUSED', message: expect.stringContaining('was answered') },
  });
  for (const none of ['ab'.repeat(32), 'no hash'])
    await expect(giveUp(none)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
});

describe('of which the node has lost its memory', () => {
  /** The node had it under way, and says that it never heard of it. */
  async function forgotten(): Promise<{ id: string; hash: string }> {
    const one = await waiting(ann);
    node.nextEnd = 'IN_FLIGHT';
    await step(one.hash);
    expect(await rowOf(one.hash)).toMatchObject({ calls: 1, unanswered: 0, under_way_at: expect.any(Date) });
    node.paid.delete(one.hash);
    for (let n = 0; n < 3; n += 1) expect(await step(one.hash)).toBe('the node has forgotten it');
    return one;
  }
  const ageForgotten = (hash: string): Promise<unknown> =>
    unguarded(db, (tx) =>
      tx.query(`UPDATE lightning_payment SET forgotten_at = forgotten_at - interval '1 day' WHERE hash = $1`, [hash]),
    );

  it('is neither called again nor failed, however long its invoice is over, until the node knows it', async () => {
    const { id, hash } = await forgotten();
    await expire(hash);
    expect(await step(hash)).toBe('the node has forgotten it');
    expect([calls(hash), (await shown(ann, id))['status']]).toEqual([1, 'processing']);
    await payments.transaction(noteOverdue);
    const incident = `SELECT details->>'hash' AS hash FROM incident
      WHERE subject_id = $1 AND kind = 'lightning-overdue' AND details->>'forgottenSince' IS NOT NULL`;
    expect(await db.query(incident, [id])).toEqual([{ hash }]);
    await expect(
      signer.query(`UPDATE lightning_payment SET outcome = 'failed', over_at = now() WHERE hash = $1`, [hash]),
    ).rejects.toMatchObject({ code: 'CP012' });
    node.paid.set(hash, { status: 'IN_FLIGHT', amountMsat: 20_000_000n });
    expect(await step(hash)).toBe('the node has it under way, or may have');
    expect(await rowOf(hash)).toMatchObject({ forgotten_at: null });
    node.paid.get(hash)!.status = 'SUCCEEDED';
    await step(hash);
    expect(await shown(ann, id)).toMatchObject({ status: 'completed' });
    expect(await found()).toEqual([]);
  });

  it('is failed by two operators, a day after it was forgotten', async () => {
    const { id, hash } = await forgotten();
    await age(hash, 48);
    await expect(giveUp(hash)).rejects.toMatchObject({
      ...{ code: 'ACT_REFUSED', message: expect.stringContaining('forgotten payment') },
    });
    await ageForgotten(hash);
    await giveUp(hash);
    await step(hash);
    expect([calls(hash), (await shown(ann, id))['status']]).toEqual([1, 'failed']);
    expect(await balanceOf(ann)).toMatchObject(untouched);
  });

  it('is called again where the last word of the node was that it has failed', async () => {
    const { hash } = await waiting(ann);
    node.nextEnd = 'FAILED';
    await step(hash);
    await freeze(db.manager, currency, 'looked at');
    expect(await step(hash)).toBe('BTC_LN is frozen');
    expect(await rowOf(hash)).toMatchObject({ calls: 1, under_way_at: null });
    await unfreeze(db.manager, currency);
    node.paid.delete(hash);
    node.nextEnd = 'SUCCEEDED';
    await step(hash);
    await step(hash);
    expect([calls(hash), await rowOf(hash)]).toMatchObject([2, { outcome: 'paid' }]);
  });
});

/** The audit that looks again and again, with the word of the node. */
async function look(): Promise<string[]> {
  const { track } = lndPayments(node.login);
  const lightning = { ...lndInvoices(node.login, 'regtest'), ...lndReadings(node.login, 'regtest'), track };
  const all = await audit(payments, { settleMs: 1, mark: markEnded(payments), lightning });
  return all.flatMap((one) => (one.what.startsWith('the Lightning node paid') ? one.found : []));
}
/** Others fail after it, one after the other. */
const failOthers = (like: string, count: number): Promise<unknown> =>
  unguarded(db, (tx) =>
    tx.query(
      `INSERT INTO lightning_payment (hash, withdrawal_id, invoice, amount_msat, fee_limit_msat, expires_at, outcome,
         over_at)
         SELECT encode(sha256(n::text::bytea), 'hex'), lpad(n::text, 24, '0'), invoice, amount_msat, fee_limit_msat,
                expires_at, 'failed', clock_timestamp()
           FROM lightning_payment, generate_series(1, $2) n WHERE hash = $1`,
      [like, count],
    ),
  );

it('is compared until the node refuses its invoice: a call that nobody expected may have arrived', async () => {
  const { hash } = await unanswered();
  await age(hash, 24);
  await giveUp(hash);
  await step(hash);
  for (let n = 0; n < 2; n += 1) expect(await look()).toEqual([]);
  await failOthers(hash, 201);
  node.paid.set(hash, { status: 'SUCCEEDED', amountMsat: 20_000_000n });
  expect(await look()).toEqual([expect.stringContaining(hash)]);
  node.paid.delete(hash);
  await expire(hash);
  expect(await look()).toEqual([]);
  const left = 'SELECT FROM lightning_unaudited WHERE hash = $1';
  expect(await db.query(left, [hash])).toEqual([]);
});

it.each([
  ['the day', [26_000, 5]],
  ['this process', [5, 26_000]],
] as const)('is not called by a machine that was halted, as the clock of %s says', async (_, later) => {
  const { hash } = await waiting(ann);
  const clocks = jest.fn<readonly number[], []>().mockReturnValueOnce([0, 0]).mockReturnValueOnce(later);
  expect(await step(hash, usual, { clocks })).toBe('this process was halted before the call');
  expect(calls(hash)).toBe(0);
  expect(await rowOf(hash)).toMatchObject({ calls: 1, unanswered: 0, outcome: null });
  await step(hash);
  expect(calls(hash)).toBe(1);
});

it('is given up by no role alone, and called at the time that the database says', async () => {
  const { hash } = await unanswered();
  const [{ called_at: calledAt }] = [await rowOf(hash)];
  expect(Date.now() - (calledAt as Date).getTime()).toBeLessThan(60_000);
  await age(hash, 48);
  const words: readonly ['api' | 'payments' | 'signer', string, string][] = [
    ['api', 'given_up_at = now()', 'CP014'],
    ['api', 'called_at = now()', '42501'],
    ['payments', 'given_up_at = now()', '42501'],
    ['signer', 'given_up_at = now()', '42501'],
    ['signer', 'called_at = now()', '42501'],
    ['signer', `outcome = 'failed', over_at = now()`, 'CP012'],
  ];
  for (const [role, set, code] of words) {
    const as = await connectionsTo(urlFor(h.databaseUrl, role)).initialize();
    const written = as.query(`UPDATE lightning_payment SET ${set} WHERE hash = $1`, [hash]);
    await expect(written).rejects.toMatchObject({ code });
    await as.destroy();
  }
});
