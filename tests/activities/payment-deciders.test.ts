import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { createCodecs } from '../../chains/codecs';
import { forgetOldDeciders } from '../../db/payments/deciders';
import { DomainError } from '../../domain/errors';
import type { Outcome, PaymentRow } from '../../domain/payments/payment';
import { startHarness, type Harness, type Shop } from '../api/harness';
import { Person } from '../api/person';
import { paymentsAt } from './run-payment';

/** Who of a merchant cancelled a payment, or decided about it, is in the audit log and on its timeline. */

let h: Harness;
let db: DataSource;
let shop: Shop;
let ann: Person;
let key: { key: string; id: string };
let act: ReturnType<typeof paymentsAt>;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  db = h.db;
  const { config } = h.api.deps;
  act = paymentsAt({ db, config, codecs: createCodecs(config.chain) });
  shop = await h.shop({}, ['ETH', 'USDT_ERC20']);
  ann = await Person.admin(h);
  await db.query('UPDATE dashboard_user SET merchant_id = $2 WHERE email = $1', [ann.email, shop.id]);
  const [row] = await db.query('SELECT id FROM api_key WHERE merchant_id = $1', [shop.id]);
  key = { key: shop.key, id: row.id };
});
beforeEach(() => {
  const { commands } = h.api.deps;
  // Temporal is away here: the update of the workflow is its activity, called at once.
  const asked =
    (decide: (id: string, deciderId: string) => Promise<Outcome>) =>
    async ({ id }: PaymentRow, deciderId: string): Promise<Outcome> => {
      const outcome = await decide(id, deciderId);
      if (outcome.refused) throw new DomainError(outcome.refused);
      return outcome;
    };
  jest.spyOn(commands, 'acceptUnderpaid').mockImplementation(asked(act.acceptUnderpaid));
  jest.spyOn(commands, 'acceptCrossChain').mockImplementation(asked(act.acceptCrossChain));
  jest.spyOn(commands, 'rejectCrossChain').mockImplementation(asked(act.rejectCrossChain));
});
afterAll(() => h?.stop());

type Made = { id: string; address: string; invoice: string };
async function open(): Promise<Made> {
  const { body } = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 40, currency: 'ETH' } });
  return { id: body.paymentId, address: body.depositAddress, invoice: body.invoiceUrl.split('/').at(-1) };
}
/** A payment to which so much has come. */
async function paid(currency: string, amount: string): Promise<Made> {
  const made = await open();
  await db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
       is_dust, status, block_hash, height, first_seen_at, confirmed_at) VALUES ('ethereum', $1, 0, $2, 'deposit', $3,
       $4, $5, $5, false, 'confirmed', '0xb', 90, clock_timestamp(), now())`,
    [randomBytes(32).toString('hex'), made.address, made.id, currency, amount],
  );
  await act.runPayment(made.id);
  return made;
}
const actsOf = (id: string) =>
  db.query(
    `SELECT action, actor_kind, actor_id, actor_name, merchant_id, before, after, ip, request_id FROM audit_log
      WHERE target = $1 AND action LIKE 'payment.%' ORDER BY id`,
    [id],
  );
const deciders = async (): Promise<number> => (await db.query('SELECT FROM payment_decider')).length;
const byOf = async (id: string): Promise<string[]> => {
  const { body } = await h.call('GET', `/api/v1/payments/${id}/timeline`, { key: shop.key });
  return body.data.items.flatMap(({ by }: { by?: string | null }) => by ?? []);
};

describe('10: a cancel', () => {
  it('names the person, with the reason, once', async () => {
    const { id } = await open();
    const path = `/api/v1/payments/${id}/cancel`;
    const answer = await ann.post(path, { reason: 'Out of stock' });
    expect([answer.status, (await ann.post(path, {})).status]).toEqual([200, 400]);
    const acts = await actsOf(id);
    expect(acts).toEqual([
      {
        action: 'payment.cancelled',
        actor_kind: 'user',
        actor_id: expect.any(String),
        actor_name: ann.email,
        merchant_id: shop.id,
        before: { status: 'WAITING' },
        after: { status: 'CANCELLED', reason: 'Out of stock' },
        ip: ann.ip,
        request_id: answer.headers.get('x-request-id'),
      },
    ]);
    expect(await byOf(id)).toEqual([ann.email]);
    const { items } = (await ann.get('/api/v1/audit-log?action=payment.cancelled')).body.data;
    expect(items).toMatchObject([{ target: id, actor: { name: ann.email } }]);
  });

  it('names the key', async () => {
    const { id } = await open();
    await h.call('POST', `/api/v1/payments/${id}/cancel`, { key: key.key, body: {} });
    expect(await actsOf(id)).toMatchObject([
      { action: 'payment.cancelled', actor_kind: 'key', actor_id: key.id, actor_name: `key ${key.id}` },
    ]);
    expect(await byOf(id)).toEqual([`key ${key.id}`]);
  });

  it('by the payer is no act of the merchant', async () => {
    const { id, invoice } = await open();
    expect((await h.call('POST', `/invoice/${invoice}/cancel`, { body: { confirm: true } })).status).toBe(200);
    expect(await actsOf(id)).toEqual([]);
    expect(await byOf(id)).toEqual([]);
  });
});

describe('10: a decision', () => {
  it.each([
    ['accept-underpaid', 'underpaid_accepted', 'ETH', '0.006', ['PARTIALLY_PAID', 'CONFIRMING']],
    ['accept-cross-chain', 'other_asset_accepted', 'USDT_ERC20', '45', ['CROSS_CHAIN_PENDING', 'CONFIRMING']],
    ['reject-cross-chain', 'other_asset_rejected', 'USDT_ERC20', '40', ['CROSS_CHAIN_PENDING', 'FAILED']],
  ])('%s names the person who took it', async (path, decision, currency, amount, moves) => {
    const { id } = await paid(currency, amount);
    expect((await ann.post(`/api/v1/payments/${id}/${path}`, { confirm: true })).status).toBe(200);
    const [before, after] = moves.map((status) => ({ status }));
    const action = `payment.${decision}`;
    expect(await actsOf(id)).toMatchObject([
      { action, actor_kind: 'user', actor_name: ann.email, merchant_id: shop.id, before, after, ip: ann.ip },
    ]);
    expect(await byOf(id)).toEqual([ann.email]);
    expect(await deciders()).toBe(0);
  });

  it('that is refused leaves nothing, and one of which nothing came is forgotten after a day', async () => {
    const { id } = await open();
    const refused = await ann.post(`/api/v1/payments/${id}/accept-underpaid`, { confirm: true });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'INVALID_STATE']);
    expect([await actsOf(id), await deciders()]).toEqual([[], 0]);
    jest.spyOn(h.api.deps.commands, 'rejectCrossChain').mockRejectedValueOnce(new DomainError('OUTCOME_UNKNOWN'));
    await ann.post(`/api/v1/payments/${id}/reject-cross-chain`, {});
    await forgetOldDeciders(db);
    expect(await deciders()).toBe(1);
    await db.query(`UPDATE payment_decider SET created_at = now() - interval '25 hours'`);
    await forgetOldDeciders(db);
    expect(await deciders()).toBe(0);
  });

  it('by nobody, as the release before asks for it, has no name', async () => {
    const { id } = await paid('USDT_ERC20', '40');
    expect(await act.rejectCrossChain(id)).toEqual({ status: 'FAILED' });
    expect([await actsOf(id), await byOf(id)]).toEqual([[], []]);
  });
});
