import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { payoutActivities } from '../../activities/payouts/payouts';
import { sweepActivities } from '../../activities/payments/payments';
import { treasuryMaintenanceActivities } from '../../activities/treasury/maintenance';
import { treasuryActivities } from '../../activities/treasury/treasury';
import { sendIntent } from '../../txmanager/send/send';
import type { Sender } from '../../txmanager/send/sender';
import { signingActivities } from '../../activities/txmanager/signing';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { operate } from '../../api/operator';
import { noLog } from '../shared/no-log';
import { createAdapter, createCodecs } from '../../chains/adapters';
import { queueBatch } from '../../commands/payouts/queue';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { audit } from '../../db/audit/audit';
import { registerKeys } from '../../db/chains/extended-keys';
import { post } from '../../db/ledger/ledger';
import { treasurySources } from '../../db/treasury/treasury';
import { addToWhitelist } from '../../db/wallets/whitelist';
import type { ChainAdapter, ChainCodec, KeyRole } from '../../domain/chains/chain';
import { parseConfig, type Config } from '../../domain/config';
import { newId } from '../../domain/ids';
import { adjustment } from '../../domain/ledger/entry';
import { mineEthereum } from '../../sandbox/chain-tools';
import { startAnvil } from '../../sandbox/parts/anvil';
import { call } from '../../sandbox/parts/json-rpc';
import type { Part } from '../../sandbox/parts/part';
import { freePort } from '../../sandbox/ports';
import { deployTokens } from '../../sandbox/tokens';
import { bookEnd } from '../book-end';
import { externalPayment } from './external-payment';
import { richShop, seed, strangers, type RichShop } from './rich-shop';

/** A real chain, and a shop whose money is on several hot wallets of ours. */

const ann = { id: newId(), email: 'ann@shop.example' };
const gwei = 10n ** 9n;
export const ether = 10n ** 18n;

let dataDir: string;
let anvil: Part;
let tokens: Record<string, string>;
export let config: Config;
let codecs: ReturnType<typeof createCodecs>;
export let codec: ChainCodec;
export let adapter: ChainAdapter;
let shop: RichShop;
export let db: DataSource;
export let merchantId: string;
export let signer: ReturnType<typeof signingActivities>;
export let sender: Sender;
let withdrawals: ReturnType<typeof withdrawalActivities>;
export let payouts: ReturnType<typeof payoutActivities>;
let moves: ReturnType<typeof treasuryActivities>;
export let sweeps: ReturnType<typeof sweepActivities>;
let snapshot: string;

export const addressOf = (role: KeyRole, index: number): string => codec.derive(codec.extendedKey(seed, role), index);
export const lane = (index: number): string => addressOf('treasury', index);
export const rpc = <T>(method: string, params: readonly unknown[]): Promise<T> => call<T>(anvil.url, method, params);
export const maintain = (): Promise<void> => treasuryMaintenanceActivities({ db, config }).maintainTreasury();
export const register = (lanes: number): Promise<number> =>
  db.transaction((tx) => registerKeys(tx, codec, (role) => [{ xpub: codec.extendedKey(seed, role), from: 0 }], lanes));

export async function startChain(): Promise<void> {
  dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-lanes-'));
  anvil = await startAnvil({ dataDir, port: await freePort() });
  tokens = await deployTokens(anvil.url);
  config = parseConfig({
    BTC_NETWORK: 'regtest',
    ETH_CHAIN_ID: '31337',
    ETH_RPC_URL: anvil.url,
    TOKEN_CONTRACTS: JSON.stringify(tokens),
    CONFIRMATIONS: 'ethereum=2',
  });
  codecs = createCodecs(config.chain);
  codec = codecs.ethereum;
  adapter = createAdapter('ethereum', config);
}
export async function stopChain(): Promise<void> {
  await anvil?.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

/** Two lanes, of which the first has 100 ETH. */
export async function freshShop(): Promise<void> {
  snapshot = await rpc<string>('evm_snapshot', []);
  // A node that goes back keeps its base fee.
  await rpc('anvil_setNextBlockBaseFeePerGas', [`0x${gwei.toString(16)}`]);
  await mineEthereum(anvil.url, 1);
  shop = await richShop('100');
  ({ db, merchantId } = shop);
  await rpc('anvil_setBalance', [shop.hot, `0x${(100n * ether).toString(16)}`]);
  await db.query('UPDATE deposit SET height = 0');
  const newDestinations = { coolingOffHours: 24, dailyCaps: { ETH: '1000' } };
  signer = signingActivities({ db, codecs, seed, newDestinations });
  sender = { db, adapter, log: noLog };
  withdrawals = withdrawalActivities({ db, nodes: [adapter] });
  payouts = payoutActivities({ db, nodes: [adapter] });
  moves = treasuryActivities({ db, nodes: [adapter] });
  sweeps = sweepActivities({ db, config, nodes: [adapter] });
  await register(2);
  await db.query('INSERT INTO key_epoch (epoch, beat, incarnation) VALUES (0, 0, database_incarnation())');
  await rate('USDT_ERC20', '1');
  await holds('gas', 0, 'ETH', '10');
  await db.query(
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
     VALUES ('ethereum', 0, 'none', 0, 'infinity')`,
  );
  await follow();
}
export async function endShop(): Promise<void> {
  const broken = (await audit(db, { settleMs: 1 })).filter(({ invariant }) =>
    ['I1', 'I2', 'I3', 'I7', 'I8', 'I9'].includes(invariant),
  );
  await shop.stop();
  await rpc('evm_revert', [snapshot]);
  expect(broken).toEqual([]);
}

const rate = (currency: string, value: string): Promise<unknown> =>
  db.query(
    `WITH r AS (INSERT INTO rate (currency, fiat, value, sources, taken_at) VALUES ($1, 'USD', $2, '[]', now())
                RETURNING *)
     INSERT INTO rate_latest (currency, fiat, rate_id, value, taken_at)
     SELECT currency, fiat, id, value, taken_at FROM r`,
    [currency, value],
  );

let made = 0;
/** More money of the merchants at one of our addresses, on the chain and in the rows. */
export async function holds(role: 'treasury' | 'gas', index: number, currency: string, amount: string): Promise<void> {
  const address = addressOf(role, index);
  if (currency === 'ETH') {
    const held = BigInt(await rpc<string>('eth_getBalance', [address, 'latest']));
    await rpc('anvil_setBalance', [address, `0x${(held + BigInt(amount) * ether).toString(16)}`]);
  } else {
    const [from] = await rpc<string[]>('eth_accounts', []);
    const args = [address as Hex, BigInt(amount) * 10n ** 6n] as const;
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
    await rpc('eth_sendTransaction', [{ from, to: tokens[currency], data, gas: '0x30d40' }]);
    await mineEthereum(anvil.url, 1);
  }
  await db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
                          height, first_seen_at, allocation)
     VALUES ('ethereum', $1, 0, $2, $3, $4, $5, $5, false, 'confirmed', 0, now(), 'own')`,
    [(made += 1).toString(16).padStart(64, 'e'), address, role, currency, amount],
  );
  await db.transaction((tx) =>
    post(tx, {
      key: `holds/${made}`,
      entry: adjustment,
      postings: [
        role === 'gas'
          ? { debit: 'A:gas', credit: 'Q:capital', asset: currency, amount }
          : { debit: 'A:treasury', credit: `L:available:${merchantId}`, asset: currency, amount },
      ],
    }),
  );
}

/** The rows of all blocks that are not there yet. */
export async function follow(): Promise<void> {
  const head = await adapter.head();
  const [{ n: known }] = await db.query(`SELECT coalesce(max(height), -1)::int AS n FROM chain_block`);
  for (let height = known + 1; height <= head.height; height += 1) {
    const block = await rpc<{ hash: string }>('eth_getBlockByNumber', [`0x${height.toString(16)}`, false]);
    await db.query(`INSERT INTO chain_block VALUES ('ethereum', $1, $2, now())`, [height, block.hash]);
  }
  await db.query('UPDATE chain_cursor SET height = $1, head_height = $1, hash = $2', [head.height, head.hash]);
}
const unitPrice = (price: bigint): Promise<unknown> =>
  db.query(`UPDATE network_fee SET unit_price = $1, tip_price = $2, taken_at = now() WHERE network = 'ethereum'`, [
    price.toString(),
    gwei.toString(),
  ]);
/** Fees rise by far: what is signed stays in no block, while thirty are made. */
export async function spike(): Promise<void> {
  await rpc('anvil_setNextBlockBaseFeePerGas', [`0x${(50_000n * gwei).toString(16)}`]);
  await mineEthereum(anvil.url, 30);
  await db.query(
    `UPDATE attempt SET sent_at = sent_at - interval '6 hours', created_at = created_at - interval '6 hours'`,
  );
  await db.query(`DELETE FROM chain_block`);
  await follow();
  // What is signed from now on pays for it.
  await unitPrice(2_000n * gwei);
}
export async function calm(): Promise<void> {
  await rpc('anvil_setNextBlockBaseFeePerGas', [`0x${gwei.toString(16)}`]);
  await mineEthereum(anvil.url, 1);
  // A node forgets what was too cheap for long: the same bytes go again.
  const open = await db.query(
    `SELECT raw FROM attempt WHERE status IN ('stored', 'sent') ORDER BY from_address, nonce`,
  );
  for (const { raw } of open) await adapter.broadcast(raw);
  await mineEthereum(anvil.url, 1);
  await unitPrice(2n * gwei);
}

let count = 0;
async function stranger(): Promise<string> {
  const address = codec.derive(strangers, (count += 1));
  for (const currency of ['ETH', 'USDT_ERC20'])
    await addToWhitelist(db, merchantId, ann, { type: 'wallet', currency, address, destinationTag: null });
  return address;
}
export async function withdrawal(amount: string, currency = 'ETH'): Promise<string> {
  const terms = { currency, amount, feeMode: 'add' as const, address: await stranger() };
  const deps = { codecs, rateMaxAgeSeconds: 3600 };
  return (await db.transaction((tx) => openWithdrawal(tx, deps, merchantId, terms, ann, newId()))).row.id;
}
type Next = { id: string; kind: string } & { reason?: string };
export const next = async (id: string): Promise<Next> => (await withdrawals.nextWithdrawalIntent(id)) as Next;
export const senderOf = async (intentId: string): Promise<string> =>
  (await db.query('SELECT from_address FROM intent WHERE id = $1', [intentId]))[0].from_address;

/** Planned, signed and sent; which wallet pays. */
export async function sent(id: string): Promise<{ intentId: string; from: string }> {
  const { id: intentId } = await next(id);
  expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
  await sendIntent(sender, intentId);
  return { intentId, from: await senderOf(intentId) };
}
/** Mined, and booked. False where no block has it. */
export async function ended(intentId: string): Promise<boolean> {
  const attempts = (await db.query('SELECT id, tx_id FROM attempt WHERE intent_id = $1', [intentId])) as Array<{
    id: string;
    tx_id: string;
  }>;
  type Receipt = { gasUsed: string; effectiveGasPrice: string; blockHash: string; blockNumber: string };
  for (const { id, tx_id } of attempts) {
    const receipt = await rpc<Receipt | null>('eth_getTransactionReceipt', [tx_id]);
    if (!receipt) continue;
    await db.query(
      `UPDATE attempt SET status = 'final', success = true, fee_units = $2, final_at = now(), block_hash = $3,
              height = $4 WHERE id = $1`,
      [
        id,
        (BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)).toString(),
        receipt.blockHash,
        parseInt(receipt.blockNumber, 16),
      ],
    );
    await db.query(`UPDATE intent SET status = 'final' WHERE id = $1`, [intentId]);
    const [{ kind, outputs, currency }] = await db.query('SELECT * FROM intent WHERE id = $1', [intentId]);
    // What comes to an address of ours, as the follower would find it.
    if (kind === 'consolidate')
      await db.query(
        `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust,
                              status, height, first_seen_at, allocation)
         SELECT 'ethereum', $1, -1, $2, 'treasury', $3, n, n, false, 'confirmed', $5, now(), 'own'
           FROM (SELECT $4::numeric / power(10::numeric, CASE WHEN $3 = 'ETH' THEN 18 ELSE 6 END) AS n) one`,
        [tx_id, outputs[0].address, currency, outputs[0].units, parseInt(receipt.blockNumber, 16)],
      );
    await bookEnd(db, intentId);
    return true;
  }
  return false;
}
export const statusOf = async (id: string): Promise<string> =>
  (await db.query('SELECT status FROM withdrawal WHERE id = $1', [id]))[0].status;
export const freeAt = async (index: number, currency = 'ETH'): Promise<bigint> =>
  (await db.transaction((tx) => treasurySources(tx, currency))).find(({ address }) => address === lane(index))!.free;
export const freeze = (index: number): Promise<unknown> =>
  db.query(
    `INSERT INTO wallet_sequence (network, address, frozen_reason, frozen_at) VALUES ('ethereum', $1, 'stolen', now())
     ON CONFLICT (network, address) DO UPDATE SET frozen_reason = 'stolen', frozen_at = now()`,
    [lane(index)],
  );
export const freezeGas = (index: number): Promise<unknown> =>
  db.query(
    `INSERT INTO wallet_sequence (network, address, frozen_reason, frozen_at) VALUES ('ethereum', $1, 'stolen', now())
     ON CONFLICT (network, address) DO UPDATE SET frozen_reason = 'stolen', frozen_at = now()`,
    [addressOf('gas', index)],
  );
export const nextMove = async (ref: string): Promise<Next | null> =>
  (await moves.nextConsolidation(ref)) as Next | null;
type Move = { id: string; owner_id: string; from_address: string; to: string; units: string };
export const consolidations = (): Promise<Move[]> =>
  db.query(
    `SELECT id, owner_id, from_address, outputs->0->>'address' AS to, outputs->0->>'units' AS units FROM intent
      WHERE kind = 'consolidate' ORDER BY id`,
  );
/** Every intent of a move, to its end. */
export async function runToEnd(ref: string): Promise<void> {
  for (;;) {
    const open = (await moves.nextConsolidation(ref)) as Next | null;
    if (!open) return;
    expect(await signer.signOnce(open.id)).toEqual({ state: 'stored' });
    await sendIntent(sender, open.id);
    await mineEthereum(anvil.url, 1);
    expect(await ended(open.id)).toBe(true);
  }
}

let invoices = 0;
/** A confirmed payment of 1 ETH, on the chain too, that settles to this address of its merchant's own. */
export async function paidTo(settlement: string): Promise<string> {
  const index = (invoices += 1);
  const address = addressOf('deposit', index);
  await rpc('anvil_setBalance', [address, `0x${ether.toString(16)}`]);
  return externalPayment(db, { merchantId, address, index, settlement });
}

export const mine = (blocks: number): Promise<unknown> => mineEthereum(anvil.url, blocks);

/** A mass payout of so many lines. */
export const queue = async (lines: number, amount: string, currency = 'ETH'): Promise<string> => {
  const rows: Array<Record<'currency' | 'address' | 'amount', string>> = [];
  for (let n = 0; n < lines; n += 1) rows.push({ currency, address: await stranger(), amount });
  const deps = { codecs, rateMaxAgeSeconds: 3600 };
  return (await db.transaction((tx) => queueBatch(tx, deps, merchantId, ann, { rows }))).row.id;
};
export const sendersOf = (id: string): Promise<Array<{ from: string; n: number }>> =>
  db.query(
    `SELECT from_address AS "from", count(*)::int AS n FROM intent WHERE owner_id = $1 AND kind = 'leg'
      GROUP BY 1 ORDER BY min(id)`,
    [id],
  );

/** What `operator lanes` says. */
export const listed = (): Promise<string> => operate(db, { ...config, SECRETS_KEY: 'ab'.repeat(32) }, ['lanes']);
