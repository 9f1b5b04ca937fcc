/** @jest-environment node */
import { swapActivities } from '../../activities/conversions/swaps';
import { refundActivities } from '../../activities/refunds/refunds';
import { openRefund } from '../../commands/refunds/create';
import { post } from '../../db/ledger/ledger';
import type { SwapOrder, SwapProvider } from '../../domain/conversions/swap';
import { newId, newSlug } from '../../domain/ids';
import { adjustment } from '../../domain/ledger/entry';
import { acceptConversionJournal } from '../../domain/ledger/ledger';
import type { TronWorld } from '../chain/tron-world';
import { untaggedXrp } from '../chain/untagged';
import type { Person, SimulatedXrpl } from '../chain/xrpl-network';
import { unguarded } from '../unguarded';
import type { ExpiringShop } from './expiring-shop';
import { addressOf, TronStage } from './tron-stage';
import { XrplStage } from './xrpl-stage';

/** What ends otherwise than a withdrawal where its transactions expire: our deposit at a swap provider, and a refund
 *  from the deposit address that its money came to. */

// No provider is sent coins that need a tag: the rule is tried as if these needed none.
describe('our deposit at a swap provider, on the XRP Ledger', () => {
  let leave: () => void;
  let stage: XrplStage;
  let net: SimulatedXrpl;
  let provider: Person;
  let shop: ExpiringShop;
  beforeAll(async () => {
    leave = untaggedXrp();
    stage = await XrplStage.start();
    ({ net, payee: provider } = stage);
  });
  beforeEach(async () => {
    shop = await stage.open();
  });
  afterEach(() => stage.close(shop));
  afterAll(async () => {
    await stage?.end();
    leave?.();
  });

  /** Five XRP of the merchant, to be exchanged, and the order for them. */
  async function trade(): Promise<string> {
    const id = newId();
    await unguarded(shop.db, async (tx) => {
      await tx.query(
        `INSERT INTO conversion (id, merchant_id, body_hash, status, execution_mode, from_currency, to_currency,
           from_amount, to_amount, exchange_rate, commission_amount, net_from_amount, is_debited, accepted_minimum)
         VALUES ($1, $2, 'x', 'processing', 'external', 'XRP', 'BTC', 5, 0.001, 0.0002, 0.02, 4.98, true, 0.001)`,
        [id, shop.merchantId],
      );
      await tx.query(
        `INSERT INTO swap_order (conversion_id, provider, payout_address, refund_address, amount, state, status,
           order_id, deposit_address, promised, valid_until)
         VALUES ($1, 'now', 'pay', 'back', 4.98, 'waiting', 'waiting', 'o-1', $2, 0.001, now() + interval '1 hour')`,
        [id, provider.address],
      );
    });
    const money = { id, merchantId: shop.merchantId, fromCurrency: 'XRP', fromAmount: '5' };
    await shop.db.transaction((tx) => post(tx, acceptConversionJournal(money)));
    return id;
  }
  const order: SwapOrder = {
    ...{ id: 'o-1', state: 'waiting', status: 'waiting', depositAddress: '', toAmount: '0.001' },
    ...{ payoutAddress: 'pay', refundAddress: 'back', fromAmount: '4.98', validUntil: null, payoutTxId: null },
  };
  const follow = (id: string) =>
    swapActivities({
      ...{ db: shop.db, codecs: {} as never, nodes: shop.nodes, log: { warn: () => undefined } },
      config: {
        ...{ SWAP_PROVIDER: '', SWAP_API_URL: '', SWAP_API_KEY: '', SWAP_POLL_SECONDS: 1, RATE_REFRESH_SECONDS: 1 },
      },
      provider: { name: 'now', readOrder: () => Promise.resolve(order) } as Partial<SwapProvider> as SwapProvider,
    }).followSwap(id);
  const planned = async (id: string): Promise<string> => {
    const next = await follow(id);
    if (!next || !('id' in next)) throw new Error(`Nothing planned: ${JSON.stringify(next)}`);
    return next.id;
  };
  const overdue = (id: string): Promise<unknown> =>
    shop.db.query('UPDATE swap_order SET valid_until = now() WHERE conversion_id = $1', [id]);
  const statusOf = async (id: string): Promise<string> =>
    (await shop.db.query('SELECT status FROM conversion WHERE id = $1', [id]))[0].status;
  const got = async (): Promise<bigint> => (await net.node.account(provider.address))!.drops;

  it('is given up where it has expired and its order takes none any more; the whole amount is back', async () => {
    const before = await got();
    const id = await trade();
    const intentId = await planned(id);
    expect(await shop.available()).toBe('995');
    expect(await shop.signer.signOnce(intentId)).toEqual({ state: 'stored' });
    await net.order({ order: 'fault', fault: 'swallow' });
    await shop.send(intentId);
    await overdue(id);
    // A block may still take it: nothing goes back, and the conversion has not failed.
    expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'waiting' });
    expect(await follow(id)).toMatchObject({ id: intentId });
    expect([await statusOf(id), await shop.available()]).toEqual(['processing', '995']);
    await net.close(25);
    await net.order({ order: 'go_on' });
    expect(await shop.send(intentId)).toMatchObject({ state: 'stuck' });
    expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'dropped' });
    expect(await follow(id)).toBeNull();
    expect([await statusOf(id), await shop.available()]).toEqual(['failed', '1000']);
    expect((await got()) - before).toBe(0n);
  });

  it('is signed again while its order waits for it, and paid once', async () => {
    const before = await got();
    const id = await trade();
    const intentId = await planned(id);
    await shop.signer.signOnce(intentId);
    await net.order({ order: 'fault', fault: 'swallow' });
    await shop.send(intentId);
    await net.close(25);
    await net.order({ order: 'go_on' });
    await shop.send(intentId);
    expect(await shop.signer.signBump(intentId, 1)).toEqual({ state: 'stored' });
    await overdue(id);
    await shop.send(intentId);
    await net.close(2);
    await shop.follow(intentId);
    await expect(follow(id)).rejects.toMatchObject({ type: 'SWAP_OPEN' });
    expect([await statusOf(id), await shop.available()]).toEqual(['processing', '995']);
    expect((await got()) - before).toBe(4_980_000n);
  });
});

describe('a refund from its deposit address, on TRON', () => {
  const network = 'tron';
  let stage: TronStage;
  let world: TronWorld;
  let shop: ExpiringShop;
  let to: string;
  let from: string;
  beforeAll(async () => {
    stage = await TronStage.start(1_010_000_000n, (on) => ({
      [on.addressAt(2)]: 1_000_000n,
      [addressOf(on, 'deposit')]: 20_000_000n,
    }));
    ({ world } = stage);
    [to, from] = [world.addressAt(2), addressOf(world, 'deposit')];
  });
  beforeEach(async () => {
    shop = await stage.open();
  });
  afterEach(() => stage.close(shop));
  afterAll(() => stage?.end());

  /** Five TRX that came for a payment which has failed, and goes back. Answers the refund, and what is planned. */
  async function refund(): Promise<Readonly<{ id: string; intentId: string }>> {
    const paymentId = newId();
    await unguarded(shop.db, async (tx) => {
      await tx.query(
        `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
           tolerance_pct, underpaid_policy, currency, network, amount, exchange_rate, amount_paid, settlement_address,
           custody, expires_at, expires_in)
         VALUES ($1, $2, $3, 'FAILED', 'api', 32, 'USD', 'merchant', 40, 1, 'hold', 'TRX', $4, 50, 1, 5, $5, 'platform',
           now(), 60)`,
        [paymentId, shop.merchantId, newSlug(), network, shop.treasury],
      );
      await tx.query(
        `INSERT INTO address (network, address, role, key_index, merchant_id, payment_id, currency)
         VALUES ($1, $2, 'deposit', 0, $3, $4, 'TRX')`,
        [network, from, shop.merchantId, paymentId],
      );
    });
    // What has come to a wallet is counted by a trigger.
    await shop.db.query(
      `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust,
         status, first_seen_at, allocation, payment_id)
       VALUES ($1, '0x02', -1, $2, 'deposit', 'TRX', 5, 5, false, 'confirmed', now(), 'unallocated', $3)`,
      [network, from, paymentId],
    );
    const unallocated = `L:unallocated:${shop.merchantId}` as const;
    await shop.db.transaction((tx) =>
      post(tx, {
        ...{ key: `deposit/${network}/0x02/-1`, entry: adjustment },
        postings: [{ debit: 'A:deposit', credit: unallocated, asset: 'TRX', amount: '5' }],
      }),
    );
    const ask = { type: 'underpaid', address: to, feeBearer: 'payer' } as const;
    const deps = { codecs: { [network]: world.codec } as never, rateMaxAgeSeconds: 3600 };
    const { row } = await shop.db.transaction((tx) =>
      openRefund(tx, deps, {
        merchantId: shop.merchantId,
        paymentId,
        ask,
        by: { userId: newId() },
        idempotencyKey: null,
      }),
    );
    const next = await refundActivities({ db: shop.db, nodes: shop.nodes }).nextRefundIntent(row.id);
    if (!next || !('id' in next)) throw new Error(`Nothing planned: ${JSON.stringify(next)}`);
    return { id: row.id, intentId: next.id };
  }
  const rowOf = async (id: string) => (await shop.db.query('SELECT * FROM refund WHERE id = $1', [id]))[0];
  const allocation = async (): Promise<string> =>
    (await shop.db.query(`SELECT allocation FROM deposit WHERE role = 'deposit'`))[0].allocation;
  const got = (): Promise<bigint> => world.adapter.holding(to, 'TRX', 'newest');
  async function expire(intentId: string): Promise<void> {
    await world.order('fault', { kind: 'dropped' });
    await shop.send(intentId);
    await world.order('fault', { kind: 'none' });
    await world.mine(230);
    expect(await shop.send(intentId)).toMatchObject({ state: 'stuck' });
  }

  it('leaves the deposits unallocated again when it is given up', async () => {
    const before = await got();
    const { id, intentId } = await refund();
    expect(await allocation()).toBe('refunded');
    expect(await shop.signer.signOnce(intentId)).toEqual({ state: 'stored' });
    await shop.db.query(`UPDATE signer.validity SET signed_at = signed_at - interval '25 hours'`);
    expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'waiting' });
    expect(await allocation()).toBe('refunded');
    await expire(intentId);
    expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'dropped' });
    expect(await rowOf(id)).toMatchObject({ status: 'failed', merchant_message: expect.stringContaining('expired') });
    expect(await allocation()).toBe('unallocated');
    expect((await got()) - before).toBe(0n);
  });

  it('is signed again from the same address, and booked with what it has burned', async () => {
    const before = await got();
    const { id, intentId } = await refund();
    await shop.signer.signOnce(intentId);
    await expire(intentId);
    expect(await shop.signer.signBump(intentId, 1)).toEqual({ state: 'stored' });
    const rows = await shop.rows(intentId);
    expect(rows.map(({ from_address: address, status }) => [address, status])).toEqual([
      [from, 'expired'],
      [from, 'stored'],
    ]);
    await shop.send(intentId);
    await world.mine(25);
    await shop.follow(intentId);
    const { status, net_amount: net } = await rowOf(id);
    expect(status).toBe('completed');
    expect((await got()) - before).toBe(BigInt(Math.round(parseFloat(net) * 1e6)));
    expect(await allocation()).toBe('refunded');
  });
});
