import { Client } from 'pg';
import { freshDatabase, urlFor, type Database } from '../setup/postgres';
import { insertMerchant } from '../merchant-row';
import { unguarded } from './worker-rows';

/** Somebody holds the database role of the API, and writes what the API never would. */

let database: Database;
let owner: Client;
let thief: Client;
const id = (n: number): string => n.toString(16).padStart(24, '0');
const shop = id(1);
const user = id(2);
const own = '0x00000000000000000000000000000000000000aa';

beforeAll(async () => {
  database = await freshDatabase();
  owner = new Client({ connectionString: database.url });
  await owner.connect();
  thief = new Client({ connectionString: urlFor(database.url, 'api') });
  await thief.connect();
  await insertMerchant(owner, shop);
  await owner.query('UPDATE merchant SET whitelist_delay_hours = 24 WHERE id = $1', [shop]);
  await owner.query(`SELECT post_journal('seed', '{"type":"adjustment","sourceType":"adjustment"}',
    jsonb_build_array(jsonb_build_object('debit', 'A:treasury', 'credit', 'L:available:${shop}', 'asset', 'ETH',
      'amount', '10')))`);
  await owner.query(
    `INSERT INTO whitelist_entry (id, merchant_id, type, currency, address, created_by, created_by_id, active_at,
       removed_at)
     VALUES ($1, $2, 'wallet', 'ETH', $3, 'ann', $4, now(), now())`,
    [id(3), shop, own, user],
  );
});
afterAll(async () => {
  await thief?.end();
  await owner?.end();
  await database?.drop();
});

const denied = { code: '42501' };
const refused = { code: 'CP014' };
const journal = (key: string, debit: string, credit: string, amount: string): Promise<unknown> =>
  thief.query(`SELECT post_journal($1, '{"type":"adjustment","sourceType":"adjustment"}', $2)`, [
    key,
    JSON.stringify([{ debit, credit, asset: 'ETH', amount }]),
  ]);
const listing = (activeAt: string): Promise<unknown> =>
  thief.query(
    `INSERT INTO whitelist_entry (id, merchant_id, type, currency, address, created_by, created_by_id, active_at)
     VALUES ($1, $2, 'wallet', 'ETH', $3, 'ann', $4, ${activeAt})`,
    [id(4), shop, own, user],
  );

describe('A10: a thief with the database role of the API', () => {
  it('whitelists no address that counts before the cooling-off is over', async () => {
    await expect(listing('now()')).rejects.toMatchObject(refused);
    await expect(listing(`now() - interval '1 year'`)).rejects.toMatchObject(refused);
    await expect(
      thief.query('UPDATE whitelist_entry SET removed_at = NULL WHERE id = $1', [id(3)]),
    ).rejects.toMatchObject(refused);
    await expect(thief.query('UPDATE whitelist_entry SET active_at = now()')).rejects.toMatchObject(denied);
    await expect(thief.query('UPDATE whitelist_entry SET address = $1', [own])).rejects.toMatchObject(denied);
  });

  it('does not shorten the cooling-off first', async () => {
    await expect(thief.query('UPDATE merchant SET whitelist_delay_hours = 0')).rejects.toMatchObject(refused);
    await expect(
      thief.query('UPDATE merchant SET whitelist_delay_hours = 0, whitelist_not_before = now()'),
    ).rejects.toMatchObject(refused);
    await thief.query('BEGIN');
    await thief.query(
      `UPDATE merchant SET whitelist_delay_hours = 0, whitelist_not_before = now() + interval '24 hours'`,
    );
    await expect(thief.query('UPDATE merchant SET whitelist_not_before = NULL')).rejects.toMatchObject(refused);
    await thief.query('ROLLBACK');
  });

  it('loosens no limit of a merchant at once', async () => {
    await expect(
      thief.query(`INSERT INTO egress_limit (scope, set_by, active_at) VALUES ($1, 'ann', now())`, [shop]),
    ).rejects.toMatchObject(refused);
    await expect(thief.query('DELETE FROM egress_limit')).rejects.toMatchObject(denied);
    await expect(thief.query('UPDATE egress_limit SET daily_usd = NULL')).rejects.toMatchObject(denied);
  });

  it('credits nothing, and moves the balance of nobody', async () => {
    const account = `L:available:${shop}`;
    await expect(journal('x', 'A:treasury', account, '5')).rejects.toMatchObject(refused);
    await expect(journal(`hold/withdrawal/${id(9)}/end`, 'A:treasury', account, '5')).rejects.toMatchObject(refused);
    await expect(journal(`hold/withdrawal/${id(9)}`, account, `L:reserved:${shop}`, '5')).rejects.toMatchObject(
      refused,
    );
    await expect(journal(`conversion/${id(9)}/internal`, 'Q:fx', account, '5')).rejects.toMatchObject(refused);
    await expect(thief.query(`UPDATE balance SET amount = 99 WHERE account = $1`, [account])).rejects.toMatchObject(
      denied,
    );
    for (const table of ['journal', 'posting', 'balance', 'ledger_entry'])
      await expect(thief.query(`INSERT INTO ${table} DEFAULT VALUES`)).rejects.toMatchObject(denied);
    const { rows } = await owner.query(`SELECT amount::text FROM balance WHERE account = $1`, [account]);
    expect(rows).toEqual([{ amount: '10.000000000000000000' }]);
  });

  it('returns what was charged for the gas of a recipient with the money, and not before', async () => {
    const account = `L:available:${shop}`;
    await unguarded(
      owner,
      `INSERT INTO withdrawal (id, merchant_id, idempotency_key, body_hash, status, currency, network, address,
         fee_mode, amount, network_fee, net_amount, gross_amount, requested_by, requested_by_name, needs_approval,
         approved_at)
       VALUES ($1, $2, 'gas', '', 'pending', 'ETH', 'ethereum', $3, 'add', 1, 0.1, 1, 1.1, $4, 'ann', false, now())`,
      [id(11), shop, own, user],
    );
    const { rows: posted } = await owner.query<{ id: string }>('SELECT post_journal($1, $2, $3) AS id', [
      `hold/withdrawal/${id(11)}/gas`,
      JSON.stringify({ type: 'network_fee', sourceType: 'withdrawal', sourceId: id(11) }),
      JSON.stringify([{ debit: account, credit: 'I:network', asset: 'ETH', amount: '0.2' }]),
    ]);
    const back = (): Promise<unknown> => journal(`reversal/${posted[0]!.id}`, 'I:network', account, '0.2');
    await expect(back()).rejects.toMatchObject(refused);
    await unguarded(owner, `UPDATE withdrawal SET status = 'cancelled' WHERE id = $1`, [id(11)]);
    await expect(journal(`reversal/${posted[0]!.id}`, 'I:network', account, '0.3')).rejects.toMatchObject(refused);
    await back();
    const { rows } = await owner.query('SELECT trim_scale(amount)::text AS amount FROM balance WHERE account = $1', [
      account,
    ]);
    expect(rows).toEqual([{ amount: '10' }]);
  });

  it('converts nothing at a rate that nobody has published', async () => {
    await thief.query('BEGIN');
    await owner.query(
      `INSERT INTO rate (currency, fiat, value, sources, taken_at)
       VALUES ('ETH', 'USD', 3200, '[]', now()), ('BTC', 'USD', 64000, '[]', now())`,
    );
    await thief.query(
      `INSERT INTO conversion (id, merchant_id, body_hash, status, execution_mode, from_currency, to_currency,
         from_amount, to_amount, exchange_rate, commission_amount, net_from_amount, is_debited, from_rate_id,
         to_rate_id)
       SELECT $1, $2, '', 'completed', 'internal', 'ETH', 'BTC', 1, 5, 5, 0, 1, true,
              (SELECT max(id) FROM rate WHERE currency = 'ETH'), (SELECT max(id) FROM rate WHERE currency = 'BTC')`,
      [id(5), shop],
    );
    const postings = [
      { debit: `L:available:${shop}`, credit: 'Q:fx', asset: 'ETH', amount: '1' },
      { debit: 'Q:fx', credit: `L:available:${shop}`, asset: 'BTC', amount: '5' },
    ];
    await expect(
      thief.query(`SELECT * FROM post_conversion($1, $2, $3, 'ETH', 1, 'BTC', 5)`, [
        `conversion/${id(5)}/internal`,
        { type: 'conversion', sourceType: 'conversion', sourceId: id(5) },
        JSON.stringify(postings),
      ]),
    ).rejects.toMatchObject(refused);
    await thief.query('ROLLBACK');
  });

  it('opens no payment that settles to an address of its own', async () => {
    const payment = { merchant_id: shop, currency: 'ETH', settlement_address: own, custody: 'external' };
    await expect(
      thief.query(`SELECT * FROM open_payment($1, NULL, NULL, 'e', '{}', NULL, '{}', 9)`, [JSON.stringify(payment)]),
    ).rejects.toMatchObject(refused);
    await owner.query(
      `INSERT INTO payment (id, merchant_id, slug, status, source, idempotency_key, fiat_amount, fiat_currency,
         fee_bearer, fee_bps, tolerance_pct, underpaid_policy, expires_at, expires_in, currency, amount,
         settlement_address, custody)
       VALUES ($1, $2, 'slug', 'WAITING', 'api', 'k', 9, 'USD', 'merchant', 50, 0, 'hold', now(), 900, 'ETH', 1,
         'ours', 'platform')`,
      [id(10), shop],
    );
    await expect(thief.query('UPDATE payment SET settlement_address = $1', [own])).rejects.toMatchObject(refused);
    await expect(thief.query('UPDATE payment SET amount_paid = 9')).rejects.toMatchObject(refused);
    await expect(thief.query('UPDATE payment SET fiat_amount = 0')).rejects.toMatchObject(denied);
  });

  it('points no wallet at its own address before the cooling-off is over', async () => {
    const change = (activeAt: string, status: string, before: string): Promise<unknown> =>
      thief.query(
        `INSERT INTO settlement_change (id, merchant_id, wallet_id, status, address, before_address, before_custody,
           requested_by, requested_by_name, needs_second_person, active_at, applied_at)
         VALUES ($1, $2, $3, $4, $5, $6, 'platform', $7, 'ann', false, ${activeAt}, now())`,
        [id(7), shop, id(6), status, own, before, user],
      );
    await owner.query(
      `INSERT INTO merchant_wallet (id, merchant_id, currency, settlement_address, custody)
       VALUES ($1, $2, 'ETH', 'ours', 'platform')`,
      [id(6), shop],
    );
    await expect(
      thief.query(`UPDATE merchant_wallet SET settlement_address = $1, custody = 'external'`, [own]),
    ).rejects.toMatchObject(refused);
    await expect(
      thief.query(
        `INSERT INTO merchant_wallet (id, merchant_id, currency, settlement_address, custody)
         VALUES ($1, $2, 'BTC', $3, 'external')`,
        [id(8), shop, own],
      ),
    ).rejects.toMatchObject(refused);
    await expect(change('now()', 'cooling_off', 'ours')).rejects.toMatchObject(refused);
    await expect(change(`now() + interval '25 hours'`, 'applied', 'ours')).rejects.toMatchObject(refused);
    await expect(change(`now() + interval '25 hours'`, 'cooling_off', own)).rejects.toMatchObject(refused);
    await thief.query('BEGIN');
    await change(`now() + interval '25 hours'`, 'cooling_off', 'ours');
    await expect(
      thief.query(`UPDATE settlement_change SET status = 'applied', applied_at = now()`),
    ).rejects.toMatchObject(refused);
    await thief.query('ROLLBACK');
  });

  const limit = (usd: string): string =>
    `INSERT INTO egress_limit (scope, daily_usd, set_by, active_at) VALUES ('platform', ${usd}, 'a test', now())`;
  it('does nothing that takes two operators', async () => {
    await owner.query(`INSERT INTO egress_freeze (currency, reason) VALUES ('ETH', 'a test')`);
    await owner.query(`UPDATE merchant SET held_because = 'suspended', held_at = now()`);
    await owner.query(
      `INSERT INTO address (network, address, role, key_index) VALUES ('ethereum', $1, 'treasury', 0)`,
      [own],
    );
    await owner.query(
      `INSERT INTO wallet_sequence (network, address, frozen_reason) VALUES ('ethereum', $1, 'a test')`,
      [own],
    );
    await owner.query(limit('10'));
    await expect(thief.query(limit('11'))).rejects.toMatchObject(refused);
    await thief.query(limit('9'));
    await expect(thief.query('DELETE FROM egress_freeze')).rejects.toMatchObject(refused);
    await expect(thief.query('UPDATE merchant SET held_because = NULL, held_at = NULL')).rejects.toMatchObject(refused);
    await expect(thief.query('UPDATE wallet_sequence SET frozen_reason = NULL')).rejects.toMatchObject(refused);
    await expect(journal(`unexplained/operator/${id(9)}`, 'Q:unexplained', 'A:treasury', '1')).rejects.toMatchObject(
      refused,
    );
    const account = `L:available:${shop}`;
    await expect(journal(`conversion/${id(9)}/end`, `L:transit:${shop}`, account, '1')).rejects.toMatchObject(refused);
  });

  it('gains nothing by the role of the shell of the operators, which books as little', async () => {
    const shell = new Client({ connectionString: urlFor(database.url, 'operator') });
    await shell.connect();
    try {
      await expect(
        shell.query(`SELECT post_journal('y', '{"type":"adjustment","sourceType":"adjustment"}', $1)`, [
          JSON.stringify([{ debit: 'A:treasury', credit: `L:available:${shop}`, asset: 'ETH', amount: '5' }]),
        ]),
      ).rejects.toMatchObject(refused);
      await expect(shell.query('DELETE FROM egress_freeze')).rejects.toMatchObject(refused);
      await expect(shell.query(limit('NULL'))).rejects.toMatchObject(refused);
      await expect(shell.query(`UPDATE merchant SET ipn_enabled = false`)).rejects.toMatchObject(denied);
    } finally {
      await shell.end();
    }
  });

  it.each([
    [`INSERT INTO intent (kind, ref) VALUES ('withdrawal', 'x')`, 'an intent'],
    [`UPDATE intent SET outputs = '[]'`, 'the outputs of an intent'],
    [`UPDATE intent SET status = 'planned'`, 'the state of an intent'],
    [`INSERT INTO attempt (intent_id, n) VALUES (1, 1)`, 'an attempt'],
    [`UPDATE attempt SET outputs = '[]'`, 'the outputs of an attempt'],
    [`UPDATE attempt SET moves = '[]'`, 'what an attempt moved'],
    [`UPDATE attempt SET success = true`, 'how an attempt went'],
    [`UPDATE deposit SET amount = 9`, 'what came'],
    [`INSERT INTO deposit (network) VALUES ('ethereum')`, 'a deposit'],
    [`UPDATE withdrawal SET address = 'x'`, 'whereto a withdrawal goes'],
    [`UPDATE withdrawal SET needs_approval = false`, 'whether a second person is asked'],
    [`UPDATE withdrawal SET requested_by = 'x'`, 'who asked'],
    [`UPDATE payout_leg SET address = 'x'`, 'whereto a payout goes'],
    [`UPDATE refund SET needs_second_person = false`, 'whether a second person is asked for a refund'],
    [`INSERT INTO extended_key (network, role, xpub) VALUES ('ethereum', 'deposit', 'x')`, 'an extended key'],
    [`UPDATE extended_key SET xpub = 'x'`, 'the extended key in force'],
    [`SELECT register_network_key('litecoin', 'deposit', 'x', 0, 'litecoin')`, 'an extended key by its function'],
    [`UPDATE address SET address = 'x'`, 'an address'],
    [`UPDATE rate_latest SET value = 1`, 'a rate'],
    [`INSERT INTO rate (currency) VALUES ('ETH')`, 'a new rate'],
    [`UPDATE user_session SET user_id = 'x'`, 'whose a session is'],
    [`UPDATE audit_log SET actor_name = 'x'`, 'the audit log'],
    [`DELETE FROM audit_log`, 'the audit log at all'],
    [`UPDATE wallet_sequence SET next_nonce = 0`, 'a nonce'],
    [`ALTER TABLE journal DISABLE TRIGGER ALL`, 'a trigger'],
    [`CREATE TABLE public.own (id int)`, 'a table of its own'],
    [`SET ROLE cp_migrate`, 'the owner'],
    [`SET ROLE cp_signer`, 'the signer'],
  ])('%s: does not change %s', async (sql) => {
    await expect(thief.query(sql)).rejects.toMatchObject(denied);
  });
});
