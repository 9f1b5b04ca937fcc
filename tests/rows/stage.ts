import { setTimeout as sleep } from 'node:timers/promises';
import { networkOf } from '../../domain/chains/assets';
import { tagIn } from '../../domain/chains/tags';
import { dropBitcoin, reorgEthereum, transactionsOf } from '../../sandbox/chain-tools';
import { bitcoinCall, coinUrlOf } from '../../sandbox/miner';
import { call } from '../../sandbox/parts/json-rpc';
import type { Payment } from '../../sandbox/payer';
import type { Visitor } from '../../sandbox/visitor';
import { recordAnswer } from '../setup/record';
import { World, type Answer, type Invoice, type Shop } from '../world';

/** What cases of the payment state machine are made of: one world, one merchant, and what payers, merchants and chains
 *  do. */

export let world: World;
export let ann: Visitor;
export let shop: Shop;
type SetUp = Parameters<typeof World.start>[0] & Readonly<{ scopes?: readonly string[]; currencies?: string[] }>;
export async function setUp({ scopes = [], currencies, ...options }: SetUp = {}): Promise<void> {
  // Tokens by top-ups: a row here follows the nonces of an address.
  world = await World.start({ env: { ETH_SWEEPER_CONTRACT: '' }, ...options });
  ({ ann, shop } = await world.merchant(['payments:create', 'payments:read', 'ledger:read', ...scopes], currencies));
  await ann.call('PATCH', '/api/v1/settings', usual);
}
export async function tearDown(): Promise<void> {
  ticking.clear();
  await world?.stop();
}

/** What this merchant wants where a case does not say otherwise. */
export const usual = { underpaidPolicy: 'hold', autoAcceptCrossChainHours: 0 };

/** One after the other: settings are everybody's, and stamped when a payment is made; so are mailed codes. */
export function inTurn(): <T>(act: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const next = last.then(act, act);
    last = next.catch(() => undefined);
    return next;
  };
}
const making = inTurn();
export const open = (currency?: string, settings?: Partial<typeof usual>): Promise<Invoice> =>
  making(async () => {
    if (settings) await ann.call('PATCH', '/api/v1/settings', settings);
    const invoice = await world.invoice(shop, { amount: 25, ...(currency ? { currency } : {}) });
    if (settings) await ann.call('PATCH', '/api/v1/settings', usual);
    return invoice;
  });

/** Chains on which blocks come by themselves. */
export const ticking = new Set<string>();
export async function tick(chain: string, { blocks = 1, everyMs = 500 } = {}): Promise<void> {
  ticking.add(chain);
  while (ticking.has(chain)) {
    await world.payer.mine(chain, blocks).catch(() => undefined);
    await sleep(everyMs);
  }
}

/** What the merchant decides. Where there is no answer in time the payment is what counts: the same is asked again, and
 *  refused if it was done. */
export async function decide(id: string, what: string): Promise<Awaited<ReturnType<Visitor['post']>>> {
  let isUnknown = false;
  for (;;) {
    try {
      const [path, body] = [`/api/v1/payments/${id}/${what}`, { confirm: true }];
      const answer = await ann.post(path, body);
      recordAnswer('POST', path, body, answer);
      return answer;
    } catch (error) {
      const said = String(error);
      if (isUnknown && said.includes('INVALID_STATE')) return { status: 200, body: null };
      if (!said.includes('OUTCOME_UNKNOWN')) throw error;
      isUnknown = true;
    }
  }
}
/** Fails unless it is too late for that. */
export async function refuses(id: string, what: string): Promise<void> {
  for (;;) {
    const said = await ann.post(`/api/v1/payments/${id}/${what}`, { confirm: true }).then(() => 'done', String);
    if (said.includes('OUTCOME_UNKNOWN')) continue;
    expect(said).toContain('INVALID_STATE');
    return;
  }
}
/** What a payer does on the invoice's page: again, where there is no answer in time. */
export async function payer(invoice: Invoice, action: string, body: object = {}): Promise<Answer> {
  for (;;) {
    await world.db.query('DELETE FROM rate_limit'); // so often a payer may not ask
    const answer = await world.call(null, 'POST', `/invoice/${invoice.slug}/${action}`, body);
    if (answer.status !== 503) return answer;
  }
}
export const text = (amount: number): string => (amount < 1e-6 ? amount.toFixed(8) : String(amount));
export const pay = (invoice: Invoice, amount = text(invoice.amount)) =>
  world.payer.pay(invoice.currency!, invoice.address, amount, tagIn(invoice));
export const half = (invoice: Invoice): string => (invoice.amount / 2).toFixed(8);
/** Half of it is paid; where pools are not read it is in a block of its own, unless blocks tick. */
export async function halfPaid(currency: string, settings?: Partial<typeof usual>): Promise<Invoice> {
  const invoice = await open(currency, settings);
  await pay(invoice, half(invoice));
  if (!networkOf(currency).hasMempool && !ticking.has(currency)) await world.payer.mine(currency);
  await sees(invoice, 'PARTIALLY_PAID');
  return invoice;
}
/** Waits for a status, long: a slow machine is no fault. `mine`: where nothing ticks, blocks of this chain. */
export const sees = (
  invoice: Pick<Invoice, 'id'>,
  status: string | readonly string[],
  mine?: string,
): Promise<Answer['body']> =>
  world.sees(shop, invoice.id, status, { ...(mine && !ticking.has(mine) ? { mine } : {}), ms: patience });
export const until = (what: string, condition: () => Promise<boolean>): Promise<void> =>
  world.until(what, condition, patience);
const patience = 150_000;
/** As if its time had been up for `seconds`, and what came had come in time. */
export async function late({ id }: Invoice, seconds = 0): Promise<void> {
  await world.db.query(
    `UPDATE deposit SET first_seen_at = first_seen_at - make_interval(secs => $2 + 3600) WHERE payment_id = $1
       AND $2 > 0`,
    [id, seconds],
  );
  await world.db.query(`UPDATE payment SET expires_at = clock_timestamp() - make_interval(secs => $2) WHERE id = $1`, [
    id,
    seconds,
  ]);
  await world.nudge(id);
}
export async function childOf(invoice: Invoice, mine: string): Promise<Answer['body']> {
  await until('there is a child', async () => {
    if (!ticking.has(mine)) await world.payer.mine(mine);
    return (await world.payment(shop, invoice.id)).repeatDepositChildIds.length === 1;
  });
  return sees({ id: (await world.payment(shop, invoice.id)).repeatDepositChildIds[0] }, 'SETTLED', mine);
}
export const cross = async (invoice: Invoice): Promise<unknown> => {
  await world.payer.pay('USDT_ERC20', invoice.address, '25');
  return sees(invoice, 'CROSS_CHAIN_PENDING', 'ETH');
};
export async function settled(currency: string): Promise<Invoice> {
  const invoice = await open(currency);
  await pay(invoice);
  await sees(invoice, 'SETTLED', currency);
  return invoice;
}
/** What of its money has no allocation yet. */
export const held = async ({ id }: Invoice): Promise<string[]> =>
  (
    (await world.db.query(
      `SELECT trim_scale(amount) || ' ' || currency AS money FROM deposit WHERE payment_id = $1
         AND allocation = 'unallocated' AND child_payment_id IS NULL`,
      [id],
    )) as Array<{ money: string }>
  ).map((row) => row.money);

/** Paid, confirmed, and its sweep with the node; what is above its block, and eight below, is nobody else's. */
export async function queued(currency: string): Promise<{ invoice: Invoice; sent: Payment }> {
  await world.payer.mine(currency, 8);
  const invoice = await open(currency);
  const sent = await pay(invoice);
  await world.payer.mine(currency, networkOf(currency).kind === 'utxo' ? 2 : 3);
  await sees(invoice, 'SWEEP_QUEUED');
  await until('something of its sweep is sent', async () => {
    const [row] = await world.db.query(
      `SELECT FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE i.payment_id = $1 AND a.status = 'sent'`,
      [invoice.id],
    );
    return row !== undefined;
  });
  return { invoice, sent };
}
/** Blocks from that of its deposit to the node's head, six at least. */
export async function depthOf({ id, currency }: Invoice): Promise<number> {
  const [row] = await world.db.query('SELECT min(height)::int AS height FROM deposit WHERE payment_id = $1', [id]);
  const head =
    networkOf(currency!).kind === 'utxo'
      ? await bitcoinCall<number>(coinUrlOf(world.chains, currency!), 'getblockcount')
      : parseInt(await call<string>(world.chains.ethRpcUrl, 'eth_blockNumber', []), 16);
  return Math.max(6, head - row.height + 1);
}
export const isReorged = (invoice: Invoice): Promise<void> =>
  until('the payment says so', async () => (await world.payment(shop, invoice.id)).exceptions.includes('reorged'));

/** Coins: the newest blocks are gone, and what they had is in the pool again. Where `instead` is told, that spends its
 *  coins. */
export async function takeCoins(
  currency: string,
  depth: number,
  instead?: { sent: Payment; address: string },
): Promise<void> {
  await dropBitcoin(coinUrlOf(world.chains, currency), depth);
  if (instead) await world.payer.replace(instead.sent, { address: instead.address, fee: 100_000n });
}
/** Ethereum: the newest blocks are gone with all that they had; returns that. */
export async function takeEthereum(depth: number): Promise<string[]> {
  const raws = await transactionsOf(world.chains.ethRpcUrl, depth);
  await reorgEthereum(world.chains.ethRpcUrl, depth);
  return raws;
}
export async function bringBack(raws: readonly string[]): Promise<void> {
  // Ours are sent again already.
  for (const raw of raws) await call(world.chains.ethRpcUrl, 'eth_sendRawTransaction', [raw]).catch(() => undefined);
  await world.payer.mine('ETH');
}

type Expected = { status: string | readonly string[]; exceptions?: string[] | 'any'; told?: string };
export type Case = Expected & { rows: string; name: string; drive: () => Promise<Invoice> };
export const paid = 'detected confirming confirmed sweep_queued settled';
