/** @jest-environment node */
import { createFollower } from '../../activities/chains/follower';
import { payoutActivities } from '../../activities/payouts/payouts';
import { signingActivities } from '../../activities/txmanager/signing';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { createAdapter } from '../../chains/adapters';
import { createCodecs } from '../../chains/codecs';
import { xrplFamily } from '../../chains/xrpl/expiring-family';
import { queueBatch } from '../../commands/payouts/queue';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { addToWhitelist } from '../../db/wallets/whitelist';
import type { ChainAdapter } from '../../domain/chains/chain';
import { capitalTag } from '../../domain/chains/tags';
import { newId } from '../../domain/ids';
import { waitsForFirst } from '../../txmanager/first-transfers';
import type { NextIntent } from '../../txmanager/next-intent';
import { sendPayouts } from '../../txmanager/send/payouts';
import { sendIntent } from '../../txmanager/send/send';
import { startHarness, type Harness, type Shop } from '../api/harness';
import { anApprover } from '../approver';
import { creditFromCapital } from '../credit-from-capital';
import { bookEnd } from '../book-end';
import { simulated, xrplChains, xrplNetwork } from '../chain/expiring-networks';
import { simulatedXrpl, xrp, type SimulatedXrpl } from '../chain/xrpl-network';

/** Payments of XRP to somebody without an account: what makes none by itself waits for the one that makes it. */

const network = xrplNetwork.id;
const seed = Buffer.alloc(64, 7);
const log = { info: () => undefined, warn: () => undefined };
const ann = anApprover('ann@shop.example');
let net: SimulatedXrpl;
let h: Harness;
let shop: Shop;
let adapter: ChainAdapter;
let look: () => Promise<void>;

beforeAll(async () => {
  net = await simulatedXrpl();
  const payer = await net.funded(1, xrp(10_000));
  const SIGNER_NODES = JSON.stringify({ [network]: net.part.url });
  h = await startHarness({ NETWORKS: `bitcoin,ethereum,${network}`, ...simulated, SIGNER_NODES });
  const { config } = h.api.deps;
  adapter = createAdapter(network, { ...config, XRPL_RPC_URL: net.part.url });
  await h.db.query('DELETE FROM chain_cursor WHERE network = $1', [network]);
  look = createFollower({ db: h.db, adapter, config, log });
  await look();
  shop = await h.shop({}, ['XRP']);
  // The first payment shows where money comes in.
  const made = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 400, currency: 'XRP' } });
  await net.pay(payer, { to: made.body.depositAddress, drops: xrp(500), tag: capitalTag(network)! });
  await net.close();
  await look();
  await creditFromCapital(h.db, shop.id, 'XRP', '400');
});
afterAll(async () => {
  await h?.stop();
  await net?.end();
});

const deps = () => ({ codecs: createCodecs(h.api.deps.config.chain), rateMaxAgeSeconds: 3600 });
const at = () => ({ db: h.db, nodes: [adapter] });
const signer = () => {
  const expiring = { [network]: xrplFamily(xrplChains.simulator, net.node) } as never;
  return signingActivities({ db: h.db, codecs: deps().codecs, seed, expiring });
};
let people = 100;
/** Somebody without an account, on the whitelist. */
async function somebody(): Promise<{ currency: string; address: string; destinationTag: string }> {
  const { address } = net.person((people += 1));
  const receiver = { currency: 'XRP', address, destinationTag: '9' };
  await addToWhitelist(h.db.manager, shop.id, ann, { type: 'wallet', ...receiver });
  return receiver;
}
const heldBy = async (address: string): Promise<bigint> => (await net.node.account(address))?.drops ?? 0n;

/** The statuses of the lines of a mass payout to somebody new, in their order, and what he has got. */
async function paidOut(amounts: readonly string[]): Promise<{ lines: string[]; held: bigint }> {
  const to = await somebody();
  const rows = amounts.map((amount) => ({ ...to, amount }));
  const { row } = await h.db.transaction((tx) => queueBatch(tx, deps(), shop.id, ann, { rows }));
  for (let rounds = 0; ; rounds += 1) {
    const step = await payoutActivities(at()).payoutStep(row.id);
    if (!step) break;
    expect(rounds).toBeLessThan(10);
    if (step.sign) await signer().signPayouts(row.id);
    await sendPayouts({ db: h.db, adapter, log }, row.id);
    await net.close();
    await look();
  }
  const lines = await h.db.query('SELECT status FROM payout_leg WHERE batch_id = $1 ORDER BY row_index', [row.id]);
  return { lines: lines.map(({ status }: { status: string }) => status), held: await heldBy(to.address) };
}

it('pays small amounts after the one that makes the account', async () => {
  const { lines, held } = await paidOut(['15', '0.5', '0.4']);
  expect(lines).toEqual(['completed', 'completed', 'completed']);
  expect(held).toBeGreaterThan(xrp(15.8));
  expect(held).toBeLessThanOrEqual(xrp(15.9));
});

it('lets nobody wait for what makes no account: the first that can is the first', async () => {
  const { lines, held } = await paidOut(['0.5', '15', '0.4']);
  expect(lines).toEqual(['failed', 'completed', 'completed']);
  expect(held).toBeGreaterThan(xrp(15.3));
});

it('has a small withdrawal wait until a block has the one that makes the account', async () => {
  const to = await somebody();
  const open = async (amount: string): Promise<() => Promise<NextIntent>> => {
    const ask = { amount, feeMode: 'add' as const, ...to };
    const { row } = await h.db.transaction((tx) => openWithdrawal(tx, deps(), shop.id, ask, ann, newId()));
    return () => withdrawalActivities(at()).nextWithdrawalIntent(row.id);
  };
  const [first, second] = [await open('20'), await open('0.5')];
  const carryOut = async (next: () => Promise<NextIntent>): Promise<void> => {
    const { id } = (await next()) as { id: string };
    expect(await signer().signOnce(id)).toEqual({ state: 'stored' });
    await sendIntent({ db: h.db, adapter, log }, id);
    await net.close();
    await look();
    await bookEnd(h.db, id);
    expect(await next()).toBeNull();
  };
  await first();
  expect(await second()).toEqual({ lookAgainInMs: expect.any(Number), reason: waitsForFirst });
  await carryOut(first);
  await carryOut(second);
  expect(await heldBy(to.address)).toBe(xrp(20.5));
});
