import { randomBytes } from 'node:crypto';
import type { DataSource, EntityManager } from 'typeorm';
import { emitEvent } from '../../db/webhooks/events';
import {
  balances,
  ensure,
  captureOrRelease,
  ensureAllocation,
  reverseAllocation,
  post,
  reverse,
  reopenHold,
} from '../../db/ledger/ledger';
import { claimRequests, completeRequests, postponeRequest, requestStart } from '../../db/temporal/temporal-requests';
import { newId } from '../../domain/ids';
import {
  available,
  depositJournal,
  depositKey,
  captureJournal,
  holdJournal,
  releaseJournal,
  settleJournal,
  unsettled,
  type Journal,
} from '../../domain/ledger/ledger';
import { adjustment } from '../../domain/ledger/entry';
import { connectionsTo, freshDatabase } from '../setup/postgres';
import { unguarded } from '../unguarded';
import { insertMerchant } from '../merchant-row';

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;

beforeAll(async () => {
  database = await freshDatabase();
  // A hundred at once wait for ten connections.
  db = connectionsTo(database.url);
  await db.initialize();
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

const inTx = <T>(act: (tx: EntityManager) => Promise<T>): Promise<T> => db.transaction(act);
const newTxId = (): string => randomBytes(32).toString('hex');
const deposited = (merchantId: string, amount = '1', txId = newTxId()): Journal =>
  depositJournal({ network: 'bitcoin', txId, index: 0, currency: 'BTC', amount, merchantId });
const settled = (merchantId: string, net: string): Journal =>
  settleJournal({ paymentId: newId(), merchantId, currency: 'BTC', net, commission: '0', network: '0' });
const inUnsettled = async (merchantId: string): Promise<string> =>
  (await balances(db, merchantId)).find((row) => row.kind === 'unsettled')?.amount ?? '0';
const countJournals = async (key: string): Promise<number> => {
  const [row] = await db.query<Array<{ n: number }>>(
    `WITH RECURSIVE chain AS (SELECT id FROM journal WHERE key = $1
       UNION ALL SELECT j.id FROM journal j JOIN chain c ON j.reverses = c.id) SELECT count(*)::int AS n FROM chain`,
    [key],
  );
  return row!.n;
};

async function newMerchant(): Promise<string> {
  const id = newId();
  await insertMerchant(db, id);
  return id;
}
async function newPayment(merchantId: string, status: string): Promise<string> {
  const id = newId();
  await unguarded(db, (tx) =>
    tx.query(
      `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
         tolerance_pct, underpaid_policy,
       expires_at, expires_in) VALUES ($1, $2, $3, $4, 'api', 10, 'USD', 'merchant', 40, 1, 'hold',
         now() + interval '1 hour', 3600)`,
      [id, merchantId, id, status],
    ),
  );
  return id;
}

/** What the balance rows would be if they were made anew from every posting there is. */
async function expectBooksToAgree(): Promise<void> {
  const replayed = await db.query(
    `SELECT account, asset, trim_scale(sum(delta))::text AS amount FROM (
       SELECT debit AS account, asset, -amount AS delta FROM posting UNION ALL SELECT credit, asset, amount
         FROM posting) moved
      WHERE account LIKE 'L:%' GROUP BY account, asset HAVING sum(delta) <> 0 ORDER BY account, asset`,
  );
  const kept = await db.query(
    `SELECT account, asset, trim_scale(amount)::text AS amount FROM balance WHERE amount <> 0 ORDER BY account, asset`,
  );
  expect(kept).toEqual(replayed);
}
afterEach(expectBooksToAgree);

describe('journals', () => {
  it.each(['journal', 'posting'])('are for ever: %s takes no change', async (table) => {
    await inTx((tx) => post(tx, deposited(newId())));
    const count = async () => (await db.query(`SELECT count(*)::int AS n FROM ${table}`)) as unknown;
    const before = await count();
    for (const change of [
      table === 'journal' ? `UPDATE journal SET details = '{"a":1}'` : 'UPDATE posting SET amount = amount + 1',
      `DELETE FROM ${table}`,
      `DELETE FROM ${table} WHERE false`,
      `TRUNCATE ${table} CASCADE`,
    ]) {
      await expect(db.query(change)).rejects.toMatchObject({ code: 'CP001' });
    }
    expect(await count()).toEqual(before);
  });

  it('are posted once per key', async () => {
    const merchantId = newId();
    const journal = deposited(merchantId, '0.5');
    const id = await inTx((tx) => post(tx, journal));
    expect(await inTx((tx) => post(tx, journal))).toBe(id);
    const many = await Promise.all(Array.from({ length: 20 }, () => inTx((tx) => post(tx, journal))));
    expect(new Set(many)).toEqual(new Set([id]));
    expect(await inUnsettled(merchantId)).toBe('0.5');
  });

  it('are posted once per key by whoever comes first of many', async () => {
    const merchantId = newId();
    const journal = deposited(merchantId, '0.25');
    const many = await Promise.all(Array.from({ length: 20 }, () => inTx((tx) => post(tx, journal))));
    expect(new Set(many).size).toBe(1);
    expect(await inUnsettled(merchantId)).toBe('0.25');
  });

  it('never get other content under the same key', async () => {
    const merchantId = newId();
    const txId = newTxId();
    await inTx((tx) => post(tx, deposited(merchantId, '1', txId)));
    for (const other of [deposited(merchantId, '2', txId), deposited(newId(), '1', txId)])
      await expect(inTx((tx) => post(tx, other))).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' });
    expect(await inUnsettled(merchantId)).toBe('1');
  });

  it('keep their key free where the transaction is rolled back', async () => {
    const merchantId = newId();
    const txId = newTxId();
    await expect(
      inTx(async (tx) => {
        await post(tx, deposited(merchantId, '1', txId));
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await inUnsettled(merchantId)).toBe('0');
    await inTx((tx) => post(tx, deposited(merchantId, '2', txId)));
    expect(await inUnsettled(merchantId)).toBe('2');
  });

  it('hold at least one posting', async () => {
    await expect(inTx((tx) => post(tx, { key: newId(), entry: adjustment, postings: [] }))).rejects.toMatchObject({
      code: 'CP002',
    });
  });

  it('refuse amounts that are not positive and postings from an account to itself, whole', async () => {
    const merchantId = newId();
    const fine = deposited(merchantId).postings[0]!;
    for (const wrong of [
      { ...fine, amount: '0' },
      { ...fine, amount: '-1' },
      { ...fine, debit: fine.credit },
    ])
      await expect(
        inTx((tx) => post(tx, { key: newId(), entry: adjustment, postings: [fine, wrong] })),
      ).rejects.toMatchObject({
        code: '23514',
      });
    expect(await balances(db, merchantId)).toEqual([]);
  });

  it('keep every digit of the largest amounts', async () => {
    const merchantId = newId();
    const huge = `${'9'.repeat(30)}.${'9'.repeat(18)}`;
    const asset = 'ETH';
    const journal = {
      key: newId(),
      entry: adjustment,
      postings: [{ debit: 'A:deposit', credit: available(merchantId), asset, amount: huge }] as const,
    };
    await inTx((tx) => post(tx, journal));
    expect(await balances(db, merchantId)).toEqual([{ kind: 'available', asset: 'ETH', amount: huge }]);
    await inTx((tx) => reverse(tx, journal.key));
    expect(await balances(db, merchantId)).toEqual([{ kind: 'available', asset: 'ETH', amount: '0' }]);
  });
});

describe('balances', () => {
  it('never fall below zero', async () => {
    const merchantId = newId();
    await expect(inTx((tx) => post(tx, settled(merchantId, '1')))).rejects.toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
    });
    await inTx((tx) => post(tx, deposited(merchantId, '1')));
    await expect(inTx((tx) => post(tx, settled(merchantId, '1.00000001')))).rejects.toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
    });
    expect(await balances(db, merchantId)).toEqual([{ kind: 'unsettled', asset: 'BTC', amount: '1' }]);
    await inTx((tx) => post(tx, settled(merchantId, '1')));
    expect(await balances(db, merchantId)).toEqual([
      { kind: 'available', asset: 'BTC', amount: '1' },
      { kind: 'unsettled', asset: 'BTC', amount: '0' },
    ]);
  });

  it('let exactly as many of a hundred spend at once as there is money for', async () => {
    const merchantId = newId();
    await inTx((tx) => post(tx, deposited(merchantId, '50')));
    const spends = await Promise.allSettled(
      Array.from({ length: 100 }, () => inTx((tx) => post(tx, settled(merchantId, '1')))),
    );
    expect(spends.filter((spend) => spend.status === 'fulfilled')).toHaveLength(50);
    for (const spend of spends)
      if (spend.status === 'rejected') expect(spend.reason).toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
    expect(await balances(db, merchantId)).toEqual([
      { kind: 'available', asset: 'BTC', amount: '50' },
      { kind: 'unsettled', asset: 'BTC', amount: '0' },
    ]);
  });

  it('survive journals that touch the same accounts in every order at once', async () => {
    const merchants = Array.from({ length: 6 }, newId);
    for (const merchantId of merchants) await inTx((tx) => post(tx, deposited(merchantId, '100')));
    await Promise.all(
      Array.from({ length: 60 }, (_, n) => {
        const ring = [...merchants.slice(n % 6), ...merchants.slice(0, n % 6)];
        const order = n % 2 ? ring : ring.reverse();
        const postings = order.slice(1).map((merchantId, index) => ({
          debit: unsettled(order[index]!),
          credit: unsettled(merchantId),
          asset: 'BTC' as const,
          amount: String(index + 1),
        }));
        return inTx((tx) => post(tx, { key: newId(), entry: adjustment, postings }));
      }),
    );
  });
});

describe('reverse and ensure', () => {
  it('alternate, each safe to repeat', async () => {
    const merchantId = newId();
    const journal = deposited(merchantId, '0.3');
    await inTx((tx) => reverse(tx, journal.key)); // nothing there yet
    expect(await countJournals(journal.key)).toBe(0);
    for (let round = 0; round < 4; round++) {
      for (let repeat = 0; repeat < 3; repeat++) {
        await inTx((tx) => ensure(tx, journal));
        expect(await inUnsettled(merchantId)).toBe('0.3');
      }
      for (let repeat = 0; repeat < 3; repeat++) {
        await inTx((tx) => reverse(tx, journal.key));
        expect(await inUnsettled(merchantId)).toBe('0');
      }
    }
    expect(await countJournals(journal.key)).toBe(8);
  });

  it('end where the last one wants it, however many run under the lock of their entity', async () => {
    const merchantId = newId();
    const journal = deposited(merchantId, '0.7');
    const locked = (act: (tx: EntityManager) => Promise<void>) =>
      inTx(async (tx) => {
        await tx.query('SELECT pg_advisory_xact_lock(hashtext($1))', [journal.key]);
        await act(tx);
      });
    await Promise.all(
      Array.from({ length: 40 }, (_, n) => locked((tx) => (n % 2 ? reverse(tx, journal.key) : ensure(tx, journal)))),
    );
    const steps = await countJournals(journal.key);
    expect(await inUnsettled(merchantId)).toBe(steps % 2 ? '0.7' : '0');
    await Promise.all(Array.from({ length: 10 }, () => locked((tx) => ensure(tx, journal))));
    expect(await inUnsettled(merchantId)).toBe('0.7');
    await Promise.all(Array.from({ length: 10 }, () => locked((tx) => reverse(tx, journal.key))));
    expect(await inUnsettled(merchantId)).toBe('0');
  });

  it('count once even where nobody holds a lock', async () => {
    const merchantId = newId();
    const journal = deposited(merchantId, '0.9');
    await Promise.all(Array.from({ length: 20 }, () => inTx((tx) => ensure(tx, journal))));
    expect(await inUnsettled(merchantId)).toBe('0.9');
    const reversals = await Promise.allSettled(
      Array.from({ length: 20 }, () => inTx((tx) => reverse(tx, journal.key))),
    );
    for (const reversal of reversals)
      if (reversal.status === 'rejected') expect(reversal.reason).toMatchObject({ code: '23505' });
    expect(await inUnsettled(merchantId)).toBe('0');
    expect(await countJournals(journal.key)).toBe(2);
  });

  it('put back exactly what was reversed, all postings of it', async () => {
    const merchantId = newId();
    const paymentId = newId();
    const parts = { net: '0.98765432', commission: '0.01234567', network: '0.00000001' };
    const settle = settleJournal({ paymentId, merchantId, currency: 'BTC', ...parts });
    await inTx((tx) => post(tx, deposited(merchantId, '1')));
    await inTx((tx) => post(tx, settle));
    await inTx((tx) => reverse(tx, settle.key));
    expect(await inUnsettled(merchantId)).toBe('1');
    await inTx((tx) => ensure(tx, settle));
    expect(await balances(db, merchantId)).toEqual([
      { kind: 'available', asset: 'BTC', amount: parts.net },
      { kind: 'unsettled', asset: 'BTC', amount: '0' },
    ]);
  });

  it('refuse to take back what was spent', async () => {
    const merchantId = newId();
    const journal = deposited(merchantId, '1');
    await inTx((tx) => post(tx, journal));
    await inTx((tx) => post(tx, settled(merchantId, '0.6')));
    await expect(inTx((tx) => reverse(tx, journal.key))).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
    expect(await inUnsettled(merchantId)).toBe('0.4');
  });

  it('refuse to put back anything but what was reversed', async () => {
    const merchantId = newId();
    const journal = deposited(merchantId, '1');
    await inTx((tx) => post(tx, journal));
    await inTx((tx) => reverse(tx, journal.key));
    const [posting] = journal.postings;
    for (const postings of [[{ ...posting!, amount: '2' }], [{ ...posting!, credit: available(merchantId) }], []])
      await expect(inTx((tx) => ensure(tx, { ...journal, postings }))).rejects.toMatchObject({
        code: 'JOURNAL_CONFLICT',
      });
    expect(await inUnsettled(merchantId)).toBe('0');
    await inTx((tx) => ensure(tx, { ...journal, postings: [{ ...posting!, amount: '1.000' }] }));
    expect(await inUnsettled(merchantId)).toBe('1');
  });

  it('has its capture or its release in force, never both', async () => {
    const merchantId = await newMerchant();
    const hold = { kind: 'withdrawal', id: newId(), merchantId, currency: 'BTC', gross: '1' } as const;
    const arrived = captureJournal({ ...hold, net: '0.9', native: 'BTC', chainFee: '0.01', gasFrom: 'A:treasury' });
    const released = releaseJournal(hold);
    await inTx(async (tx) => {
      await post(tx, deposited(merchantId));
      await post(tx, settled(merchantId, '1'));
      await post(tx, holdJournal(hold));
    });
    const kinds = async (): Promise<string> =>
      (await balances(db, merchantId)).flatMap((row) => (row.amount === '0' ? [] : [row.kind])).join();
    const end = (journal: Journal) => inTx((tx) => captureOrRelease(tx, journal));
    for (const [one, other, after] of [
      [arrived, released, ''],
      [released, arrived, 'available'],
      [arrived, released, ''],
    ] as const) {
      await end(one);
      await end(one);
      await expect(end(other)).rejects.toMatchObject({ code: 'JOURNAL_CONFLICT' });
      expect(await kinds()).toBe(after);
      for (let n = 0; n < 2; n += 1) expect(await inTx((tx) => reopenHold(tx, hold))).toBe(true);
      expect(await kinds()).toBe('reserved');
    }
  });

  it('move a deposit between allocations, whichever it had first, as often as they like', async () => {
    for (const allocations of [
      ['unsettled', 'unallocated', 'unsettled', 'unallocated', 'unallocated'],
      ['unallocated', 'unsettled', 'unallocated'],
    ] as const) {
      const merchantId = newId();
      const deposit = { network: 'bitcoin', txId: newTxId(), index: 1, currency: 'BTC', amount: '0.4', merchantId };
      for (const allocation of allocations) {
        for (let repeat = 0; repeat < 2; repeat++) await inTx((tx) => ensureAllocation(tx, deposit, allocation));
        expect((await balances(db, merchantId)).filter((row) => row.amount !== '0')).toEqual([
          { kind: allocation, asset: 'BTC', amount: '0.4' },
        ]);
        for (let repeat = 0; repeat < 2; repeat++) await inTx((tx) => reverseAllocation(tx, deposit));
        expect((await balances(db, merchantId)).filter((row) => row.amount !== '0')).toEqual([]);
      }
    }
  });

  it('know a deposit by its place on the chain, whatever allocation it gets', async () => {
    const merchantId = newId();
    const txId = newTxId();
    const journal = deposited(merchantId, '1', txId);
    expect(journal.key).toBe(depositKey({ network: 'bitcoin', txId, index: 0 }));
    expect(deposited(newId(), '3', txId).key).toBe(journal.key);
  });
});

describe('a payment', () => {
  it.each(['SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED'])('that is %s stays so', async (status) => {
    const id = await newPayment(await newMerchant(), status);
    for (const next of ['WAITING', 'CONFIRMED', 'SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED']) {
      const change = db.query(
        'UPDATE payment SET status = $2, state_version = state_version + 1 WHERE id = $1 RETURNING 1',
        [id, next],
      );
      if (next === status) await change;
      else await expect(change).rejects.toMatchObject({ code: 'CP010' });
    }
    expect(await db.query('SELECT status FROM payment WHERE id = $1', [id])).toEqual([{ status }]);
  });

  it('changes its status only with a new version', async () => {
    const id = await newPayment(await newMerchant(), 'WAITING');
    await expect(db.query(`UPDATE payment SET status = 'CONFIRMING' WHERE id = $1`, [id])).rejects.toMatchObject({
      code: 'CP011',
    });
    await db.query(`UPDATE payment SET status = 'CONFIRMING', state_version = 2 WHERE id = $1`, [id]);
  });
});

describe('events', () => {
  const emit = (tx: EntityManager, merchantId: string, over: { entityId?: string; openDelta?: number } = {}) =>
    emitEvent(tx, {
      merchantId,
      type: 'payment.created',
      entityId: newId(),
      stateVersion: 1,
      data: '{}',
      previous: {},
      ipnUrl: 'https://shop.example/ipn',
      openDelta: 0,
      ...over,
    });
  const seqs = async (merchantId: string): Promise<number[]> =>
    (
      await db.query<Array<{ seq: number }>>('SELECT seq::int FROM event WHERE merchant_id = $1 ORDER BY seq', [
        merchantId,
      ])
    ).map((row) => row.seq);

  it('are numbered without holes while twenty write and some roll back', async () => {
    const merchantId = await newMerchant();
    const writers = Array.from({ length: 20 }, async (_, writer) => {
      let written = 0;
      for (let n = 0; n < 10; n++) {
        const fails = (writer + n) % 3 === 0;
        const change = inTx(async (tx) => {
          await emit(tx, merchantId, { openDelta: 1 });
          if (n % 2) await emit(tx, merchantId);
          if (fails) throw new Error('rolled back');
        });
        if (fails) await expect(change).rejects.toThrow('rolled back');
        else written += await change.then(() => (n % 2 ? 2 : 1));
      }
      return written;
    });
    const count = (await Promise.all(writers)).reduce((sum, n) => sum + n, 0);
    expect(count).toBeGreaterThan(150);
    expect(await seqs(merchantId)).toEqual(Array.from({ length: count }, (_, n) => n + 1));
    const [counter] = await db.query<Array<{ event_seq: number; open_payments: number }>>(
      'SELECT event_seq::int, open_payments FROM merchant_counter WHERE merchant_id = $1',
      [merchantId],
    );
    expect(counter!.event_seq).toBe(count);
    const [kept] = await db.query<Array<{ deliveries: number; queued: number }>>(
      `SELECT (SELECT count(*)::int FROM delivery WHERE merchant_id = $1) AS deliveries,
              (SELECT count(*)::int FROM delivery_queue WHERE merchant_id = $1) AS queued`,
      [merchantId],
    );
    expect(kept).toEqual({ deliveries: count, queued: count });
  });

  it('of one version are written once', async () => {
    const merchantId = await newMerchant();
    const entityId = newId();
    await inTx((tx) => emit(tx, merchantId, { entityId }));
    await expect(inTx((tx) => emit(tx, merchantId, { entityId }))).rejects.toMatchObject({ code: '23505' });
    expect(await seqs(merchantId)).toEqual([1]);
  });

  it('take no change, and never count fewer than no open payments', async () => {
    const merchantId = await newMerchant();
    await inTx((tx) => emit(tx, merchantId));
    await expect(db.query(`UPDATE event SET type = 'payment.settled'`)).rejects.toMatchObject({ code: 'CP001' });
    await expect(db.query('TRUNCATE event CASCADE')).rejects.toMatchObject({ code: 'CP001' });
    await expect(inTx((tx) => emit(tx, merchantId, { openDelta: -1 }))).rejects.toMatchObject({ code: '23514' });
    expect(await seqs(merchantId)).toEqual([1]);
  });
});

describe('requests to Temporal', () => {
  beforeEach(() => db.query('DELETE FROM temporal_request'));
  const request = (n: number): Promise<unknown> =>
    requestStart(db.manager, { workflow: 'payment', workflowId: `payment/${n}`, args: [n], attributes: {} });

  it('are taken by one dispatcher each', async () => {
    await Promise.all(Array.from({ length: 200 }, (_, n) => request(n)));
    const dispatcher = async (): Promise<string[]> => {
      const taken: string[] = [];
      for (;;) {
        const batch = await claimRequests(db.manager, 7, 60, false);
        if (!batch.length) return taken;
        taken.push(...batch.map((row) => row.workflow_id));
        await completeRequests(
          db.manager,
          batch.slice(3).map((row) => row.id),
        );
      }
    };
    const taken = (await Promise.all([dispatcher(), dispatcher(), dispatcher()])).flat();
    expect(taken).toHaveLength(200);
    expect(new Set(taken).size).toBe(200);
  });

  it('are never taken by two whose transactions are both open', async () => {
    await Promise.all(Array.from({ length: 10 }, (_, n) => request(n)));
    const both = await inTx(async (first) => {
      const mine = await claimRequests(first, 4, 60, false);
      return [mine, await inTx((second) => claimRequests(second, 10, 60, false))];
    });
    expect(both.map((rows) => rows.length)).toEqual([4, 6]);
    expect(new Set(both.flat().map((row) => row.id)).size).toBe(10);
  });

  it('come again once their holder is late, and not before', async () => {
    await request(1);
    const [held] = await claimRequests(db.manager, 1, 60, false);
    expect(await claimRequests(db.manager, 1, 60, false)).toEqual([]);
    await db.query(`UPDATE temporal_request SET claimed_until = now() - interval '1 second'`);
    const [again] = await claimRequests(db.manager, 1, 60, false);
    expect(again).toMatchObject({ id: held!.id, tries: 2 });
    await postponeRequest(db.manager, again!.id, 'refused');
    expect(await claimRequests(db.manager, 1, 60, false)).toEqual([]);
  });

  it('that wait behind all others are taken by themselves', async () => {
    for (const n of [1, 2, 3]) await request(n);
    await db.query(`UPDATE temporal_request SET is_behind = true WHERE workflow_id = 'payment/1'`);
    const ids = async (isBehind: boolean): Promise<string[]> =>
      (await claimRequests(db.manager, 9, 60, isBehind)).map((one) => one.workflow_id).sort();
    expect(await ids(false)).toEqual(['payment/2', 'payment/3']);
    expect(await ids(false)).toEqual([]);
    expect(await ids(true)).toEqual(['payment/1']);
  });

  it('are not there where their transaction was rolled back', async () => {
    const lost = inTx(async (tx) => {
      await requestStart(tx, { workflow: 'payment', workflowId: 'payment/x', args: [], attributes: {} });
      throw new Error('no');
    });
    await expect(lost).rejects.toThrow('no');
    expect(await claimRequests(db.manager, 1, 60, false)).toEqual([]);
  });
});
