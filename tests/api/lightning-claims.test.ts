import type { DataSource } from 'typeorm';
import { auditActivities } from '../../activities/audit/audit';
import { hashOf as preimageHash } from '../../chains/lightning/answers';
import { lndHistory } from '../../chains/lightning/history';
import { lndInvoices } from '../../chains/lightning/invoices';
import { lndPayments } from '../../chains/lightning/payments';
import { lndReadings } from '../../chains/lightning/readings';
import { confirmRequest, fileRequest } from '../../commands/operators/requests';
import { resolveByHand } from '../../commands/operators/resolve-incident';
import { newId } from '../../domain/ids';
import { aPaymentWithInvoice, askedMsat, follow, type Offered } from '../activities/lightning-shop';
import { anOperator } from '../operators';
import { connectionsTo, urlFor } from '../setup/postgres';
import { chain, db, h, node, payments, richAnew, step, waiting, withNode } from './lightning-out';

/** What our Lightning node took or paid and no row is for, and money that it took for a payment that waited no more:
 *  operators are told, and two of them say whose it is. With the rights of payments worker and API; the node is a
 *  simulator of lnd's API. */

withNode();
beforeEach(() => node.mend());

/** One look of the payments worker; what its audit says of the node. */
async function look(): Promise<string[]> {
  const { track } = lndPayments(node.login);
  const lightning = {
    ...lndInvoices(node.login, 'regtest'),
    ...lndReadings(node.login, 'regtest'),
    ...{ ...lndHistory(node.login), track },
  };
  const log = { error: () => undefined };
  await auditActivities({ db: payments, adapters: [], lightning, log }).runAudit();
  const [{ violations }] = await db.query<[{ violations: Array<{ what: string; found: string[] }> }]>(
    'SELECT violations FROM audit_run ORDER BY id DESC LIMIT 1',
  );
  return violations.filter(({ what }) => what.includes('Lightning')).flatMap(({ found }) => found);
}
const told = (): Promise<Array<{ id: string; what: string; hash: string; amount: string; memo: string | null }>> =>
  db.query(
    `SELECT id::text AS id, details->>'what' AS what, details->>'hash' AS hash, details->>'amount' AS amount,
            details->>'memo' AS memo FROM incident
      WHERE kind = 'lightning-unknown' AND resolved_at IS NULL ORDER BY id`,
  );
const invoice = { text: 'lnbcrt1', askedMsat, paidMsat: askedMsat, expiryHeight: 0 } as const;
const hashOf = (two: string): string => two.repeat(32);
/** Taken at the node for a hash that no row has. */
const takenFor = (hash: string, memo = ''): void => {
  node.known.set(hash, { ...invoice, state: 'SETTLED', memo });
  node.has.set(hash, invoice.paidMsat);
};

const asApi = async <T>(act: (api: DataSource) => Promise<T>): Promise<T> => {
  const api = await connectionsTo(urlFor(h.databaseUrl, 'api')).initialize();
  try {
    return await act(api);
  } finally {
    await api.destroy();
  }
};
/** Asked for, and confirmed by so many. */
const give = (hash: string, paymentId: string, confirmations = 2): Promise<{ id: string; summary: string }> =>
  asApi(async (api) => {
    const operators = [await anOperator(db), await anOperator(db)];
    const asked = { kind: 'claim-lightning', payload: { hash, paymentId }, reason: 'the merchant has shown it' };
    const { id, summary } = await api.transaction((tx) => fileRequest(tx, operators[0]!.actor, asked));
    for (const one of operators.slice(0, confirmations)) await api.transaction((tx) => confirmRequest(tx, one, id));
    return { id, summary };
  });
const endRequests = (): Promise<unknown> =>
  db.query(`UPDATE operator_request SET state = 'cancelled', ended_at = now() WHERE state = 'open'`);
const balancesOf = async (merchantId: string): Promise<Record<string, string>> => {
  const rows = await db.query<Array<{ kind: string; amount: string }>>(
    `SELECT split_part(account, ':', 2) AS kind, trim_scale(amount)::text AS amount FROM balance
      WHERE account LIKE '%:' || $1 AND asset = 'BTC_LN' AND amount > 0`,
    [merchantId],
  );
  return Object.fromEntries(rows.map(({ kind, amount }) => [kind, amount]));
};

describe('what no row is for', () => {
  it('is not asked about where it was there before the first look', async () => {
    takenFor(hashOf('aa'));
    node.paid.set(hashOf('aa'), { status: 'SUCCEEDED', amountMsat: 1_000n });
    expect([await look(), await told()]).toEqual([[], []]);
    expect(await db.query('SELECT kind, through FROM lightning_mark ORDER BY kind')).toEqual([
      ...[
        { kind: 'invoice', through: '1' },
        { kind: 'payment', through: '1' },
      ],
    ]);
  });

  it('is told to operators once it has moved money, and named by the audit until they have resolved it', async () => {
    takenFor(hashOf('cd'), 'the id of a lost payment');
    for (const [hash, state] of [
      ['ca', 'CANCELED'],
      ['0a', 'OPEN'],
      ['0b', 'OPEN'],
    ] as const)
      node.known.set(hashOf(hash), { ...invoice, state });
    node.paid.set(hashOf('ef'), { status: 'SUCCEEDED', amountMsat: 2_000_000n });
    node.paid.set(hashOf('fa'), { status: 'FAILED', amountMsat: 2_000_000n });
    const late = preimageHash(hashOf('f0'));
    node.preimages.set(late, hashOf('f0'));
    for (const hash of [late, hashOf('f1')]) node.paid.set(hash, { status: 'IN_FLIGHT', amountMsat: 3_000_000n });
    const first = [`invoice ${hashOf('cd')}: 100000000`, `payment ${hashOf('ef')}: 2001234`];
    expect((await look()).sort()).toEqual(first);
    expect((await look()).sort()).toEqual(first);
    expect(await told()).toMatchObject([
      { what: 'taken', hash: hashOf('cd'), amount: '0.001', memo: 'the id of a lost payment' },
      { what: 'paid', hash: hashOf('ef'), amount: '0.00002001', memo: null },
    ]);
    node.known.set(hashOf('0a'), { ...invoice, state: 'SETTLED' });
    node.known.set(hashOf('0b'), { ...invoice, state: 'CANCELED' });
    node.paid.get(late)!.status = 'SUCCEEDED';
    node.paid.get(hashOf('f1'))!.status = 'FAILED';
    node.isAway = () => true;
    expect((await look()).sort()).toEqual(first);
    node.mend();
    const more = [`invoice ${hashOf('0a')}: 100000000`, `payment ${late}: 3001234`];
    expect((await look()).sort()).toEqual([...first, ...more].sort());
    expect(await db.query(`SELECT hash FROM lightning_unknown WHERE state = 'open'`)).toEqual([]);
    const { actor } = await anOperator(db);
    for (const { id, hash } of await told())
      if (hash !== hashOf('cd')) await db.transaction((tx) => resolveByHand(tx, actor, id, 'our own'));
    expect(await look()).toEqual(first.slice(0, 1));
    expect(await told()).toHaveLength(1);
  });

  it('is none of what rows are for, and not what a recovery gives its row back', async () => {
    const ann = await richAnew();
    const { hash } = await waiting(ann);
    await step(hash);
    await step(hash);
    expect(await look()).toEqual([`invoice ${hashOf('cd')}: 100000000`]);
    const known = await db.query('SELECT kind, hash FROM lightning_unknown WHERE hash = $1', [hash]);
    expect(known).toEqual([]);
    // Its row is back only after the node was asked.
    await payments.query(`INSERT INTO lightning_unknown VALUES ('payment', $1, 'done', 1000, '')`, [hash]);
    const details = JSON.stringify({ hash });
    await payments.query(
      `INSERT INTO incident (kind, key, subject_kind, subject_id, details)
       VALUES ('lightning-unknown', 'lightning-unknown/asset/BTC_LN/payment/' || $1, 'asset', 'BTC_LN', $2)`,
      [hash, details],
    );
    await look();
    expect((await told()).map((one) => one.hash)).toEqual([hashOf('cd')]);
  });

  it('goes to the merchant who has shown that it was theirs, by two operators', async () => {
    const [own, other] = [await aPaymentWithInvoice(db, payments), await aPaymentWithInvoice(db, payments)];
    const hash = hashOf('cd');
    const refused = { code: 'ACT_REFUSED' };
    await expect(give('no hash', own.paymentId)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    await expect(give(hash, newId())).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    for (const none of ['ef', 'aa', 'ca', '77'])
      await expect(give(hashOf(none), own.paymentId)).rejects.toMatchObject(refused);
    const { id, summary } = await give(hash, own.paymentId, 1);
    expect(summary).toBe(
      `Give 0.001 BTC_LN that the Lightning node took for ${hash} to merchant ${own.merchantId} (Shop), less ` +
        `commission, for payment ${own.paymentId}`,
    );
    expect(await balancesOf(own.merchantId)).toEqual({});
    for (const request of [id, newId()])
      await expect(
        asApi((api) => api.query('SELECT claim_lightning($1, $2, $3, $4)', [request, hash, own.paymentId, newId()])),
      ).rejects.toMatchObject({ code: 'CP007' });
    await expect(
      asApi((api) =>
        api.query(
          `INSERT INTO lightning_invoice (id, payment_id, currency, asked_msat, expires_at, state, hash, decision, why,
             decided_at, taken_msat, over_at)
           VALUES ($1, $2, 'BTC_LN', 100000000, now(), 'taken', $3, 'take', 'claimed', now(), 100000000, now())`,
          [newId(), own.paymentId, hash],
        ),
      ),
    ).rejects.toMatchObject({ code: 'CP012' });
    const j13 = [{ debit: 'A:lightning', credit: `L:unallocated:${own.merchantId}`, asset: 'BTC_LN', amount: '0.001' }];
    await expect(
      asApi((api) => api.query('SELECT post_journal($1, NULL, $2)', [`lightning/${hash}`, JSON.stringify(j13)])),
    ).rejects.toMatchObject({ code: 'CP014' });
    await endRequests();
    await give(hash, own.paymentId);
    expect(await balancesOf(own.merchantId)).toEqual({ available: '0.000996' });
    expect(await balancesOf(other.merchantId)).toEqual({});
    const entries = await db.query('SELECT type, source_id, tx_id FROM ledger_entry WHERE merchant_id = $1', [
      own.merchantId,
    ]);
    expect(entries).toEqual([{ type: 'payment_credit', source_id: own.paymentId, tx_id: hash }]);
    expect([await look(), await told()]).toEqual([[], []]);
    for (const to of [own.paymentId, other.paymentId, 'owner'])
      await expect(give(hash, to)).rejects.toMatchObject(refused);
    const acts = await db.query(`SELECT merchant_id, target FROM audit_log WHERE action = 'lightning.claimed'`);
    expect(acts).toEqual([{ merchant_id: own.merchantId, target: hash }]);
  });

  it("is the owner's where two operators say so, and nothing is booked", async () => {
    takenFor(hashOf('ce'));
    expect(await look()).toHaveLength(1);
    const { summary } = await give(hashOf('ce'), 'owner');
    expect(summary).toBe(`Give 0.001 BTC_LN that the Lightning node took for ${hashOf('ce')} to the node's owner`);
    expect([await look(), await told()]).toEqual([[], []]);
    expect(await db.query('SELECT FROM journal WHERE key LIKE $1', [`%${hashOf('ce')}`])).toEqual([]);
    await expect(give(hashOf('ce'), 'owner')).rejects.toMatchObject({ code: 'ACT_REFUSED' });
  });
});

describe('what was taken for a payment that waited no more', () => {
  async function unallocated(): Promise<Offered & { hash: string }> {
    const dead = await aPaymentWithInvoice(db, payments);
    await follow({ db, chain, node });
    const [{ hash }] = await db.query<[{ hash: string }]>('SELECT hash FROM lightning_invoice WHERE id = $1', [
      dead.invoiceId,
    ]);
    node.pay(hash, askedMsat);
    node.take(hash);
    await db.query(`UPDATE payment SET status = 'CANCELLED', state_version = state_version + 1 WHERE id = $1`, [
      dead.paymentId,
    ]);
    await follow({ db, chain, node });
    expect(await balancesOf(dead.merchantId)).toEqual({ unallocated: '0.001' });
    return { ...dead, hash };
  }
  const open = (): Promise<unknown> =>
    db.query(`SELECT subject_id FROM incident WHERE kind = 'held-foreign' AND resolved_at IS NULL`);
  /** What the API may post without the act. */
  const posted = (hash: string, postings: readonly object[], entry: object | null): Promise<unknown> =>
    asApi((api) => api.query('SELECT post_journal($1, $2, $3)', [`claimed/${hash}`, entry, JSON.stringify(postings)]));

  it('goes to its merchant, less commission', async () => {
    const { hash, paymentId, merchantId } = await unallocated();
    expect(await open()).toEqual([{ subject_id: paymentId }]);
    const other = await aPaymentWithInvoice(db, payments);
    await expect(give(hash, other.paymentId)).rejects.toMatchObject({
      ...{ code: 'ACT_REFUSED', message: expect.stringContaining(`is one of payment ${paymentId}`) },
    });
    const posting = { debit: `L:unallocated:${merchantId}`, asset: 'BTC_LN' };
    const entry = { type: 'payment_credit', sourceType: 'payment', sourceId: paymentId };
    const whole = [{ ...posting, credit: `L:available:${merchantId}`, amount: '0.001' }];
    await expect(posted(hash, whole, entry)).rejects.toMatchObject({ code: 'CP014' });
    await give(hash, paymentId, 1);
    await expect(posted(hash, whole, entry)).rejects.toMatchObject({ code: 'CP014' });
    await endRequests();
    await give(hash, paymentId);
    expect(await balancesOf(merchantId)).toEqual({ available: '0.000996' });
    expect([await open(), await look()]).toEqual([[], []]);
    await expect(give(hash, paymentId)).rejects.toMatchObject({ code: 'ACT_REFUSED' });
    await expect(give(hash, 'owner')).rejects.toMatchObject({ code: 'ACT_REFUSED' });
  });

  it("is the node owner's where two operators say so", async () => {
    const { hash, merchantId } = await unallocated();
    const capital = [
      { debit: `L:unallocated:${merchantId}`, credit: 'Q:capital', asset: 'BTC_LN', amount: '0.001' },
    ] as const;
    await expect(posted(hash, capital, null)).rejects.toMatchObject({ code: 'CP014' });
    await give(hash, 'owner');
    expect(await balancesOf(merchantId)).toEqual({});
    expect([await open(), await look()]).toEqual([[], []]);
  });
});

describe('whoever tries what', () => {
  const taken = (two: string): string => `invoice ${hashOf(two)}: 100000000`;
  const resolved = async (...hashes: string[]): Promise<void> => {
    const { actor } = await anOperator(db);
    for (const { id, hash } of await told())
      if (hashes.includes(hash)) await db.transaction((tx) => resolveByHand(tx, actor, id, 'looked into'));
  };

  it('no operator alone gives it to the owner of the node: two may say later whose it is', async () => {
    const own = await aPaymentWithInvoice(db, payments);
    takenFor(hashOf('d1'));
    expect(await look()).toEqual([taken('d1')]);
    await resolved(hashOf('d1'));
    expect(await look()).toEqual([]);
    await give(hashOf('d1'), own.paymentId);
    expect(await balancesOf(own.merchantId)).toEqual({ available: '0.000996' });
    await expect(give(hashOf('d1'), 'owner')).rejects.toMatchObject({ code: 'ACT_REFUSED' });
  });

  it('it is given away once, also where the node has paid the same hash to itself', async () => {
    const own = await aPaymentWithInvoice(db, payments);
    takenFor(hashOf('d2'));
    node.paid.set(hashOf('d2'), { status: 'SUCCEEDED', amountMsat: 100_000_000n });
    expect(await look()).toHaveLength(2);
    await give(hashOf('d2'), 'owner');
    expect(await look()).toEqual([`payment ${hashOf('d2')}: 100001234`]);
    await expect(give(hashOf('d2'), own.paymentId)).rejects.toMatchObject({ code: 'ACT_REFUSED' });
    expect(await balancesOf(own.merchantId)).toEqual({});
    await resolved(hashOf('d2'));
  });

  it('it is what two operators have confirmed, whatever the payments worker writes meanwhile', async () => {
    const own = await aPaymentWithInvoice(db, payments);
    takenFor(hashOf('d3'));
    await look();
    const write = (msat: number): Promise<unknown> =>
      payments.query('UPDATE lightning_unknown SET msat = $2 WHERE hash = $1', [hashOf('d3'), msat]);
    const { id } = await give(hashOf('d3'), own.paymentId, 1);
    const second = await anOperator(db);
    await write(900_000_000);
    await expect(asApi((api) => api.transaction((tx) => confirmRequest(tx, second, id)))).rejects.toMatchObject({
      ...{ code: 'ACT_REFUSED', message: expect.stringContaining('0.009') },
    });
    // Nor does the API with both of their words.
    await expect(
      asApi((api) =>
        api.transaction(async (tx) => {
          await tx.query(
            `INSERT INTO operator_confirmation (request_id, user_id, session_id, user_name) VALUES ($1, $2, $3, 'two')`,
            [id, second.userId, second.sessionId],
          );
          await tx.query('SELECT claim_lightning($1, $2, $3, $4)', [id, hashOf('d3'), own.paymentId, newId()]);
        }),
      ),
    ).rejects.toMatchObject({ code: 'CP007' });
    await write(100_000_000);
    await asApi((api) => api.transaction((tx) => confirmRequest(tx, second, id)));
    expect(await balancesOf(own.merchantId)).toEqual({ available: '0.000996' });
  });

  it('the audit goes on, whatever the text of an invoice is cut into', async () => {
    const memo = `${'x'.repeat(199)}\u{1f4b0}`;
    takenFor(hashOf('d4'), memo);
    expect(await look()).toEqual([taken('d4')]);
    expect(await told()).toMatchObject([{ hash: hashOf('d4'), memo: `${'x'.repeat(199)}\ufffd` }]);
    await resolved(hashOf('d4'));
  });

  it('it is followed behind many that stay open, and behind one that the node says nothing of', async () => {
    const others = Array.from({ length: 200 }, (_, n) => n.toString(16).padStart(64, '0'));
    for (const hash of [...others, hashOf('d5')]) node.known.set(hash, { ...invoice, state: 'OPEN' });
    expect(await look()).toEqual([]);
    await db.query(`UPDATE lightning_unknown SET found_at = now() + interval '1 minute' WHERE hash = $1`, [
      hashOf('d5'),
    ]);
    node.known.get(hashOf('d5'))!.state = 'SETTLED';
    takenFor(hashOf('d6'));
    node.isAway = (path) => path.includes(others[0]!);
    for (let looks = 0; looks < 2; looks += 1) await look();
    expect((await look()).sort()).toEqual([taken('d5'), taken('d6')]);
    node.mend();
    await resolved(hashOf('d5'), hashOf('d6'));
  });

  it('it is found after the node has lost its memory, and counts from the beginning', async () => {
    node.known.clear();
    node.paid.clear();
    await look();
    takenFor(hashOf('d7'));
    await look();
    expect(await told()).toMatchObject([{ what: 'taken', hash: hashOf('d7') }]);
  });
});
