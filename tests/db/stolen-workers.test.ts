import { Client } from 'pg';
import type { DatabaseRole } from '../../db/roles/roles';
import { freshDatabase, urlFor, type Database } from '../setup/postgres';
import { insertMerchant } from '../merchant-row';
import { unguarded } from './worker-rows';

/** Somebody holds the database role of a worker, and books what never happened. */

let database: Database;
let owner: Client;
let thief: Client;
const thieves: Partial<Record<DatabaseRole, Client>> = {};
const id = (n: number): string => n.toString(16).padStart(24, '0');
const [shop, other, payment, withdrawal] = [id(1), id(2), id(3), id(4)];
const available = `L:available:${shop}`;
const reserved = `L:reserved:${shop}`;
const unsettled = `L:unsettled:${shop}`;
const refused = { code: 'CP014' };

type Move = readonly [debit: string, credit: string, amount: string];
const post = (key: string, moves: readonly Move[], reverses: string | null = null, by = thief): Promise<unknown> =>
  by.query('SELECT post_journal($1, $2, $3, $4)::text AS id', [
    key,
    { type: reverses === null ? 'adjustment' : 'reversal', sourceType: 'adjustment' },
    JSON.stringify(moves.map(([debit, credit, amount]) => ({ debit, credit, asset: 'ETH', amount }))),
    reverses,
  ]);
const seeded = async (key: string, moves: readonly Move[]): Promise<string> =>
  ((await post(key, moves, null, owner)) as { rows: Array<{ id: string }> }).rows[0]!.id;
const balances = async (): Promise<Record<string, string>> => {
  const { rows } = await owner.query<{ account: string; amount: string }>(
    'SELECT account, trim_scale(amount)::text AS amount FROM balance ORDER BY 1',
  );
  return Object.fromEntries(rows.map(({ account, amount }) => [account, amount]));
};

beforeAll(async () => {
  database = await freshDatabase();
  owner = new Client({ connectionString: database.url });
  await owner.connect();
  for (const role of ['payments', 'chain', 'signer'] as const) {
    thieves[role] = new Client({ connectionString: urlFor(database.url, role) });
    await thieves[role].connect();
  }
  thief = thieves.payments!;
  for (const merchant of [shop, other]) await insertMerchant(owner, merchant);
  await owner.query(
    `INSERT INTO payment (id, merchant_id, slug, status, source, idempotency_key, fiat_amount, fiat_currency,
       fee_bearer, fee_bps, tolerance_pct, underpaid_policy, expires_at, expires_in, currency, amount,
       settlement_address, custody)
     VALUES ($1, $2, 'slug', 'WAITING', 'api', 'k', 9, 'USD', 'merchant', 50, 0, 'hold', now(), 900, 'ETH', 1,
       'ours', 'platform')`,
    [payment, shop],
  );
  await owner.query(
    `INSERT INTO address (network, address, role, key_index, payment_id, merchant_id)
     VALUES ('ethereum', '0xa', 'deposit', 1, $1, $2)`,
    [payment, shop],
  );
  await owner.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
       is_dust, status, first_seen_at)
     SELECT 'ethereum', tx, 0, '0xa', 'deposit', $1, 'ETH', 1, 1, false, status, now()
       FROM (VALUES ('0x1', 'confirmed'), ('0x2', 'mined')) AS came (tx, status)`,
    [payment],
  );
  await unguarded(
    owner,
    `INSERT INTO withdrawal (id, merchant_id, idempotency_key, body_hash, status, currency, network, address,
       fee_mode, amount, network_fee, net_amount, gross_amount, requested_by, requested_by_name, needs_approval,
       approved_at)
     SELECT w, $2, w, '', 'broadcast', 'ETH', 'ethereum', '0xb', 'add', 2, 0.5, 2, 2.5, $1, 'ann', false, now()
       FROM unnest($3::text[]) w`,
    [id(9), shop, [withdrawal, id(5)]],
  );
  // Where the money would be taken from, there is some.
  await seeded('seed', [
    ['A:treasury', available, '20'],
    ['A:deposit', unsettled, '5'],
  ]);
  for (const row of [withdrawal, id(5)]) await seeded(`hold/withdrawal/${row}`, [[available, reserved, '2.5']]);
  for (const [ref, status, success] of [
    [withdrawal, 'sent', null],
    [id(5), 'final', true],
  ] as const) {
    await owner.query(
      `WITH i AS (INSERT INTO intent (max_unit_price, fee_budget, kind, ref, network, currency, from_address, outputs,
                    status, owner_kind, owner_id)
         VALUES (1, 300, 'withdrawal', $1, 'ethereum', 'ETH', '0xhot', '[]', $2, 'withdrawal', $1) RETURNING id)
       INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, unit_price, max_fee_units,
         moved_units, outputs, status, success, fee_units)
       SELECT id, 1, 'ethereum', '0xt' || $1, '', '0xhot', id, 1, 300, 7, '[]', $2, $3, 200 FROM i`,
      [ref, status, success],
    );
  }
});
afterAll(async () => {
  for (const one of Object.values(thieves)) await one.end();
  await owner?.end();
  await database?.drop();
});

describe.each(['payments', 'chain', 'signer'] as const)(
  'A10: a thief with the database role of the %s worker',
  (role) => {
    beforeEach(() => {
      thief = thieves[role]!;
    });

    it.each<[string, string, ReadonlyArray<Move>]>([
      ['a journal of no family', 'x', [['A:treasury', available, '5']]],
      ['a deposit that nobody has seen', 'deposit/ethereum/0x9/0', [['A:deposit', unsettled, '5']]],
      ['a deposit that is not confirmed', 'deposit/ethereum/0x2/0', [['A:deposit', unsettled, '1']]],
      ['more than a deposit brought', 'deposit/ethereum/0x1/0', [['A:deposit', unsettled, '5']]],
      ['a deposit of another merchant', 'deposit/ethereum/0x1/0', [['A:deposit', `L:unsettled:${other}`, '1']]],
      ['a deposit at once to the balance', 'deposit/ethereum/0x1/0', [['A:deposit', available, '1']]],
      ['a payment that has not settled', `payment/${payment}/settle`, [[unsettled, available, '1']]],
      ['a settlement that nothing has brought', `payment/${payment}/settle`, [['A:deposit', available, '1']]],
      ['a fee to a merchant', 'fee/0x1', [['E:network', available, '5']]],
      ['capital to a merchant', 'capital/ethereum/0x1/0', [['A:treasury', available, '5']]],
      ['gas to a merchant', 'gas/1', [['A:gas', available, '5']]],
      ['the release of no hold', `hold/withdrawal/${id(8)}/end`, [[reserved, available, '1']]],
      ['the end of no conversion', `conversion/${id(8)}/end`, [['Q:fx', available, '5']]],
      ['a conversion inside', `conversion/${id(8)}/internal`, [['Q:fx', available, '5']]],
      ['a refund to a merchant', `refund/${id(8)}`, [['A:deposit', `L:unallocated:${shop}`, '5']]],
      ['a sweep to a merchant', 'sweep/1', [['A:deposit', available, '5']]],
      ['a difference to a merchant', 'unexplained/auto/ETH/1', [['A:treasury', available, '5']]],
      ['a reversal of nothing', 'reversal/1', [['A:treasury', available, '5']]],
    ])('credits nothing by %s', async (_what, key, moves) => {
      // Where the money would be taken from, there is some.
      await owner.query('BEGIN');
      const before = await balances();
      await owner.query('ROLLBACK');
      await expect(post(key, moves)).rejects.toMatchObject({ code: expect.stringMatching(/^CP0(14|04)$/) });
      expect(await balances()).toEqual(before);
    });

    it('returns no money of a withdrawal that is signed, whatever its row says', async () => {
      await unguarded(owner, `UPDATE withdrawal SET status = 'failed' WHERE id = $1`, [withdrawal]);
      await expect(post(`hold/withdrawal/${withdrawal}/end`, [[reserved, available, '2.5']])).rejects.toMatchObject(
        refused,
      );
      await unguarded(owner, `UPDATE withdrawal SET status = 'broadcast' WHERE id = $1`, [withdrawal]);
    });

    it('takes back no withdrawal that has arrived, nor books one otherwise', async () => {
      const end: Move[] = [
        [reserved, 'A:treasury', '2'],
        [reserved, 'I:network', '0.5'],
      ];
      const key = `hold/withdrawal/${id(5)}/end`;
      const { rows } = await owner.query<{ id: string }>('SELECT id::text FROM journal WHERE key = $1', [key]);
      const journal = rows[0]?.id ?? (await seeded(key, end));
      const back = end.map(([debit, credit, amount]): Move => [credit, debit, amount]);
      await expect(post(`reversal/${journal}`, back, journal)).rejects.toMatchObject(refused);
      await expect(post(`reversal/${journal}`, [['A:treasury', available, '5']], journal)).rejects.toMatchObject(
        refused,
      );
      await expect(post(`${key.replace('/end', '/2/end')}`, [[reserved, available, '2.5']])).rejects.toMatchObject(
        refused,
      );
    });

    it('calls nothing off by a constraint that it sets', async () => {
      await thief.query('BEGIN');
      await thief.query('SET CONSTRAINTS ALL DEFERRED');
      await post('x', [['A:treasury', available, '5']]);
      await expect(thief.query('COMMIT')).rejects.toMatchObject(refused);
      await expect(thief.query('ALTER TABLE journal DISABLE TRIGGER ALL')).rejects.toMatchObject({ code: '42501' });
      await expect(thief.query('SET session_replication_role = replica')).rejects.toMatchObject({ code: '42501' });
    });
  },
);

describe('A10: the payments worker', () => {
  beforeEach(() => {
    thief = thieves.payments!;
  });

  it('stores no deposit, and changes none', async () => {
    const insert = (foundBy: string, status: string): Promise<unknown> =>
      thief.query(
        `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
           is_dust, status, first_seen_at, found_by)
         VALUES ('ethereum', '0x7', 0, '0xa', 'deposit', $1, 'ETH', 9, 9, false, $2, now(), $3)`,
        [payment, status, foundBy],
      );
    await expect(insert('transfer', 'confirmed')).rejects.toMatchObject(refused);
    await expect(insert('balance', 'confirmed')).rejects.toMatchObject(refused);
    await expect(insert('transfer', 'mined')).rejects.toMatchObject(refused);
    await expect(thief.query(`UPDATE deposit SET amount = 9 WHERE tx_id = '0x1'`)).rejects.toMatchObject(refused);
    await expect(thief.query(`UPDATE deposit SET status = 'confirmed' WHERE tx_id = '0x2'`)).rejects.toMatchObject(
      refused,
    );
  });

  it('books what came, once it is confirmed, and settles that much', async () => {
    await post('deposit/ethereum/0x1/0', [['A:deposit', unsettled, '1']]);
    await unguarded(owner, `UPDATE deposit SET allocation = 'unsettled' WHERE tx_id = '0x1'`);
    await unguarded(owner, `UPDATE payment SET status = 'SETTLED' WHERE id = $1`, [payment]);
    const settle = (amount: string): Promise<unknown> =>
      post(`payment/${payment}/settle`, [
        [unsettled, available, amount],
        [unsettled, 'I:commission', '0.1'],
      ]);
    await expect(settle('0.9')).rejects.toMatchObject(refused);
    await owner.query(
      `WITH i AS (INSERT INTO intent (max_unit_price, fee_budget, kind, ref, network, currency, from_address, outputs,
                    deposit_ids, status, payment_id, merchant_id, owner_kind, owner_id)
         SELECT 1, 300, 'sweep', 'x', 'ethereum', 'ETH', '0xa', '[]', ARRAY[d.id], 'final', $1::text, $2, 'sweep',
                $1::text
           FROM deposit d WHERE d.tx_id = '0x1' RETURNING id)
       INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, unit_price, max_fee_units,
         moved_units, outputs, status, success, fee_units)
       SELECT id, 1, 'ethereum', '0xs', '', '0xa', 0, 1, 300, 7, '[]', 'final', true, 200 FROM i`,
      [payment, shop],
    );
    await expect(settle('1.9')).rejects.toMatchObject(refused);
    await settle('0.9');
  });

  it('returns what a reverted transaction has not moved', async () => {
    await unguarded(owner, `UPDATE withdrawal SET status = 'failed' WHERE id = $1`, [withdrawal]);
    await unguarded(owner, `UPDATE attempt SET status = 'final', success = false WHERE tx_id = '0xt' || $1`, [
      withdrawal,
    ]);
    await post(`hold/withdrawal/${withdrawal}/end`, [[reserved, available, '2.5']]);
  });
});
