import { createCodecs } from '../../chains/codecs';
import { audit } from '../../db/audit/audit';
import { readWaiting } from '../../db/readings/service';
import { post } from '../../db/ledger/ledger';
import { depositJournal } from '../../domain/ledger/ledger';
import { startHarness, type Harness } from '../api/harness';
import { paymentsAt } from './run-payment';
import { unguarded } from '../unguarded';
import { bookEnd } from '../book-end';

/** A sweep that the chain refuses: the payment keeps its status and its money, and operators are told. Invariants: 3,
 *  row 17. */

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h?.stop());

it('leaves the payment SWEEP_QUEUED, books what it cost, alarms, and is planned again', async () => {
  const shop = await h.shop();
  const made = await h.call('POST', '/api/v1/payments', {
    key: shop.key,
    body: { amount: 40, currency: 'USDT_ERC20' },
  });
  const { paymentId: id, depositAddress: address, amount } = made.body;
  const deposit = { network: 'ethereum', txId: '0xd', index: 0, currency: 'USDT_ERC20', amount: String(amount) };
  await unguarded(h.db, (tx) =>
    tx.query(
      `UPDATE payment SET status = 'SWEEP_QUEUED', state_version = 5, amount_paid = amount, sweep_state = 'queued'
         WHERE id = $1`,
      [id],
    ),
  );
  const [{ id: depositId }] = await h.db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
       is_dust, status, first_seen_at, allocation)
     VALUES ('ethereum', '0xd', 0, $1, 'deposit', $2, 'USDT_ERC20', $3, $3, false, 'confirmed', now(), 'unsettled')
       RETURNING id`,
    [address, id, deposit.amount],
  );
  await h.db.transaction((tx) => post(tx, depositJournal({ ...deposit, merchantId: shop.id })));
  await h.db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
       first_seen_at, allocation)
     VALUES ('ethereum', '0xe', -1, $1, 'deposit', 'ETH', 0.001, 0.001, false, 'confirmed', now(), 'own')`,
    [address],
  );
  const [{ id: intentId }] = await h.db.query(
    `INSERT INTO intent (max_unit_price, fee_budget, kind, ref, network, currency, from_address, outputs,
                         deposit_ids, payment_id, merchant_id, owner_kind, owner_id, status)
     VALUES (1, 42000, 'sweep', $1 || '/1', 'ethereum', 'USDT_ERC20', $2, '[{"address":"x","units":null}]',
             ARRAY[$3::bigint], $1, $4, 'sweep', $1, 'failed') RETURNING id`,
    [id, address, depositId, shop.id],
  );
  await h.db.query(
    `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, inputs, unit_price, max_fee_units,
       moved_units, outputs, status, success, fee_units, block_hash, height)
     VALUES ($1, 1, 'ethereum', '0xf', '0x', $2, 0, '{}', 1, 42000, 40000000, '[]', 'final', false, 21000, '0xb', 90)`,
    [intentId, address],
  );
  await h.db.query(`INSERT INTO wallet_sequence (network, address, next_nonce) VALUES ('ethereum', $1, 1)`, [address]);
  const { config } = h.api.deps;
  const deps = { db: h.db, config, codecs: createCodecs(config.chain) };
  for (const role of ['treasury', 'gas'])
    await h.db.query(
      `INSERT INTO address (network, address, role, key_index) VALUES ('ethereum', $1, $2, 0) ON CONFLICT DO NOTHING`,
      [`0x${(role === 'gas' ? '11' : '22').repeat(20)}`, role],
    );
  for (let n = 0; n < 2; n += 1) expect(await bookEnd(h.db, intentId)).toEqual({ status: 'failed' });
  expect((await paymentsAt(deps).runPayment(id)).status).toBe('SWEEP_QUEUED');
  const planned = await h.db.query('SELECT kind, status FROM intent WHERE payment_id = $1 ORDER BY id', [id]);
  expect(planned).toEqual([
    { kind: 'sweep', status: 'failed' },
    { kind: 'gas', status: 'planned' },
    { kind: 'sweep', status: 'planned' },
  ]);
  // Once, however often it is looked at and booked.
  await bookEnd(h.db, intentId);
  await paymentsAt(deps).runPayment(id);
  expect(await h.db.query('SELECT kind, status FROM intent WHERE payment_id = $1 ORDER BY id', [id])).toEqual(planned);
  expect((await h.call('GET', `/api/v1/payments/${id}`, { key: shop.key })).body.status).toBe('SWEEP_QUEUED');
  const balances = (await h.call('GET', '/api/v1/ledger/balances', { key: shop.key })).body.balances;
  expect(balances.find((one: { currency: string }) => one.currency === 'USDT_ERC20').balance).toBe('0');
  expect(await h.db.query('SELECT kind, subject_kind, subject_id, details FROM incident')).toEqual([
    {
      kind: 'transaction-reverted',
      subject_kind: 'intent',
      subject_id: intentId,
      details: { intentId, paymentId: id, txId: '0xf' },
    },
  ]);
  expect(await readWaiting(h.db)).toContainEqual({
    name: 'payments_open_incidents',
    labels: { kind: 'transaction-reverted' },
    value: 1,
  });
  const wrong = (await audit(h.db, { settleMs: 1 })).filter(({ invariant }) =>
    ['I1', 'I2', 'I3', 'I6', 'I10'].includes(invariant),
  );
  expect(wrong).toEqual([]);
});
