import { freeze, unfreeze } from '../../db/limits/outbound';
import { awaitInvoices, openPayments } from '../../db/lightning/payments';
import { payoutLine } from '../../txmanager/kinds/payout-line';
import { planPending } from '../../txmanager/kinds/payouts';
import { unguarded } from '../unguarded';
import { address, look, metadata, newest, usualAnswers, wallet } from './lightning-host';
import {
  anInvoice,
  balanceOf,
  calls,
  currency,
  db,
  earned,
  expire,
  found,
  h,
  list,
  node,
  payee,
  payments,
  record,
  rich,
  signer,
  step,
  usual,
} from './lightning-out';
import {
  ann,
  approve,
  become,
  cancel,
  check,
  invoicesOf,
  lessOne,
  linesOf,
  lineTo,
  other,
  queue,
  shown,
  statusesOf,
  unapprove,
  untouched,
  waiting,
  withPayer,
  type Line,
} from './lightning-payout';

/** Lines of mass payouts that are paid by Lightning: to addresses of the whitelist, an invoice for each line. */

withPayer();
const lessTwo = '0.000596';

const eventsOf = async (id: string): Promise<string[]> =>
  (
    await db.query<Array<{ type: string }>>(
      `SELECT type FROM event WHERE entity_id = $1 OR entity_id IN (SELECT id FROM payout_leg WHERE batch_id = $1)
        ORDER BY seq`,
      [id],
    )
  ).map(({ type }) => type.replace('mass_payout.', ''));

describe('what is asked for', () => {
  it('is checked as it will be queued, with what the way may take as its fee', async () => {
    const checked = await check([lineTo('Me@Wallet.Example'), lineTo(other, '0.0003')]);
    expect(checked).toMatchObject({
      ...{ canSubmit: true, reasons: [], balanceByCurrency: { BTC_LN: earned } },
      ...{ totalsByCurrency: { BTC_LN: '0.0005' }, feeByCurrency: { BTC_LN: '0.0000025' } },
      rows: [{ networkFee: 0.000001, netToDestination: 0.000199, valid: true }, { networkFee: 0.0000015 }],
    });
  });

  it.each<[string, object, RegExp]>([
    ['an address that is not listed', lineTo('thief@wallet.example'), /not on the withdrawal whitelist/],
    ['an invoice', lineTo('lnbcrt200u1invoice'), /pays Lightning addresses of the whitelist alone/],
    ['a node', lineTo(payee), /pays Lightning addresses of the whitelist alone/],
    ['a tag', { ...lineTo(), destinationTag: '7' }, /has no destination tags/],
    ['dust', lineTo(address, '0.000001'), /less than 0.000001 is left/],
  ])('is refused for %s', async (_what, row, why) => {
    const { rows, canSubmit } = await check([row]);
    expect([rows[0].error, canSubmit]).toEqual([expect.stringMatching(why), false]);
    const refused = await ann.post('/api/v1/mass-payouts', { rows: [row], totpCode: await ann.code() });
    expect([refused.status, refused.body.error.code]).toEqual([400, 'BATCH_INVALID']);
    expect(await balanceOf(ann)).toMatchObject(untouched);
  });

  it('is refused above the balance', async () => {
    expect((await check([lineTo(), lineTo(other, '0.0009')])).overBalanceCurrencies).toEqual([currency]);
  });

  it('is read from a file', async () => {
    const text = `currency,address,amount\nBTC_LN,${address},0.0002\n`;
    const Cookie = [...ann.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { 'Content-Type': 'text/csv', Origin: 'http://localhost:3002', Cookie };
    const { body } = await h.call('POST', '/api/v1/mass-payouts/import', { text, headers });
    expect(body.data.rows).toEqual([lineTo()]);
  });
});

it('is paid, each line once to an invoice of its own, and booked by the word of the node', async () => {
  const id = await queue([lineTo(), lineTo(other)]);
  expect(await balanceOf(ann)).toMatchObject({ balance: lessTwo, reserved: '0.0004' });
  expect(await look()).toEqual([]);
  await Promise.all([look(), look()]);
  expect(wallet.asked.filter((url) => url.includes('amount=19900000'))).toHaveLength(2);
  const [first, second] = wallet.given as [string, string];
  node.nextEnd = 'IN_FLIGHT';
  expect(await step(first)).toBeNull();
  expect(await shown(id)).toMatchObject({ status: 'processing', counts: { processing: 1, pending: 1 } });
  node.paid.get(first)!.status = 'SUCCEEDED';
  node.nextEnd = 'SUCCEEDED';
  for (const hash of [second, first, second, first]) await step(hash);
  const { status, legs } = await shown(id);
  expect([status, new Set(legs.map((line) => line.txId))]).toEqual(['completed', new Set([first, second])]);
  expect(await balanceOf(ann)).toMatchObject({ balance: lessTwo, reserved: '0' });
  expect([calls(first), calls(second)]).toEqual([1, 1]);
  expect(await eventsOf(id)).toEqual([
    ...['created', 'processing', 'leg_completed', 'broadcast', 'leg_completed', 'completed'],
  ]);
  const paidFor = legs.find(({ txId }) => txId === first)!._id;
  expect(
    await db.query(
      `SELECT credit, trim_scale(amount)::text AS amount FROM posting
        WHERE journal_id = (SELECT id FROM journal WHERE key = $1) ORDER BY id`,
      [`hold/leg/${paidFor}/end`],
    ),
  ).toEqual([
    { credit: 'A:lightning', amount: '0.000199' },
    { credit: 'I:network', amount: '0.000001' },
    { credit: 'A:lightning', amount: '0.00000002' },
  ]);
  expect(await found()).toEqual([]);
});

it('is queued once for its key', async () => {
  const key = { idempotencyKey: 'by-lightning-once' };
  expect(await queue([lineTo()], key)).toBe(await queue([lineTo()], key));
  expect(await balanceOf(ann)).toMatchObject({ balance: lessOne });
});

it('has no workflow, and nothing of it is planned on a chain', async () => {
  const { id } = await waiting();
  expect(await db.query('SELECT FROM temporal_request WHERE workflow_id = $1', [`payout-batch/${id}`])).toEqual([]);
  expect(await db.transaction((tx) => planPending(tx, id))).toBeNull();
  expect(await db.query('SELECT FROM intent WHERE owner_id = $1', [id])).toEqual([]);
  await unguarded(db, (tx) => tx.query(`UPDATE payout_batch SET updated_at = now() - interval '1 day'`));
  const { sql } = payoutLine.openRows[0]!;
  expect((await db.query<Array<{ id: string }>>(sql)).map((row) => row.id)).not.toContain(id);
});

it('waits for its approval before any host is asked', async () => {
  const id = await queue([lineTo()]);
  await unapprove(id);
  expect([await look(), wallet.asked]).toEqual([[], []]);
  await approve(id);
  expect(await look()).toEqual([]);
  await step(newest());
  await step(newest());
  expect(await statusesOf(id)).toEqual(['completed']);
});

it('takes turns with other merchants, and asks nobody while money is stopped', async () => {
  const id = await queue([lineTo(), lineTo(), lineTo()]);
  const before = ann;
  become(await rich());
  await list(ann, address);
  const late = await queue([lineTo()]);
  const [{ _id: mine }] = (await linesOf(late)) as [Line];
  become(before);
  const refs = (await awaitInvoices(payments)).map(({ ref }) => ref);
  const first = (await linesOf(id)).map(({ _id }) => _id);
  expect(refs.indexOf(mine)).toBeLessThan(refs.indexOf(first[1]!));
  await freeze(db.manager, currency, 'the node lacks it');
  expect([await look(), wallet.asked]).toEqual([[], []]);
  await unfreeze(db.manager, currency);
  expect((await cancel(id)).body.data).toMatchObject({ refundedLegs: 3, refundedByCurrency: { BTC_LN: '0.0006' } });
});

describe('what goes wrong', () => {
  it.each([
    ['a lost answer', 'loses'],
    ['a call that has not arrived', 'isAway'],
  ] as const)('is paid once after %s', async (_what, how) => {
    const { id, hash } = await waiting();
    node[how] = (path) => path === '/v2/router/send';
    await expect(step(hash)).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
    expect(await statusesOf(id)).toEqual(['processing']);
    node.mend();
    await step(hash);
    await step(hash);
    expect([await statusesOf(id), calls(hash)]).toEqual([['completed'], 1]);
    expect(await found()).toEqual([]);
  });

  it('is paid once, however many look at once', async () => {
    const { id, hash } = await waiting();
    await Promise.all(Array.from({ length: 5 }, () => step(hash)));
    await Promise.all(Array.from({ length: 5 }, () => step(hash)));
    expect([await statusesOf(id), calls(hash)]).toEqual([['completed'], 1]);
    expect(await balanceOf(ann)).toMatchObject({ balance: lessOne, reserved: '0' });
  });

  it('is not called for what could not be written down', async () => {
    const { id, hash } = await waiting();
    const kept = jest.spyOn(record, 'keep').mockRejectedValueOnce(new Error('the disk is full'));
    await expect(step(hash)).rejects.toThrow('the disk is full');
    kept.mockRestore();
    expect([await statusesOf(id), calls(hash)]).toEqual([['pending'], 0]);
    await step(hash);
    await step(hash);
    expect([await statusesOf(id), calls(hash)]).toEqual([['completed'], 1]);
  });

  it('comes back where no way was found, and the others are paid', async () => {
    const id = await queue([lineTo(), lineTo(other)]);
    expect(await look()).toEqual([]);
    const [first, second] = wallet.given as [string, string];
    node.nextEnd = 'FAILED';
    for (let n = 0; n < 4; n += 1) await step(first);
    node.nextEnd = 'SUCCEEDED';
    await step(second);
    await step(second);
    const { status, legs, counts } = await shown(id);
    expect([status, counts]).toMatchObject(['partially_completed', { failed: 1, completed: 1 }]);
    const merchantMessage: unknown = expect.stringMatching(/nothing has left/);
    expect(legs).toContainEqual(expect.objectContaining({ status: 'failed', txId: null, merchantMessage }));
    expect(await balanceOf(ann)).toMatchObject({ balance: lessOne, reserved: '0' });
    expect(await eventsOf(id)).toEqual([
      'created',
      'processing',
      'leg_failed',
      'broadcast',
      'leg_completed',
      'completed',
    ]);
    expect(await found()).toEqual([]);
  });

  it('comes back where its host gives no invoice, and no longer counts against the limits', async () => {
    wallet.answers = { ...usualAnswers, invoice: () => ({}) };
    const id = await queue([lineTo()]);
    const tries = new Map();
    for (let n = 0; n < 20; n += 1) expect(await look(tries)).toEqual(['it gives no invoice']);
    const merchantMessage: unknown = expect.stringMatching(/has given no invoice/);
    expect(await shown(id)).toMatchObject({ status: 'failed', legs: [{ status: 'failed', merchantMessage }] });
    expect(await balanceOf(ann)).toMatchObject(untouched);
    expect(await db.query('SELECT released_at IS NULL AS counts FROM egress_admission WHERE ref = $1', [id])).toEqual([
      { counts: false },
    ]);
    expect(await found()).toEqual([]);
  });

  it.each<[string, () => object, RegExp]>([
    ['of more', () => ({ pr: anInvoice({ satoshi: 20_000, metadata }).text }), /asks for 0.0002 BTC/],
    ['of another text', () => ({ pr: anInvoice({ satoshi: 19_900, metadata: 'coffee' }).text }), /of another text/],
    ['that expires', () => ({ pr: anInvoice({ satoshi: 19_900, metadata, expiry: 60 }).text }), /expires too soon/],
  ])('takes no invoice %s', async (_what, invoice, why) => {
    wallet.answers = { ...usualAnswers, invoice };
    const id = await queue([lineTo()]);
    expect(await look()).toEqual([expect.stringMatching(why)]);
    expect(await invoicesOf((await linesOf(id))[0]!._id)).toEqual([]);
    expect((await cancel(id)).status).toBe(200);
  });

  it('pays one invoice that is given for two lines once', async () => {
    const { text, hash } = anInvoice({ satoshi: 19_900, metadata });
    wallet.answers = { ...usualAnswers, invoice: () => ({ pr: text }) };
    const id = await queue([lineTo(), lineTo(other)]);
    const tries = new Map();
    for (let n = 0; n < 21; n += 1) await look(tries);
    await step(hash);
    await step(hash);
    expect((await statusesOf(id)).toSorted()).toEqual(['completed', 'failed']);
    expect(await shown(id)).toMatchObject({ status: 'partially_completed' });
    expect([calls(hash), await balanceOf(ann)]).toMatchObject([1, { balance: lessOne, reserved: '0' }]);
    expect(await found()).toEqual([]);
  });

  it('ends with the listing of its address', async () => {
    const { id, hash } = await waiting();
    const { wallets } = (await ann.get('/api/v1/whitelist')).body.data;
    const entry = wallets.find((one: { address: string }) => one.address === address);
    await ann.post(`/api/v1/whitelist/${entry.id}/delete`, { totpCode: await ann.code() });
    await step(hash);
    const merchantMessage = 'The address is no longer on the withdrawal whitelist';
    expect(await linesOf(id)).toMatchObject([{ status: 'failed', merchantMessage }]);
    expect([calls(hash), await balanceOf(ann)]).toMatchObject([0, untouched]);
    expect(await found()).toEqual([]);
  });

  it('waits for the cap of new destinations, by the node that is paid, and ends with its invoice', async () => {
    const { id, hash } = await waiting();
    await unguarded(db, (tx) => tx.query('DELETE FROM signer.destination'));
    const tight = { ...usual, dailyCaps: { [currency]: '0.0001' } };
    expect(await step(hash, tight)).toMatch(/above the cap/);
    expect(await statusesOf(id)).toEqual(['pending']);
    await expire(hash);
    await step(hash, tight);
    expect([await statusesOf(id), calls(hash)]).toEqual([['failed'], 0]);
    expect(await balanceOf(ann)).toMatchObject(untouched);
  });
});

describe('while it is cancelled', () => {
  it('is paid no more, with its invoice or without', async () => {
    const id = await queue([lineTo(), lineTo(other)]);
    expect(await look()).toEqual([]);
    const [first, second] = wallet.given as [string, string];
    node.nextEnd = 'IN_FLIGHT';
    await step(first);
    expect((await cancel(id)).body.data).toMatchObject({ refundedLegs: 1, sentLegs: 1 });
    expect(await openPayments(signer)).not.toContainEqual(expect.objectContaining({ hash: second }));
    await expect(step(second)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
    expect(calls(second)).toBe(0);
    node.paid.get(first)!.status = 'SUCCEEDED';
    await step(first);
    expect((await statusesOf(id)).toSorted()).toEqual(['completed', 'refunded']);
    expect(await balanceOf(ann)).toMatchObject({ balance: lessOne, reserved: '0' });
    expect(await found()).toEqual([]);
  });

  it('ends in one of both ways, where the signer looks at once', async () => {
    const { id, hash } = await waiting();
    const [, { status }] = await Promise.all([step(hash).catch(() => null), cancel(id)]);
    await step(hash).catch(() => null);
    const isCancelled = status === 200;
    expect([await statusesOf(id), calls(hash)]).toEqual(isCancelled ? [['refunded'], 0] : [['completed'], 1]);
    expect(await balanceOf(ann)).toMatchObject(isCancelled ? untouched : { balance: lessOne, reserved: '0' });
    expect(await found()).toEqual([]);
  });
});
