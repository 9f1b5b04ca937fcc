/** @jest-environment node */
import { signingActivities } from '../../activities/txmanager/signing';
import { refundActivities } from '../../activities/refunds/refunds';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { createFollower } from '../../activities/chains/follower';
import { sweepActivities } from '../../activities/payments/payments';
import { createAdapter } from '../../chains/adapters';
import { createCodecs } from '../../chains/codecs';
import { xrplFamily } from '../../chains/xrpl/expiring-family';
import { openRefund } from '../../commands/refunds/create';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { capitalTag } from '../../domain/chains/tags';
import { newId } from '../../domain/ids';
import { sendIntent } from '../../txmanager/send/send';
import { anApprover } from '../approver';
import { creditFromCapital } from '../credit-from-capital';
import { byTwoOperators } from '../operators';
import { bookEnd } from '../book-end';
import { auditHoldings } from '../../db/audit/audit-chain';
import type * as Reconciliations from '../../db/audit/reconciliation';
import { watchFrom } from '../../db/recovery/watch';
import type * as Audits from '../../db/audit/audit';
import type { ChainAdapter } from '../../domain/chains/chain';
import type { Config } from '../../domain/config';
import { startHarness, type Harness, type Shop } from '../api/harness';
import { simulated, xrplChains, xrplNetwork } from '../chain/expiring-networks';
import { rich, simulatedXrpl, xrp, type Person, type SimulatedXrpl } from '../chain/xrpl-network';
import { paymentsAt } from './run-payment';

/** Payments in XRP on the simulator, with the follower, the API and the database that are there. */

const network = xrplNetwork.id;
let net: SimulatedXrpl;
let h: Harness;
let shop: Shop;
let payer: Person;
let config: Config;
let adapter: ChainAdapter;
let look: () => Promise<void>;
let audit: typeof Audits.audit;
let reconcileAssets: typeof Reconciliations.reconcileAssets;
const warnings: string[] = [];

type Made = { paymentId: string; depositAddress: string; destinationTag: string; amount: string; invoiceUrl: string };
const create = async (): Promise<Made> => {
  const made = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 400, currency: 'XRP' } });
  expect([made.status, made.text]).toEqual([201, expect.anything()]);
  return made.body as Made;
};
const drops = (amount: string | number): bigint => BigInt(Math.round(Number(amount) * 1_000_000));
const follower = (): (() => Promise<void>) =>
  createFollower({
    db: h.db,
    adapter,
    config,
    log: { info: () => undefined, warn: (_, text) => void warnings.push(text) },
  });

beforeAll(async () => {
  ({ audit } = jest.requireActual<typeof Audits>('../../db/audit/audit'));
  ({ reconcileAssets } = jest.requireActual<typeof Reconciliations>('../../db/audit/reconciliation'));
  net = await simulatedXrpl();
  payer = await net.funded(1, xrp(10_000));
  const SIGNER_NODES = JSON.stringify({ [network]: net.part.url });
  h = await startHarness({ NETWORKS: `bitcoin,ethereum,${network}`, ...simulated, SIGNER_NODES });
  config = h.api.deps.config;
  adapter = createAdapter(network, { ...config, XRPL_RPC_URL: net.part.url });
  await h.db.query('DELETE FROM chain_cursor WHERE network = $1', [network]);
  look = follower();
  await look();
  shop = await h.shop({}, ['XRP']);
});
afterAll(async () => {
  await h?.stop();
  await net?.end();
});

const depositsOf = (txIds: readonly string[]) =>
  h.db.query(
    `SELECT payment_id, tag, stated_tag, trim_scale(amount)::text AS amount, status, allocation, currency
       FROM deposit WHERE tx_id = ANY($1) ORDER BY id`,
    [txIds],
  );
const paid = async (to: string, amount: bigint, tag?: string): Promise<string> => {
  const { txId, result } = await net.pay(payer, { to, drops: amount, ...(tag === undefined ? {} : { tag }) });
  expect(result).toBe('tesSUCCESS');
  await net.close();
  return txId;
};
const runOf = async ({ paymentId }: Made): Promise<string> => {
  const runner = paymentsAt({ db: h.db, config, codecs: createCodecs(config.chain) });
  return (await runner.runPayment(paymentId)).status;
};
/** The payment, and what comes after it is confirmed. */
const settle = async (one: Made): Promise<string> => {
  expect(await runOf(one)).toBe('CONFIRMED');
  const sweeps = sweepActivities({ db: h.db, config, nodes: [adapter] });
  expect(await sweeps.queueSweep(one.paymentId)).toEqual({ queued: true });
  return runOf(one);
};
const available = async (): Promise<bigint> => {
  const [row] = await h.db.query(
    `SELECT trim_scale(amount * 1000000)::text AS drops FROM balance WHERE account = $1 AND asset = 'XRP'`,
    [`L:available:${shop.id}`],
  );
  return BigInt(row?.drops ?? 0);
};
const childrenOf = ({ paymentId }: Made): Promise<Array<{ id: string }>> =>
  h.db.query('SELECT id FROM payment WHERE parent_payment_id = $1 ORDER BY created_at', [paymentId]);
const asMade = (id: string): Made => ({ paymentId: id }) as Made;
/** Books and ledger, asset by asset. */
const unexplained = async (): Promise<unknown[]> =>
  (await reconcileAssets(h.db, [adapter], () => 1, 1)).positions.map((one) => [one.currency, one.unexplained]);

/** What the books say; other rows here are as no worker leaves them. */
const broken = async (): Promise<unknown[]> =>
  (await audit(h.db)).filter(({ invariant }) => ['I1', 'I2', 'I3', 'I6', 'I9', 'I10', 'I15'].includes(invariant));

it('keeps what our account must hold, as the node says', async () => {
  const treasury = adapter.derive(adapter.extendedKey(Buffer.alloc(64, 7), 'treasury'), 0);
  const kept = await h.db.query('SELECT address, units::int AS units FROM address_reserve WHERE network = $1', [
    network,
  ]);
  expect(kept).toContainEqual({ address: treasury, units: 1_000_000 });
});

it('is called simulated in the list of currencies, and nothing else is', async () => {
  const { body } = await h.call('GET', '/api/v1/currencies');
  const listed = body.data as Array<{ currency: string; simulated?: boolean }>;
  expect(listed.filter(({ simulated }) => simulated !== undefined)).toMatchObject([
    { currency: 'XRP', simulated: true },
  ]);
  expect(listed.length).toBeGreaterThan(1);
});

it('asks for the price of a payment, in drops', async () => {
  const [fee] = await h.db.query('SELECT trim_scale(unit_price)::text AS price FROM network_fee WHERE network = $1', [
    network,
  ]);
  expect(fee).toEqual({ price: '10' });
});

it('confirms a payment by its tag, in the ledger that has it', async () => {
  const one = await create();
  expect(one.depositAddress).toMatch(/^r/);
  const slug = one.invoiceUrl.split('/').pop();
  const invoice = (await h.call('GET', `/getInvoiceStatus?invoiceId=${slug}`)).body;
  expect(invoice.paymentUri).toBe(`xrpl:${one.depositAddress}?amount=${invoice.amount}&dt=${one.destinationTag}`);
  const txId = await paid(one.depositAddress, drops(one.amount), one.destinationTag);
  await look();
  expect(await depositsOf([txId])).toMatchObject([
    { payment_id: one.paymentId, tag: one.destinationTag, status: 'confirmed', amount: String(Number(one.amount)) },
  ]);
  expect(await runOf(one)).toBe('CONFIRMED');
  expect(await broken()).toEqual([]);
});

it('settles a payment where it came to, to the last drop, and moves nothing', async () => {
  const one = await create();
  const [treasury] = await h.db.query(
    `SELECT address FROM address WHERE network = $1 AND role = 'treasury' AND key_index = 0`,
    [network],
  );
  expect(one.depositAddress).toBe(treasury.address);
  const [drawn] = await h.db.query('SELECT trim_scale(network_fee_amount)::text AS fee FROM payment WHERE id = $1', [
    one.paymentId,
  ]);
  expect(drawn).toEqual({ fee: '0' });
  const before = await available();
  await paid(one.depositAddress, drops(one.amount), one.destinationTag);
  const held = (await net.node.account(one.depositAddress))!.drops;
  await look();
  expect(await settle(one)).toBe('SETTLED');
  const commission = (drops(one.amount) * 40n + 9_999n) / 10_000n;
  expect((await available()) - before).toBe(drops(one.amount) - commission);
  expect((await net.node.account(one.depositAddress))!.drops).toBe(held);
  expect(await h.db.query(`SELECT FROM intent`)).toEqual([]);
  const events = await h.db.query('SELECT type FROM event WHERE entity_id = $1 ORDER BY seq', [one.paymentId]);
  expect(events.map(({ type }: { type: string }) => type).slice(-3)).toEqual([
    'payment.confirmed',
    'payment.sweep_queued',
    'payment.settled',
  ]);
  expect(await unexplained()).toEqual([['XRP', '0']]);
  expect(await broken()).toEqual([]);
});

it('gives late money and money after a cancellation to children, which settle as well', async () => {
  const one = await create();
  const to = one.depositAddress;
  await paid(to, drops(one.amount), one.destinationTag);
  await look();
  expect(await settle(one)).toBe('SETTLED');
  const over = await create();
  const ended = await h.call('POST', `/api/v1/payments/${over.paymentId}/cancel`, { key: shop.key, body: {} });
  expect(ended.body.status).toBe('CANCELLED');
  const before = await available();
  await paid(to, xrp(7), one.destinationTag);
  await paid(to, xrp(9), over.destinationTag);
  await look();
  for (const parent of [one, over]) {
    await runOf(parent);
    const [child] = await childrenOf(parent);
    expect(await settle(asMade(child!.id))).toBe('SETTLED');
  }
  expect((await available()) - before).toBe(xrp(16) - 28_000n - 36_000n);
  expect(await unexplained()).toEqual([['XRP', '0']]);
  expect(await broken()).toEqual([]);
});

it('takes what comes with the tag of operators as their own money, and nothing else', async () => {
  const { depositAddress: to } = await create();
  const capital = async (): Promise<number> =>
    (
      await h.db.query(
        `SELECT coalesce(sum(amount), 0)::float AS sum FROM posting
          WHERE debit = 'A:treasury' AND credit = 'Q:capital' AND asset = 'XRP'`,
      )
    )[0].sum;
  const before = await capital();
  await paid(to, xrp(50), capitalTag(network)!);
  await paid(to, xrp(60), '0');
  await paid(to, xrp(70));
  await look();
  expect((await capital()) - before).toBe(50);
  expect(await unexplained()).toEqual([['XRP', '0']]);
});

it('settles what came without a tag once two operators have given it to a payment', async () => {
  const one = await create();
  const txId = await paid(one.depositAddress, drops(one.amount), '4000000001');
  await look();
  const [{ id: depositId }] = await h.db.query('SELECT id::text FROM deposit WHERE tx_id = $1', [txId]);
  await byTwoOperators(h.db, 'claim-deposit', { depositId, paymentId: one.paymentId });
  expect(await settle(one)).toBe('SETTLED');
  expect(await unexplained()).toEqual([['XRP', '0']]);
  expect(await broken()).toEqual([]);
});

it('watches no deposit addresses after a recovery: there are none', async () => {
  await h.db
    .transaction(async (tx) => {
      await watchFrom(tx, 0, 5);
      const roles = await tx.query('SELECT network, role FROM key_watch WHERE network = ANY($1) ORDER BY 1, 2', [
        ['ethereum', network],
      ]);
      expect(roles.map((row: { network: string; role: string }) => `${row.network} ${row.role}`)).toEqual([
        'ethereum deposit',
        'ethereum gas',
        'ethereum treasury',
        `${network} gas`,
        `${network} treasury`,
      ]);
      throw new Error('undone');
    })
    .catch((error: Error) => expect(error.message).toBe('undone'));
});

it('tells two payments apart that share the account, in one ledger', async () => {
  const [one, other] = [await create(), await create()];
  expect(one.depositAddress).toBe(other.depositAddress);
  const txIds: string[] = [];
  for (const made of [one, other]) {
    const { txId } = await net.pay(payer, {
      to: made.depositAddress,
      drops: drops(made.amount),
      tag: made.destinationTag,
    });
    txIds.push(txId);
  }
  await net.close();
  await look();
  expect(await depositsOf(txIds)).toMatchObject([{ payment_id: one.paymentId }, { payment_id: other.paymentId }]);
  for (const made of [one, other]) expect(await runOf(made)).toBe('CONFIRMED');
});

it('keeps money without a tag, and with one that nobody was given, for whoever proves that it is his', async () => {
  const { depositAddress: to } = await create();
  const before = await unallocated();
  const txIds = [await paid(to, xrp(3)), await paid(to, xrp(4), '4000000000')];
  await look();
  expect(await depositsOf(txIds)).toMatchObject([
    { payment_id: null, tag: '', stated_tag: null, amount: '3', allocation: 'unclaimed' },
    { payment_id: null, tag: '', stated_tag: '4000000000', amount: '4', allocation: 'unclaimed' },
  ]);
  expect((await unallocated()) - before).toBe(7);
  expect(await broken()).toEqual([]);
});
const unallocated = async (): Promise<number> => {
  const [row] = await h.db.query(
    `SELECT amount::float AS amount FROM balance WHERE account = 'L:unallocated:unclaimed' AND asset = 'XRP'`,
  );
  return row?.amount ?? 0;
};

it('credits what a partial payment delivers, and never what it claims', async () => {
  const one = await create();
  const seed = 'snoPBrXtMeMyMHUVTgbuqAfg1SUTb';
  const ordered = await net.order({
    ...{ order: 'deliver', seed, to: one.depositAddress, tag: Number(one.destinationTag) },
    ...{ claims: drops(one.amount).toString(), delivers: '1000000' },
  });
  expect(rich.address).toMatch(/^r/);
  await net.close();
  await look();
  expect(await depositsOf([String(ordered.hash)])).toMatchObject([
    { payment_id: one.paymentId, amount: '1', status: 'confirmed' },
  ]);
  expect(await runOf(one)).toBe('PARTIALLY_PAID');
});

it('goes on where it stood, through a node that stands still and a follower that begins again', async () => {
  const one = await create();
  await net.order({ order: 'stand_still' });
  await net.pay(payer, { to: one.depositAddress, drops: drops(one.amount), tag: one.destinationTag });
  await net.close(3);
  await look();
  expect(await runOf(one)).not.toBe('CONFIRMED');
  await net.order({ order: 'go_on' });
  await net.close(30);
  look = follower();
  await look();
  expect(await runOf(one)).toBe('CONFIRMED');
});

it('holds what the rows say, whosever it is', async () => {
  expect(await auditHoldings(h.db, [adapter])).toEqual([]);
  const { depositAddress } = await create();
  await paid(depositAddress, xrp(2));
  await look();
  expect(await auditHoldings(h.db, [adapter])).toEqual([]);
  const set = (currency: string | null, amount: number): Promise<unknown> =>
    h.db.query(
      `UPDATE deposit SET currency = $2, amount = $3 WHERE network = $1 AND stated_amount = 2 AND stated_tag IS NULL`,
      [network, currency, amount],
    );
  await set(null, 0);
  // As where the node says two things: the row is there, and the comparison finds what is not credited.
  expect(await auditHoldings(h.db, [adapter])).toMatchObject([{ invariant: 'I5' }]);
  await set('XRP', 2);
});

it('ends a withdrawal in the ledger that has it, and books what it burned', async () => {
  const seed = Buffer.alloc(64, 7);
  const treasury = adapter.derive(adapter.extendedKey(seed, 'treasury'), 0);
  await paid(treasury, xrp(500), capitalTag(network)!);
  await look();
  await creditFromCapital(h.db, shop.id, 'XRP', '400');
  const { address: to } = await net.funded(5);
  const ann = anApprover('ann@shop.example');
  const receiver = { currency: 'XRP', address: to, destinationTag: '9' };
  await addToWhitelist(h.db.manager, shop.id, ann, { type: 'wallet', ...receiver });
  const codecs = createCodecs(config.chain);
  const ask = { amount: '20', feeMode: 'add' as const, ...receiver };
  const { row } = await h.db.transaction((tx) =>
    openWithdrawal(tx, { codecs, rateMaxAgeSeconds: 3600 }, shop.id, ask, ann, newId()),
  );
  const next = await withdrawalActivities({ db: h.db, nodes: [adapter] }).nextWithdrawalIntent(row.id);
  const { id: intentId } = next as { id: string };
  const family = xrplFamily(xrplChains.simulator, net.node);
  const signer = signingActivities({ db: h.db, codecs, seed, expiring: { [network]: family } as never });
  expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
  await sendIntent({ db: h.db, adapter, log: { info: () => undefined } }, intentId);
  await net.close();
  await look();
  expect(await h.db.query('SELECT status, success, fee_units::int AS fee FROM attempt')).toEqual([
    { status: 'final', success: true, fee: 10 },
  ]);
  await bookEnd(h.db, intentId);
  expect(await h.db.query('SELECT status FROM withdrawal WHERE id = $1', [row.id])).toEqual([{ status: 'completed' }]);
  const ledger = (await net.node.readLedger((await net.node.head()).height))!;
  expect(ledger.transfers).toMatchObject([{ to, tag: '9', units: xrp(20) }]);
  expect(await auditHoldings(h.db, [adapter])).toEqual([]);
  expect(await broken()).toEqual([]);
});

it('returns what was never credited from the account of all, to the tag of its payer', async () => {
  const one = await create();
  await paid(one.depositAddress, xrp(3), one.destinationTag);
  await look();
  expect(await runOf(one)).toBe('PARTIALLY_PAID');
  // Right after what came was seen: before, it would be late.
  await h.db.query(
    `UPDATE payment SET expires_at = (SELECT first_seen_at + interval '1 ms' FROM deposit WHERE payment_id = $1)
      WHERE id = $1`,
    [one.paymentId],
  );
  await net.close();
  await look();
  expect(await runOf(one)).toBe('FAILED');
  expect(await unexplained()).toEqual([['XRP', '0']]);
  const { address: to } = await net.funded(6);
  const ask = { type: 'full', address: to, destinationTag: '61' } as const;
  const deps = { codecs: createCodecs(config.chain), rateMaxAgeSeconds: 3600 };
  const { row } = await h.db.transaction((tx) =>
    openRefund(tx, deps, {
      merchantId: shop.id,
      paymentId: one.paymentId,
      ask,
      by: { userId: newId() },
      idempotencyKey: null,
    }),
  );
  expect(row.source).toBe('deposit');
  const next = await refundActivities({ db: h.db, nodes: [adapter] }).nextRefundIntent(row.id);
  const { id: intentId } = next as { id: string };
  const family = xrplFamily(xrplChains.simulator, net.node);
  const expiring = { [network]: family } as never;
  const signer = signingActivities({ db: h.db, codecs: deps.codecs, seed: Buffer.alloc(64, 7), expiring });
  expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
  await sendIntent({ db: h.db, adapter, log: { info: () => undefined } }, intentId);
  await net.close();
  await look();
  await bookEnd(h.db, intentId);
  expect(await h.db.query('SELECT status FROM refund WHERE id = $1', [row.id])).toEqual([{ status: 'completed' }]);
  const ledger = (await net.node.readLedger((await net.node.head()).height))!;
  expect(ledger.transfers).toMatchObject([{ to, tag: '61', units: xrp(3) - 10n }]);
  expect(await unexplained()).toEqual([['XRP', '0']]);
  expect(await broken()).toEqual([]);
});

it('follows no node of another network, whose addresses look alike', async () => {
  const other = await simulatedXrpl(2000);
  try {
    const wrong = createAdapter(network, { ...config, XRPL_RPC_URL: other.part.url });
    await expect(wrong.head()).rejects.toThrow('on network 2000');
  } finally {
    await other.end();
  }
});
