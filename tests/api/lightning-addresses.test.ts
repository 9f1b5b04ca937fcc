import type { DataSource } from 'typeorm';
import { freeze, unfreeze } from '../../db/limits/outbound';
import { restoreCalled, type CallRecord } from '../../db/recovery/lost-invoices';
import { connectionsTo, urlFor } from '../setup/postgres';
import {
  address,
  look,
  metadata,
  newest,
  payRequest,
  usualAnswers,
  wallet,
  withHost,
  type Answers,
} from './lightning-host';
import {
  anInvoice,
  balanceOf,
  called,
  calls,
  codeOf,
  db,
  found,
  h,
  list,
  node,
  payments,
  record,
  richAnew,
  shown,
  signer,
  step,
  untouched,
  waiting,
  withNode,
  withdraw,
  type Rich,
} from './lightning-out';

/** Withdrawals to Lightning addresses: the payments worker asks their host for the invoice, and the signer pays it. */

let ann: Rich;
withNode();
withHost();
beforeEach(async () => {
  ann = await richAnew();
  expect((await list(ann, 'Me@Wallet.Example')).body.data).toMatchObject({ address });
});

const toAddress = async (over: object = {}): Promise<string> => {
  const { status, body } = await withdraw(ann, address, over);
  expect([status, body.data?.address]).toEqual([201, address]);
  return body.data._id;
};
const rowsOf = (id: string): Promise<unknown[]> =>
  db.query('SELECT hash FROM lightning_payment WHERE withdrawal_id = $1', [id]);

it('is paid to the invoice that the address gives, once', async () => {
  const id = await toAddress();
  expect(await look()).toEqual([]);
  expect(wallet.asked).toEqual([
    'https://wallet.example/.well-known/lnurlp/me',
    'https://wallet.example/pay?user=me&amount=20000000',
  ]);
  await Promise.all([look(), look()]);
  expect(wallet.asked).toHaveLength(2);
  await step(newest());
  await step(newest());
  expect(await shown(ann, id)).toMatchObject({ status: 'completed', txId: newest(), address });
  expect(calls(newest())).toBe(1);
  expect(await found()).toEqual([]);
});

it('is asked for by its entry of the whitelist too, and takes its fee out of the amount', async () => {
  const { wallets } = (await ann.get('/api/v1/whitelist')).body.data;
  const entry = wallets.find((one: { address: string }) => one.address === address);
  const by = { whitelistId: entry.id, address: undefined, feeMode: 'deduct' };
  const { body } = await withdraw(ann, '', by);
  expect(body.data).toMatchObject({ address, netToDestination: '0.000199', networkFee: '0.000001' });
  expect(await look()).toEqual([]);
  await step(newest());
  await step(newest());
  expect(await shown(ann, body.data._id)).toMatchObject({ status: 'completed' });
});

it('takes an invoice that has a text of its own, as a link too', async () => {
  const { text, hash } = anInvoice();
  wallet.answers = { ...usualAnswers, invoice: () => ({ pr: `LIGHTNING:${text.toUpperCase()}` }) };
  const id = await toAddress();
  expect(await look()).toEqual([]);
  expect(await rowsOf(id)).toEqual([{ hash }]);
});

it('is given one invoice, however many ask at once', async () => {
  const id = await toAddress();
  await Promise.all(Array.from({ length: 4 }, () => look()));
  expect(await rowsOf(id)).toHaveLength(1);
});

it('goes to listed addresses alone', async () => {
  expect(codeOf(await withdraw(ann, 'thief@wallet.example')).slice(0, 2)).toEqual([400, 'ADDRESS_NOT_WHITELISTED']);
  expect(await look()).toEqual([]);
});

it.each<[string, Partial<Answers>, RegExp]>([
  ['refuses', { request: { status: 'ERROR', reason: 'no such user' } }, /it refuses/],
  ['is no address', { request: { tag: 'login' } }, /it tells of no way to pay it/],
  ['takes no such amount', { request: { ...payRequest, maxSendable: 1000 } }, /it takes 1 to 1 satoshi/],
  ['names a place inside', { request: { ...payRequest, callback: 'https://127.0.0.1/pay' } }, /./],
  ['names a place without TLS', { request: { ...payRequest, callback: 'http://wallet.elsewhere/pay' } }, /https/i],
  ['gives none', { invoice: () => ({}) }, /it gives no invoice/],
  ['gives nonsense', { invoice: () => ({ pr: 'lnbc1nonsense' }) }, /Not a Lightning invoice/],
  [
    'gives one over more',
    { invoice: () => ({ pr: anInvoice({ satoshi: 30_000, metadata }).text }) },
    /asks for 0.0003/,
  ],
  [
    'gives one of another text',
    { invoice: () => ({ pr: anInvoice({ metadata: 'coffee' }).text }) },
    /its invoice is of another text/,
  ],
])('comes back where the host %s', async (_what, over, why) => {
  wallet.answers = { ...usualAnswers, ...over };
  const id = await toAddress();
  const tries = new Map();
  expect(await look(tries)).toEqual([expect.stringMatching(why)]);
  expect(await rowsOf(id)).toEqual([]);
  for (let n = 0; n < 18; n += 1) await look(tries);
  expect(await shown(ann, id)).toMatchObject({ status: 'pending' });
  await look(tries);
  expect(await shown(ann, id)).toMatchObject({
    ...{ status: 'failed', merchantMessage: expect.stringMatching(/has given no invoice/) },
  });
  expect(await balanceOf(ann)).toMatchObject(untouched);
});

it('asks nobody inside, whatever an address says', async () => {
  const inside = 'me@127.0.0.1';
  expect((await list(ann, inside)).status).toBe(201);
  const { body } = await withdraw(ann, inside);
  expect(await look()).toHaveLength(1);
  expect(wallet.asked).toEqual(['https://127.0.0.1/.well-known/lnurlp/me']);
  expect((await ann.post(`/api/v1/withdrawals/${body.data._id}/cancel`)).status).toBe(200);
});

it('asks for nothing while the money is stopped, and tries nobody in vain meanwhile', async () => {
  const id = await toAddress();
  await db.query(`UPDATE merchant SET held_because = 'asked' , held_at = now() WHERE id = $1`, [ann.merchantId]);
  expect([await look(), wallet.asked]).toEqual([[], []]);
  await db.query('UPDATE merchant SET held_because = NULL, held_at = NULL WHERE id = $1', [ann.merchantId]);
  await freeze(db.manager, 'BTC_LN', 'the node lacks it');
  expect([await look(), wallet.asked]).toEqual([[], []]);
  await unfreeze(db.manager, 'BTC_LN');
  expect(await look()).toEqual([]);
  expect(await rowsOf(id)).toEqual([{ hash: newest() }]);
});

it('is given no invoice by the API, and its own by nobody else', async () => {
  const id = await toAddress();
  const { text, hash } = anInvoice();
  const insert = (as: DataSource, withdrawalId: string, to: string): Promise<unknown> =>
    as.query(
      `INSERT INTO lightning_payment (hash, withdrawal_id, invoice, amount_msat, fee_limit_msat, expires_at)
       VALUES ($1, $2, $3, 20000000, 100000, now() + interval '1 hour')`,
      [to, withdrawalId, text],
    );
  const api = await connectionsTo(urlFor(h.databaseUrl, 'api')).initialize();
  await expect(insert(api, id, hash)).rejects.toMatchObject({ code: 'CP014' });
  await api.destroy();
  const invoiced = await waiting(ann);
  await expect(insert(payments, invoiced.id, hash)).rejects.toMatchObject({ code: 'CP014' });
});

/** As a backup from before its invoice was fetched. */
async function restore(id: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(`SET LOCAL session_replication_role = 'replica'`);
    await tx.query('DELETE FROM lightning_payment WHERE withdrawal_id = $1', [id]);
    await tx.query(`UPDATE withdrawal SET status = 'pending' WHERE id = $1`, [id]);
  });
  await db.query(`INSERT INTO recovery (epoch, reason) SELECT coalesce(max(epoch), 0) + 1, 'restored' FROM recovery`);
  await signer.transaction((tx) => restoreCalled(tx, record));
}

/** Last: from here on all of before is of another time. */
describe('where a backup is restored from before its invoice', () => {
  it.each(['SUCCEEDED', 'lost'] as const)('fetches no second one: the call before was %s', async (end) => {
    const id = await toAddress();
    expect(await look()).toEqual([]);
    const first = newest();
    expect(called.filter(({ ref }) => ref === id)).toEqual([]);
    if (end === 'lost') node.isAway = (path) => path === '/v2/router/send';
    await step(first).catch(() => undefined);
    expect(called.filter(({ ref }) => ref === id)).toMatchObject([{ hash: first }]);
    node.mend();
    await restore(id);
    expect(await rowsOf(id)).toEqual([{ hash: first }]);
    wallet.asked = [];
    expect([await look(), wallet.asked]).toEqual([[], []]);
    expect((await ann.post(`/api/v1/withdrawals/${id}/cancel`)).status).toBe(409);
    await step(first);
    await step(first);
    expect(await shown(ann, id)).toMatchObject({ status: 'completed', txId: first });
    expect(calls(first)).toBe(1);
    expect(await found()).toEqual([]);
  });

  it('fetches one where none was called for, and lets it be cancelled', async () => {
    const [id, other] = [await toAddress({ amount: '0.0001' }), await toAddress({ amount: '0.0001' })];
    await restore(id);
    expect((await ann.post(`/api/v1/withdrawals/${other}/cancel`)).status).toBe(200);
    expect(await look()).toEqual([]);
    await step(newest());
    await step(newest());
    expect(await shown(ann, id)).toMatchObject({ status: 'completed' });
  });

  it('tells of what was called for a withdrawal that is in no backup', async () => {
    const id = 'ab'.repeat(12);
    const { text, hash } = anInvoice();
    const terms = { amountMsat: '20000000', feeLimitMsat: '100000', expiresAt: new Date().toISOString() };
    const alone: CallRecord = {
      ...record,
      since: () => [{ hash, invoice: text, kind: 'withdrawal', ref: id, ...terms }],
    };
    for (let n = 0; n < 2; n += 1) expect(await signer.transaction((tx) => restoreCalled(tx, alone))).toBe(0);
    const incidents = `SELECT details FROM incident WHERE kind = 'hold-gone' AND subject_id = $1`;
    expect(await db.query(incidents, [id])).toEqual([{ details: expect.objectContaining({ paymentHash: hash }) }]);
  });
});
