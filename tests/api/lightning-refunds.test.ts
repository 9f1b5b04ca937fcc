import { openPayments } from '../../db/lightning/payments';
import { restoreCalled, type CallRecord } from '../../db/recovery/lost-invoices';
import { connectionsTo, urlFor } from '../setup/postgres';
import { unguarded } from '../unguarded';
import type { Answer } from './harness';
import {
  anInvoice,
  balanceOf,
  called,
  calls,
  codeOf,
  db,
  expire,
  found,
  h,
  net,
  node,
  payments,
  record,
  richAnew,
  rowOf,
  signer,
  step,
  untouched,
  waiting,
  withNode,
  withdraw,
  type Rich,
} from './lightning-out';
import {
  createRefund,
  linkOf,
  nameInvoice as name,
  openedRefund,
  paymentOf,
  refundAsk,
  type OpenRefund,
} from './lightning-refund';

/** Refunds of payments that came by Lightning: the payer names an invoice, and the signer pays it. The node is a
 *  simulator of lnd's API. */

let ann: Rich;
let paymentId: string;
withNode();
beforeEach(async () => {
  ann = await richAnew();
  paymentId = await paymentOf(ann);
});

const held = { balance: '0.000795', reserved: '0.000201' };
const create = (over: object = {}): Promise<Answer> => createRefund(ann, paymentId, over);
const opened = (): Promise<OpenRefund> => openedRefund(ann, paymentId);
/** One whose payer has named an invoice. */
async function claimed(): Promise<OpenRefund & { hash: string; text: string }> {
  const one = await opened();
  const invoice = anInvoice();
  const { status, body } = await name(one.link, invoice.text);
  expect([status, body.status]).toEqual([200, 'pending']);
  return { ...one, ...invoice };
}
const shown = async (id: string): Promise<Record<string, unknown>> =>
  (await ann.get(`/api/v1/refunds/${id}`)).body.data;

it('pays the invoice that the payer has named, once', async () => {
  const { id, link } = await opened();
  expect(await balanceOf(ann)).toMatchObject(held);
  const { text, hash } = anInvoice();
  const asked = await name(link, `LIGHTNING:${text.toUpperCase()}`, false);
  expect(asked.body).toMatchObject({ status: 'awaiting_address', address: text, netToDestination: net });
  expect(await name(link, text)).toMatchObject({ status: 200, body: { status: 'pending', address: text } });
  await step(hash);
  expect(await shown(id)).toMatchObject({ status: 'processing' });
  await Promise.all([step(hash), step(hash)]);
  expect(await shown(id)).toMatchObject({ status: 'completed', txId: hash, address: text, networkFee: '0.000001' });
  expect(calls(hash)).toBe(1);
  expect(await balanceOf(ann)).toMatchObject({ balance: held.balance, reserved: '0' });
  const claim = (await h.call('GET', link)).body;
  expect(claim).toMatchObject({ status: 'completed', txId: hash, explorerTxUrl: null });
  const events = await db.query('SELECT type FROM event WHERE entity_id = $1 ORDER BY seq', [id]);
  expect(events.map(({ type }: { type: string }) => type)).toEqual([
    ...['refund.created', 'refund.claimed', 'refund.broadcast', 'refund.completed'],
  ]);
  const told = await db.query(`SELECT details FROM payment_event WHERE payment_id = $1 AND cause = 'refunded'`, [
    paymentId,
  ]);
  expect(told).toEqual([{ details: expect.objectContaining({ refundId: id, txId: hash }) }]);
  expect(await db.query(`SELECT FROM temporal_request WHERE workflow = 'refund'`)).toEqual([]);
  expect(await found()).toEqual([]);
});

it('takes the same invoice again, and no other one', async () => {
  const { id, link, text, hash } = await claimed();
  expect(await name(link, text)).toMatchObject({ status: 200, body: { status: 'pending', address: text } });
  expect((await name(link, text, false)).status).toBe(200);
  expect(codeOf(await name(link, anInvoice().text)).slice(0, 2)).toEqual([409, 'INVALID_STATE']);
  await step(hash);
  await step(hash);
  expect((await name(link, text)).body).toMatchObject({ status: 'completed' });
  expect(codeOf(await name(link, anInvoice().text)).slice(0, 2)).toEqual([409, 'INVALID_STATE']);
  expect(await db.query('SELECT FROM lightning_payment WHERE refund_id = $1', [id])).toHaveLength(1);
});

it.each<[string, () => string, string]>([
  ['over less', () => anInvoice({ satoshi: 19_999 }).text, 'VALIDATION_ERROR'],
  ['over more', () => anInvoice({ satoshi: 20_001 }).text, 'VALIDATION_ERROR'],
  ['that expires at once', () => anInvoice({ expiry: 60 }).text, 'INVALID_ADDRESS'],
  ['that is none', () => 'lnbcrt1nonsense', 'INVALID_ADDRESS'],
  ['but an address of the chain', () => 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', 'INVALID_ADDRESS'],
  ['but a Lightning address', () => 'me@wallet.example', 'INVALID_ADDRESS'],
])('is not claimed by an invoice %s', async (_what, invoice, code) => {
  const { id, link } = await opened();
  const text = invoice();
  for (const confirm of [false, true]) expect(codeOf(await name(link, text, confirm)).slice(0, 2)).toEqual([400, code]);
  expect(await shown(id)).toMatchObject({ status: 'awaiting_address', address: null });
});

it('takes an invoice once, whoever gives it', async () => {
  const { link } = await opened();
  const { text } = anInvoice();
  expect((await withdraw(ann, text)).status).toBe(201);
  expect(codeOf(await name(link, text))).toEqual([
    ...[400, 'INVALID_ADDRESS', 'This invoice was given before: ask for a new one'],
  ]);
  const [one, two] = [anInvoice(), await opened()];
  const both = await Promise.all([name(link, one.text), name(two.link, one.text)]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  // Another text of the same hash pays nothing new.
  const preimage = Buffer.from(node.preimages.get(one.hash)!, 'hex');
  const again = anInvoice({ preimage, expiry: 7200 });
  expect([again.hash, again.text === one.text]).toEqual([one.hash, false]);
  const unclaimed = both[0]!.status === 200 ? two.link : link;
  expect(codeOf(await name(unclaimed, again.text))[1]).toBe('INVALID_ADDRESS');
});

it('takes one of two invoices that are named at once, and pays that', async () => {
  const { id, link } = await opened();
  const two = [anInvoice(), anInvoice()];
  const answers = await Promise.all(two.map(({ text }) => name(link, text)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  const [first, second] = answers[0]!.status === 200 ? two : two.toReversed();
  for (let n = 0; n < 3; n += 1) await step(first!.hash);
  expect(await shown(id)).toMatchObject({ status: 'completed', txId: first!.hash });
  expect([calls(first!.hash), calls(second!.hash)]).toEqual([1, 0]);
  expect(await found()).toEqual([]);
});

it('goes to no address of the chain, before or after its invoice is named', async () => {
  const onChain = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';
  const { id, link, text } = await claimed();
  for (const confirm of [false, true])
    expect(codeOf(await name(link, onChain, confirm)).slice(0, 2)).toEqual([400, 'INVALID_ADDRESS']);
  expect(await shown(id)).toMatchObject({ status: 'pending', address: text });
});

it('is asked for without an address, and within what was received', async () => {
  expect(codeOf(await create({ address: 'me@wallet.example' }))).toEqual([
    ...[400, 'VALIDATION_ERROR', 'By Lightning the payer gives an invoice at claimUrl: leave address out'],
  ]);
  expect(codeOf(await create({ amount: '0.0011' }))[1]).toBe('REFUND_EXCEEDS_PAID');
  expect(codeOf(await create({ amount: '0.001' }))[1]).toBe('INSUFFICIENT_BALANCE');
  const { body } = await create({ amount: net, feeBearer: 'payer' });
  expect(body.data).toMatchObject({ amount: net, networkFee: '0.000001', netToDestination: '0.000199' });
});

/** One that a key has asked for, and whose payer has named an invoice. */
async function askedByKey(): Promise<{ id: string; hash: string }> {
  const scopes = ['refunds:create', 'refunds:read', 'payments:read'];
  const made = await ann.post('/api/v1/api-keys', { name: 'k', scopes, totpCode: await ann.code() });
  const path = `/api/v1/payments/${paymentId}/refunds`;
  const { data } = (await h.call('POST', path, { key: made.body.data.apiKey, body: refundAsk })).body;
  const { text, hash } = anInvoice();
  expect((await name(linkOf(data.claimUrl), text)).body).toMatchObject({ status: 'awaiting_approval' });
  return { id: data._id, hash };
}
const approve = async (id: string): Promise<void> =>
  expect((await ann.post(`/api/v1/refunds/${id}/approve`, { totpCode: await ann.code() })).body.data).toMatchObject({
    status: 'pending',
  });

it('waits for a user where a key asks, and is paid then', async () => {
  const { id, hash } = await askedByKey();
  expect(await openPayments(signer)).not.toContainEqual(expect.objectContaining({ hash }));
  await expect(step(hash)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
  expect(calls(hash)).toBe(0);
  await approve(id);
  expect(await openPayments(signer)).toContainEqual(expect.objectContaining({ hash }));
  await step(hash);
  await step(hash);
  expect(await shown(id)).toMatchObject({ status: 'completed', txId: hash });
});

it('gives the money back where its invoice has expired before somebody approves', async () => {
  const { id, hash } = await askedByKey();
  await expire(hash);
  await approve(id);
  await step(hash);
  expect(await shown(id)).toMatchObject({ status: 'failed' });
  expect(await balanceOf(ann)).toMatchObject(untouched);
  expect(calls(hash)).toBe(0);
  expect(await found()).toEqual([]);
});

it('gives the money back where there is no way, and another refund takes another invoice', async () => {
  node.nextEnd = 'FAILED';
  const { id, link, hash, text } = await claimed();
  for (let n = 0; n < 4; n += 1) await step(hash);
  expect(await shown(id)).toMatchObject({ status: 'failed', merchantMessage: expect.stringMatching(/^No way/) });
  expect(await balanceOf(ann)).toMatchObject(untouched);
  expect(calls(hash)).toBe(3);
  expect((await name(link, text)).body).toMatchObject({ status: 'failed' });
  node.nextEnd = 'SUCCEEDED';
  const second = await opened();
  expect(codeOf(await name(second.link, text))[1]).toBe('INVALID_ADDRESS');
  const other = anInvoice();
  expect((await name(second.link, other.text)).status).toBe(200);
  for (const one of [other.hash, other.hash, hash]) await step(one);
  expect([calls(hash), calls(other.hash)]).toEqual([3, 1]);
  expect(await found()).toEqual([]);
});

it('is called back until it is called for, and not after', async () => {
  const first = await claimed();
  expect((await ann.post(`/api/v1/refunds/${first.id}/cancel`)).status).toBe(200);
  expect(await balanceOf(ann)).toMatchObject(untouched);
  await expect(step(first.hash)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
  expect(calls(first.hash)).toBe(0);
  const second = await claimed();
  node.nextEnd = 'IN_FLIGHT';
  await step(second.hash);
  expect(codeOf(await ann.post(`/api/v1/refunds/${second.id}/cancel`)).slice(0, 2)).toEqual([409, 'INVALID_STATE']);
  expect(await found()).toEqual([]);
});

it('is not claimed once it is cancelled', async () => {
  const [open, before] = [await opened(), await claimed()];
  for (const { id } of [open, before]) expect((await ann.post(`/api/v1/refunds/${id}/cancel`)).status).toBe(200);
  for (const { link } of [open, before])
    for (const confirm of [false, true])
      expect(codeOf(await name(link, anInvoice().text, confirm)).slice(0, 2)).toEqual([409, 'INVALID_STATE']);
  expect((await name(before.link, before.text)).body).toMatchObject({ status: 'cancelled' });
  expect(await db.query('SELECT FROM lightning_payment WHERE refund_id = $1', [open.id])).toEqual([]);
  expect(await balanceOf(ann)).toMatchObject(untouched);
});

it('has the invoice that its row names, and no role writes another', async () => {
  const { id, link } = await opened();
  const api = await connectionsTo(urlFor(h.databaseUrl, 'api')).initialize();
  const write = (as: typeof api): Promise<unknown> =>
    as.query(
      `INSERT INTO lightning_payment (hash, refund_id, invoice, amount_msat, fee_limit_msat, expires_at)
       VALUES ($1, $2, $3, 20000000, 100000, now() + interval '1 hour')`,
      [anInvoice().hash, id, anInvoice().text],
    );
  for (const as of [api, payments]) await expect(write(as)).rejects.toMatchObject({ code: 'CP014' });
  const { text, hash } = anInvoice();
  await name(link, text);
  await expect(write(api)).rejects.toMatchObject({ code: expect.stringMatching(/CP014|23505/) });
  const point = (to: string) =>
    unguarded(db, (tx) => tx.query('UPDATE refund SET address = $2 WHERE id = $1', [id, to]));
  await point(anInvoice().text);
  await expect(step(hash)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
  expect(calls(hash)).toBe(0);
  await point(text);
  await api.destroy();
});

it.each(['api', 'payments', 'chain', 'signer'] as const)('keeps its invoice, whatever %s writes', async (role) => {
  const { id } = await claimed();
  const as = await connectionsTo(urlFor(h.databaseUrl, role)).initialize();
  for (const change of [`address = '${anInvoice().text}'`, `status = 'awaiting_address', address = NULL`])
    await expect(
      as.query(`UPDATE refund SET ${change}, state_version = state_version + 1 WHERE id = $1`, [id]),
    ).rejects.toMatchObject({ code: 'CP012' });
  await as.destroy();
});

/** As after a restart of PostgreSQL, which may be on a backup. */
const forget = (): Promise<unknown> => db.query(`UPDATE key_epoch SET incarnation = 'another'`);
const confirm = (): Promise<unknown> => db.query('UPDATE key_epoch SET incarnation = database_incarnation()');

describe('until the signer has confirmed the database', () => {
  afterEach(confirm);

  it('is not claimed', async () => {
    const { link } = await opened();
    await forget();
    const { text } = anInvoice();
    for (const isFinal of [false, true])
      expect(codeOf(await name(link, text, isFinal)).slice(0, 2)).toEqual([503, 'UPSTREAM_UNAVAILABLE']);
    await confirm();
    expect((await name(link, text)).status).toBe(200);
  });

  it('has no invoice written by the API, whatever it has checked before', async () => {
    const { id } = await opened();
    const { text, hash } = anInvoice();
    const api = await connectionsTo(urlFor(h.databaseUrl, 'api')).initialize();
    const write = (): Promise<unknown> =>
      api.transaction(async (tx) => {
        await tx.query(
          `UPDATE refund SET status = 'pending', address = $2, state_version = state_version + 1 WHERE id = $1`,
          [id, text],
        );
        await tx.query(
          `INSERT INTO lightning_payment (hash, refund_id, invoice, amount_msat, fee_limit_msat, expires_at)
           VALUES ($1, $2, $3, 20000000, 100000, now() + interval '1 hour')`,
          [hash, id, text],
        );
      });
    await forget();
    await expect(write()).rejects.toMatchObject({ code: 'CP014' });
    await confirm();
    await write();
    await api.destroy();
  });

  it('is not cancelled, nor is a withdrawal: what was paid may come back', async () => {
    const paths = [`/api/v1/refunds/${(await opened()).id}`, `/api/v1/refunds/${(await claimed()).id}`];
    paths.push(`/api/v1/withdrawals/${(await waiting(ann)).id}`);
    await forget();
    for (const path of paths)
      expect(codeOf(await ann.post(`${path}/cancel`)).slice(0, 2)).toEqual([409, 'INVALID_STATE']);
    await confirm();
    for (const path of paths) expect((await ann.post(`${path}/cancel`)).status).toBe(200);
    expect(await balanceOf(ann)).toMatchObject(untouched);
  });
});

/** As a backup from before its payer named an invoice. */
const restoreBefore = (id: string): Promise<unknown> =>
  unguarded(db, async (tx) => {
    await tx.query('DELETE FROM lightning_payment WHERE refund_id = $1', [id]);
    await tx.query(`UPDATE refund SET status = 'awaiting_address', address = NULL, claimed_at = NULL WHERE id = $1`, [
      id,
    ]);
  });
async function recover(from: CallRecord = record): Promise<void> {
  await db.query(`INSERT INTO recovery (epoch, reason) SELECT coalesce(max(epoch), 0) + 1, 'restored' FROM recovery`);
  await signer.transaction((tx) => restoreCalled(tx, from));
}

const incidentsOf = (id: string): Promise<unknown> =>
  db.query(`SELECT details FROM incident WHERE kind = 'hold-gone' AND subject_id = $1`, [id]);

/** Last: from here on all of before is of another time. */
describe('where a restored database has forgotten the claim', () => {
  it.each(['SUCCEEDED', 'lost'] as const)('is paid to no second invoice: the call before was %s', async (end) => {
    const { id, link, hash, text } = await claimed();
    if (end === 'lost') node.isAway = (path) => path === '/v2/router/send';
    await step(hash).catch(() => undefined);
    node.mend();
    expect(called).toContainEqual(expect.objectContaining({ kind: 'refund', ref: id, hash, invoice: text }));
    await restoreBefore(id);
    await forget();
    expect(codeOf(await name(link, anInvoice().text))[1]).toBe('UPSTREAM_UNAVAILABLE');
    expect((await ann.post(`/api/v1/refunds/${id}/cancel`)).status).toBe(409);
    await recover();
    await confirm();
    expect(await shown(id)).toMatchObject({ status: 'pending', address: text });
    expect(codeOf(await name(link, anInvoice().text)).slice(0, 2)).toEqual([409, 'INVALID_STATE']);
    expect((await name(link, text)).status).toBe(200);
    expect((await ann.post(`/api/v1/refunds/${id}/cancel`)).status).toBe(409);
    for (let n = 0; n < 3; n += 1) await step(hash);
    expect(await shown(id)).toMatchObject({ status: 'completed', txId: hash });
    expect([calls(hash), (await rowOf(hash))['outcome']]).toEqual([1, 'paid']);
    expect(await balanceOf(ann)).toMatchObject({ balance: held.balance, reserved: '0' });
    expect(await found()).toEqual([]);
  });

  it('has its invoice back, however new the invoices are that were given before the signer was there', async () => {
    const { id, hash } = await claimed();
    await step(hash);
    const calledAt = new Date();
    await restoreBefore(id);
    const newer = await waiting(ann);
    await unguarded(db, (tx) =>
      tx.query(`UPDATE lightning_payment SET created_at = now() + interval '9 hours' WHERE hash = $1`, [newer.hash]),
    );
    await recover({ ...record, since: (moment) => (moment < calledAt ? called : []) });
    expect(await rowOf(hash)).toMatchObject({ refund_id: id, outcome: null });
    await step(hash);
    expect(await shown(id)).toMatchObject({ status: 'completed', txId: hash });
    expect((await ann.post(`/api/v1/withdrawals/${newer.id}/cancel`)).status).toBe(409);
    for (let n = 0; n < 2; n += 1) await step(newer.hash);
    expect(await found()).toEqual([]);
  });

  it('opens an incident where it was cancelled with an invoice that was called for', async () => {
    const { id, hash } = await claimed();
    await step(hash);
    await unguarded(db, async (tx) => {
      await tx.query('UPDATE lightning_payment SET calls = 0, unanswered = 0 WHERE hash = $1', [hash]);
      await tx.query(`UPDATE refund SET status = 'cancelled' WHERE id = $1`, [id]);
    });
    await recover();
    expect(await incidentsOf(id)).toEqual([{ details: expect.objectContaining({ paymentHash: hash }) }]);
  });

  it.each([
    ['is over', `status = 'cancelled'`],
    ['names another receiver', `status = 'pending', address = 'another'`],
  ])('opens an incident where its row %s', async (_what, change) => {
    const { id, hash } = await claimed();
    await step(hash);
    await restoreBefore(id);
    await unguarded(db, (tx) => tx.query(`UPDATE refund SET ${change} WHERE id = $1`, [id]));
    for (let n = 0; n < 2; n += 1) await recover();
    expect(await incidentsOf(id)).toEqual([{ details: expect.objectContaining({ paymentHash: hash }) }]);
    expect(await db.query('SELECT FROM lightning_payment WHERE refund_id = $1', [id])).toEqual([]);
  });
});
