import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { payoutActivities } from '../../activities/payouts/payouts';
import { sweepActivities } from '../../activities/payments/payments';
import { treasuryActivities } from '../../activities/treasury/treasury';
import { signingActivities } from '../../activities/txmanager/signing';
import { refundActivities } from '../../activities/refunds/refunds';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { createAdapter, createCodecs } from '../../chains/adapters';
import { queueBatch } from '../../commands/payouts/queue';
import { openRefund } from '../../commands/refunds/create';
import { estimateWithdrawal } from '../../commands/withdrawals/estimate';
import { cancelWithdrawal } from '../../commands/withdrawals/cancel';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { audit } from '../../db/audit/audit';
import { post } from '../../db/ledger/ledger';
import { addToWhitelist } from '../../db/wallets/whitelist';
import type { ChainAdapter, ChainCodec, KeyRole } from '../../domain/chains/chain';
import { gasCeiling } from '../../domain/chains/costs';
import { parseConfig, type Config } from '../../domain/config';
import { newId, newSlug } from '../../domain/ids';
import { adjustment } from '../../domain/ledger/entry';
import { depositJournal } from '../../domain/ledger/ledger';
import { mineEthereum } from '../../sandbox/chain-tools';
import { startAnvil } from '../../sandbox/parts/anvil';
import { call } from '../../sandbox/parts/json-rpc';
import type { Part } from '../../sandbox/parts/part';
import { freePort } from '../../sandbox/ports';
import { deploySweeper, deployTokens } from '../../sandbox/tokens';
import { planConsolidation } from '../../txmanager/kinds/consolidation';
import { rollBack } from '../../txmanager/reorganise';
import { unguarded } from '../unguarded';
import { bookEnd } from '../book-end';
import { externalPayment } from './external-payment';
import { richShop, seed, strangers, type RichShop } from './rich-shop';
import { paymentsAt } from './run-payment';

/** What a node says a transfer takes, or that it cannot succeed, decides what is signed. A transaction that moved
 *  nothing is paid by the merchant who asked for it. On a real chain. */

const ann = { id: newId(), email: 'ann@shop.example' };
const gwei = 10n ** 9n;
const ether = 10n ** 18n;
/** Runtime code: stores the value that it is paid; reverts; reverts wherever gas has a price, as in a block. */
const storing = '0x345f5500';
const reverting = '0x5f5ffd';
const cheating = '0x3a156008575f5ffd5b00';

let dataDir: string;
let anvil: Part;
let tokens: Record<string, string>;
let config: Config;
let codec: ChainCodec;
let adapter: ChainAdapter;
let shop: RichShop;
let db: DataSource;
let merchantId: string;
let signer: ReturnType<typeof signingActivities>;
let withdrawals: ReturnType<typeof withdrawalActivities>;
let payouts: ReturnType<typeof payoutActivities>;
let sweeps: ReturnType<typeof sweepActivities>;
const finish = (intentId: string) => bookEnd(db, intentId);
let codecs: ReturnType<typeof createCodecs>;

const addressOf = (role: KeyRole, index: number): string => codec.derive(codec.extendedKey(seed, role), index);
const rpc = <T>(method: string, params: readonly unknown[]): Promise<T> => call<T>(anvil.url, method, params);

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-gas-'));
  anvil = await startAnvil({ dataDir, port: await freePort() });
  tokens = await deployTokens(anvil.url);
  const plain = createCodecs(parseConfig({ BTC_NETWORK: 'regtest', ETH_CHAIN_ID: '31337' }).chain).ethereum;
  const sweeper = await deploySweeper(anvil.url, plain.derive(plain.extendedKey(seed, 'gas'), 0));
  config = parseConfig({
    BTC_NETWORK: 'regtest',
    ETH_CHAIN_ID: '31337',
    ETH_RPC_URL: anvil.url,
    TOKEN_CONTRACTS: JSON.stringify(tokens),
    ETH_SWEEPER_CONTRACT: sweeper,
  });
  codecs = createCodecs(config.chain);
  codec = codecs.ethereum;
  adapter = createAdapter('ethereum', config);
  shop = await richShop('1000');
  ({ db, merchantId } = shop);
  signer = signingActivities({ db, codecs, seed });
  const nodes = [adapter];
  withdrawals = withdrawalActivities({ db, nodes });
  payouts = payoutActivities({ db, nodes });
  sweeps = sweepActivities({ db, config, nodes });
  await db.query(
    `INSERT INTO address (network, address, role, key_index)
     VALUES ('ethereum', $1, 'gas', 0), ('ethereum', $2, 'treasury', 1)`,
    [addressOf('gas', 0), addressOf('treasury', 1)],
  );
  await db.query(`UPDATE network_fee SET unit_price = $1, tip_price = $2`, [(4n * gwei).toString(), gwei.toString()]);
  for (const address of [shop.hot, addressOf('gas', 0)])
    await rpc('anvil_setBalance', [address, '0x3635c9adc5dea00000']);
  await db.query(
    `WITH r AS (INSERT INTO rate (currency, fiat, value, sources, taken_at)
                VALUES ('USDT_ERC20', 'USD', 1, '[]', now()) RETURNING *)
     INSERT INTO rate_latest (currency, fiat, rate_id, value, taken_at)
     SELECT currency, fiat, id, value, taken_at FROM r`,
  );
  for (const [address, amount] of [
    [shop.hot, '5000'],
    [addressOf('treasury', 1), '70'],
  ] as const)
    await holds(address, amount);
  await db.transaction((tx) =>
    post(tx, {
      key: 'tokens',
      entry: adjustment,
      postings: [
        { debit: 'A:treasury', credit: `L:available:${merchantId}`, asset: 'USDT_ERC20', amount: '5070' },
        { debit: 'A:gas', credit: 'Q:capital', asset: 'ETH', amount: '1000' },
      ],
    }),
  );
});
afterAll(async () => {
  await anvil?.stop();
  await shop?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});
afterEach(async () => {
  // Not I8: the delegation below takes nonces that no row knows.
  const broken = (await audit(db, { settleMs: 1 })).filter(({ invariant }) =>
    ['I1', 'I2', 'I3', 'I7', 'I9'].includes(invariant),
  );
  expect(broken).toEqual([]);
});

/** Tokens of ours, on the chain and in the rows. */
let made = 0;
async function holds(address: string, amount: string): Promise<void> {
  const [from] = await rpc<string[]>('eth_accounts', []);
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [address as Hex, BigInt(amount) * 10n ** 6n],
  });
  await rpc('eth_sendTransaction', [{ from, to: tokens.USDT_ERC20, data, gas: '0x30d40' }]);
  await mineEthereum(anvil.url, 1);
  await db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
                          first_seen_at, allocation)
     VALUES ('ethereum', $1, 0, $2, 'treasury', 'USDT_ERC20', $3, $3, false, 'confirmed', now(), 'own')`,
    [(made += 1).toString(16).padStart(64, 'f'), address, amount],
  );
}

let count = 0;
/** An address of somebody else, with code or without. */
async function stranger(code?: string): Promise<string> {
  const address = codec.derive(strangers, (count += 1));
  if (code !== undefined) await rpc('anvil_setCode', [address, code]);
  for (const currency of ['ETH', 'USDT_ERC20'])
    await addToWhitelist(db, merchantId, ann, { type: 'wallet', currency, address, destinationTag: null });
  return address;
}
async function asked(
  currency: string,
  amount: string,
  address: string,
  feeMode: 'add' | 'deduct' = 'add',
): Promise<string> {
  const deps = { codecs, rateMaxAgeSeconds: 3600 };
  const terms = { currency, amount, feeMode, address };
  return (await db.transaction((tx) => openWithdrawal(tx, deps, merchantId, terms, ann, newId()))).row.id;
}
type Row = { status: string; merchant_message: string | null; gross_amount: string; network_fee: string };
const read = async (id: string): Promise<Row> =>
  ((await db.query('SELECT * FROM withdrawal WHERE id = $1', [id])) as Row[])[0]!;
const balance = async (kind: string, asset = 'ETH'): Promise<string> =>
  ((
    await db.query('SELECT trim_scale(amount)::text AS amount FROM balance WHERE account = $1 AND asset = $2', [
      `L:${kind}:${merchantId}`,
      asset,
    ])
  )[0]?.amount as string | undefined) ?? '0';

type Receipt = { status: string; gasUsed: string; effectiveGasPrice: string; blockHash: string; blockNumber: string };
/** Signs an intent, sends it, and books what the chain made of it. */
async function runIntent(intentId: string): Promise<Receipt> {
  expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
  const [{ raw, tx_id: txId }] = (await db.query('SELECT raw, tx_id FROM attempt WHERE intent_id = $1', [
    intentId,
  ])) as [{ raw: string; tx_id: string }];
  expect(await adapter.broadcast(raw)).toEqual({ outcome: 'accepted' });
  await mineEthereum(anvil.url, 1);
  const receipt = await rpc<Receipt>('eth_getTransactionReceipt', [txId]);
  const isGood = receipt.status === '0x1';
  await db.query(
    `UPDATE attempt SET status = 'final', success = $2, fee_units = $3, final_at = now(), block_hash = $4, height = $5
      WHERE intent_id = $1`,
    [
      intentId,
      isGood,
      (BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)).toString(),
      receipt.blockHash,
      parseInt(receipt.blockNumber, 16),
    ],
  );
  await db.query('UPDATE intent SET status = $2 WHERE id = $1', [intentId, isGood ? 'final' : 'failed']);
  await finish(intentId);
  return receipt;
}
/** Runs a withdrawal to its end; what was mined for it. */
async function runToEnd(id: string): Promise<Receipt[]> {
  const receipts: Receipt[] = [];
  for (;;) {
    const next = await withdrawals.nextWithdrawalIntent(id);
    if (!next) return receipts;
    if ('lookAgainInMs' in next) throw new Error(next.reason);
    receipts.push(await runIntent(next.id));
  }
}

describe('A3: gas is estimated against the node', () => {
  it('a top-up to an address that delegates succeeds, and brings what the transfer takes', async () => {
    const address = addressOf('treasury', 1);
    const { raw } = codec.sign(seed, {
      kind: 'account',
      from: addressOf('gas', 0),
      key: { role: 'gas', index: 0 },
      nonce: 0,
      to: shop.hot,
      value: 0n,
      batch: {
        currency: 'USDT_ERC20',
        to: shop.hot,
        accounts: [{ address, key: { role: 'treasury', index: 1 }, nonce: 0, units: 0n }],
      },
      gasLimit: 400_000n,
      maxFeePerGas: 10n * gwei,
      maxPriorityFeePerGas: gwei,
    });
    expect(await adapter.broadcast(raw)).toEqual({ outcome: 'accepted' });
    await mineEthereum(anvil.url, 1);
    expect(await rpc<string>('eth_getCode', [address, 'latest'])).toMatch(/^0xef0100/);
    await db.query(
      `INSERT INTO wallet_sequence (network, address, next_nonce) VALUES ('ethereum', $1, 1), ('ethereum', $2, 1)`,
      [addressOf('gas', 0), address],
    );
    const source = { address, free: 70_000_000n };
    const ref = await db.transaction((tx) =>
      planConsolidation(tx, 'USDT_ERC20', shop.hot, source, (4n * gwei).toString()),
    );
    const moves = treasuryActivities({ db, nodes: [adapter] });
    const gas = await moves.nextConsolidation(ref);
    expect(gas).toMatchObject({ kind: 'gas' });
    expect(await runIntent((gas as { id: string }).id)).toMatchObject({ status: '0x1' });
    const move = await moves.nextConsolidation(ref);
    expect(move).toMatchObject({ kind: 'consolidate' });
    const receipt = await runIntent((move as { id: string }).id);
    expect(receipt.status).toBe('0x1');
    // What it brought pays for the transfer at its highest price, and no more.
    const [brought] = (await db.query(
      `SELECT (outputs->0->>'units')::numeric = (SELECT gas_limit * max_unit_price FROM intent
          WHERE kind = 'consolidate' AND owner_id = $1) AS is_exact FROM intent WHERE kind = 'gas' AND owner_id = $1`,
      [ref],
    )) as [{ is_exact: boolean }];
    expect(brought.is_exact).toBe(true);
    expect(await moves.nextConsolidation(ref)).toBeNull();
  });

  it('a top-up that was reverted all the same is made once more', async () => {
    const source = { address: addressOf('treasury', 1), free: 1n };
    const ref = await db.transaction((tx) =>
      planConsolidation(tx, 'USDT_ERC20', shop.hot, source, (4n * gwei).toString()),
    );
    const next = () => treasuryActivities({ db, nodes: [adapter] }).nextConsolidation(ref) as Promise<{ id: string }>;
    await holds(source.address, '1');
    const { id } = await next();
    // A delegation between the estimate and the block: what was enough is not any more.
    await db.query('UPDATE intent SET gas_limit = 21000 WHERE id = $1', [id]);
    expect((await runIntent(id)).status).toBe('0x0');
    const again = await next();
    expect(again.id).not.toBe(id);
    expect((await runIntent(again.id)).status).toBe('0x1');
    expect((await runIntent((await next()).id)).status).toBe('0x1');
  });

  it('nothing is signed without an estimate, and nothing above the ceiling', async () => {
    const id = await asked('ETH', '0.01', await stranger());
    const next = (await withdrawals.nextWithdrawalIntent(id)) as { id: string };
    await db.query('UPDATE intent SET gas_limit = NULL WHERE id = $1', [next.id]);
    expect(await signer.signOnce(next.id)).toEqual({ state: 'dropped', reason: 'its gas is not estimated yet' });
    await db.query('UPDATE intent SET gas_limit = $2 WHERE id = $1', [next.id, (gasCeiling('ETH') + 1n).toString()]);
    await expect(signer.signOnce(next.id)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
    await db.query('UPDATE intent SET gas_limit = NULL WHERE id = $1', [next.id]);
    expect(await runToEnd(id)).toMatchObject([{ status: '0x1', gasUsed: '0x5208' }]);
  });
});

let invoices = 0;
/** A confirmed payment of 1 ETH, on the chain too, that settles to this address of its merchant's own. */
async function paidTo(settlement: string): Promise<string> {
  const index = (invoices += 1);
  const address = addressOf('deposit', index);
  await rpc('anvil_setBalance', [address, `0x${ether.toString(16)}`]);
  return externalPayment(db, { merchantId, address, index, settlement });
}

describe('A4: what would be reverted is not sent, and who has it sent in vain pays for it', () => {
  it('a contract that stores what it is paid gets ETH, and tokens', async () => {
    const address = await stranger(storing);
    const id = await asked('ETH', '0.5', address);
    expect((await runToEnd(id)).map(({ status }) => status)).toEqual(['0x1']);
    expect(await read(id)).toMatchObject({ status: 'completed' });
    expect(BigInt(await rpc<string>('eth_getStorageAt', [address, '0x0', 'latest']))).toBe(ether / 2n);
    const tokenId = await asked('USDT_ERC20', '12', address);
    expect((await runToEnd(tokenId)).map(({ status }) => status)).toEqual(['0x1', '0x1']);
    expect(await adapter.holding(address, 'USDT_ERC20', (await adapter.head()).height)).toBe(12_000_000n);
  });

  it('a withdrawal to a contract that reverts ends unsigned, with a reason, and all of it comes back', async () => {
    const before = await balance('available');
    const id = await asked('ETH', '0.5', await stranger(reverting));
    expect(await withdrawals.nextWithdrawalIntent(id)).toBeNull();
    expect(await read(id)).toMatchObject({
      status: 'failed',
      merchant_message: expect.stringContaining('does not take this transfer'),
    });
    expect(await balance('available')).toBe(before);
    expect(await balance('reserved')).toBe('0');
    const [limitUse] = (await db.query(
      `SELECT released_at IS NOT NULL AS is_released FROM egress_admission WHERE ref = $1`,
      [id],
    )) as unknown[];
    expect(limitUse).toEqual({ is_released: true });
  });

  it('lines of a mass payout to a contract that reverts cost the platform nothing, and others are paid', async () => {
    const attempts = async (): Promise<number> =>
      ((await db.query('SELECT count(*)::int AS n FROM attempt')) as [{ n: number }])[0].n;
    const [bad, good] = [await stranger(reverting), await stranger()];
    const before = await attempts();
    const rows = Array.from({ length: 40 }, (_, n) => ({
      currency: 'ETH',
      address: n === 7 ? good : bad,
      amount: '0.002',
    }));
    const { row } = await db.transaction((tx) =>
      queueBatch(tx, { codecs, rateMaxAgeSeconds: 3600 }, merchantId, ann, { rows }),
    );
    await payouts.payoutStep(row.id);
    expect(await signer.signPayouts(row.id)).toEqual({ stored: 1 });
    expect(await attempts()).toBe(before + 1);
    const [{ raw }] = (await db.query('SELECT raw FROM attempt ORDER BY id DESC LIMIT 1')) as [{ raw: string }];
    expect(await adapter.broadcast(raw)).toEqual({ outcome: 'accepted' });
    expect(
      await db.query(
        `SELECT status, count(*)::int AS n, max(merchant_message) AS message FROM payout_leg WHERE batch_id = $1
          GROUP BY 1 ORDER BY 1`,
        [row.id],
      ),
    ).toEqual([
      { status: 'failed', n: 39, message: expect.stringContaining('does not take this transfer') },
      { status: 'processing', n: 1, message: null },
    ]);
  });

  it('a contract wallet of the merchant is settled to, and one that refuses is named on the timeline', async () => {
    const address = await stranger(storing);
    const id = await paidTo(address);
    expect(await sweeps.queueSweep(id)).toEqual({ queued: true });
    for (;;) {
      const next = await sweeps.nextIntent(id);
      if (!next) break;
      expect((await runIntent((next as { id: string }).id)).status).toBe('0x1');
    }
    // Less 0.4 % and the network fee.
    expect(BigInt(await rpc<string>('eth_getStorageAt', [address, '0x0', 'latest']))).toBe(995_916n * 10n ** 12n);

    const refused = await paidTo(await stranger(reverting));
    expect(await sweeps.queueSweep(refused)).toMatchObject({
      queued: false,
      reason: expect.stringContaining('its settlement address does not take the transfer'),
    });
    expect(
      await db.query(`SELECT details->>'reason' AS reason FROM payment_event WHERE payment_id = $1`, [refused]),
    ).toEqual([{ reason: expect.stringContaining('its settlement address does not take') }]);
    expect(await db.query('SELECT kind FROM incident WHERE subject_id = $1', [refused])).toEqual([
      { kind: 'sweep-overdue' },
    ]);
    expect(await db.query('SELECT FROM intent WHERE payment_id = $1', [refused])).toEqual([]);
  });

  it('one that a block has and that moved nothing is charged to its merchant, and stays in his limits', async () => {
    const before = await balance('available');
    const held = await balance('reserved');
    const id = await asked('ETH', '0.5', await stranger(cheating));
    const next = (await withdrawals.nextWithdrawalIntent(id)) as { id: string };
    const receipt = await runIntent(next.id);
    expect(receipt.status).toBe('0x0');
    const fee = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice);
    const units = (text: string): bigint =>
      BigInt((text.split('.')[0] ?? '') + (text.split('.')[1] ?? '').padEnd(18, '0'));
    expect(units(before) - units(await balance('available'))).toBe(fee);
    expect(await balance('reserved')).toBe(held);
    expect(await read(id)).toMatchObject({
      status: 'failed',
      merchant_message: expect.stringContaining('network fee was charged'),
    });
    expect(
      await db.query(
        `SELECT type, trim_scale(amount)::text AS amount FROM ledger_entry WHERE source_id = $1
          ORDER BY seq DESC LIMIT 1`,
        [id],
      ),
    ).toEqual([{ type: 'network_fee', amount: expect.stringMatching(/^-0\.0000/) }]);
    expect(await db.query('SELECT released_at FROM egress_admission WHERE ref = $1', [id])).toEqual([
      { released_at: null },
    ]);
    // Booked again, it is charged once; a reorganisation takes the charge back with the rest.
    await finish(next.id);
    expect(units(before) - units(await balance('available'))).toBe(fee);
    const height = parseInt(receipt.blockNumber, 16);
    await db.query(
      `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
       VALUES ('ethereum', $1, $2, $1, now())`,
      [height, receipt.blockHash],
    );
    await db.transaction((tx) =>
      rollBack(tx, 'ethereum', { height, hash: receipt.blockHash }, { height: height - 1, hash: 'a' }),
    );
    expect(await read(id)).toMatchObject({ status: 'broadcast' });
    expect(units(before) - units(await balance('available'))).toBe(units((await read(id)).gross_amount));
  });
});

const unitsOf = (text: string): bigint =>
  BigInt((text.split('.')[0] ?? '') + (text.split('.')[1] ?? '').padEnd(18, '0'));

describe('A4: the charge follows the estimate', () => {
  it('a recipient that takes more gas than a usual transfer costs his merchant more, and no other does', async () => {
    for (const [code, isMore] of [
      [storing, true],
      [undefined, false],
    ] as const) {
      const before = await balance('available');
      const id = await asked('ETH', '0.5', await stranger(code));
      const [receipt] = await runToEnd(id);
      const { status, gross_amount, network_fee } = await read(id);
      expect(status).toBe('completed');
      const more = unitsOf(before) - unitsOf(await balance('available')) - unitsOf(gross_amount);
      expect(more > 0n).toBe(isMore);
      // All that the chain took for it is paid.
      const took = BigInt(receipt!.gasUsed) * BigInt(receipt!.effectiveGasPrice);
      expect(unitsOf(network_fee) + more).toBeGreaterThanOrEqual(took);
      const fees = await db.query(`SELECT type FROM ledger_entry WHERE source_id = $1 AND type = 'network_fee'`, [id]);
      expect(fees).toHaveLength(isMore ? 1 : 0);
    }
  });

  it('a receiver who bears the fee pays for his own code', async () => {
    const before = await balance('available');
    const address = await stranger(storing);
    const id = await asked('ETH', '0.5', address, 'deduct');
    const quoted = await read(id);
    const [receipt] = await runToEnd(id);
    const { status, network_fee: fee } = await read(id);
    expect(status).toBe('completed');
    expect(unitsOf(fee)).toBeGreaterThan(unitsOf(quoted.network_fee));
    const arrived = BigInt(await rpc<string>('eth_getStorageAt', [address, '0x0', 'latest']));
    expect(arrived + unitsOf(fee)).toBe(ether / 2n);
    expect(unitsOf(fee)).toBeGreaterThanOrEqual(BigInt(receipt!.gasUsed) * BigInt(receipt!.effectiveGasPrice));
    expect(unitsOf(before) - unitsOf(await balance('available'))).toBe(ether / 2n);
  });

  it('is refused where the balance cannot pay it, and returned where nothing is sent', async () => {
    const [before, held] = [await balance('available'), await balance('reserved')];
    const taken = await asked('ETH', '0.5', await stranger(storing));
    await withdrawals.nextWithdrawalIntent(taken);
    const gross = unitsOf((await read(taken)).gross_amount);
    expect(unitsOf(before) - unitsOf(await balance('available'))).toBeGreaterThan(gross);
    await db.transaction((tx) => cancelWithdrawal(tx, merchantId, taken));
    expect(await balance('available')).toBe(before);

    const terms = { currency: 'ETH', amount: '1', feeMode: 'add' } as const;
    const deps = { codecs, rateMaxAgeSeconds: 3600 };
    const { maxAmount: amount } = await estimateWithdrawal(db, deps, merchantId, terms);
    const everything = { ...terms, amount, address: await stranger(storing) };
    const { row } = await db.transaction((tx) => openWithdrawal(tx, deps, merchantId, everything, ann, newId()));
    expect(await balance('available')).toBe('0');
    expect(await withdrawals.nextWithdrawalIntent(row.id)).toBeNull();
    expect(await read(row.id)).toMatchObject({
      status: 'failed',
      merchant_message: expect.stringContaining('the balance cannot pay for it'),
    });
    expect(await balance('available')).toBe(before);
    expect(await balance('reserved')).toBe(held);
  });
});

describe('A4: a refund', () => {
  /** Of a settled payment, to this address. */
  async function refund(address: string): Promise<string> {
    const paymentId = newId();
    await unguarded(db, (tx) =>
      tx.query(
        `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
           tolerance_pct, underpaid_policy, currency, network, amount, exchange_rate, amount_paid, settlement_address,
           custody, expires_at, expires_in)
         VALUES ($1, $2, $3, 'SETTLED', 'api', 3200, 'USD', 'merchant', 40, 1, 'hold', 'ETH', 'ethereum', 1, 3200, 1,
           $4, 'platform', now(), 60)`,
        [paymentId, merchantId, newSlug(), shop.hot],
      ),
    );
    const ask = { type: 'partial', amount: '0.5', address } as const;
    const deps = { codecs, rateMaxAgeSeconds: 3600 };
    const { row } = await db.transaction((tx) =>
      openRefund(tx, deps, { merchantId, paymentId, ask, by: { userId: newId() }, idempotencyKey: null }),
    );
    return row.id;
  }
  const stateOf = async (id: string): Promise<{ status: string; merchant_message: string | null }> =>
    (await db.query('SELECT status, merchant_message FROM refund WHERE id = $1', [id]))[0];

  it('to a contract that reverts ends unsigned, and all of it comes back', async () => {
    const [before, held] = [await balance('available'), await balance('reserved')];
    const id = await refund(await stranger(reverting));
    expect(await refundActivities({ db, nodes: [adapter] }).nextRefundIntent(id)).toBeNull();
    expect(await stateOf(id)).toEqual({
      status: 'failed',
      merchant_message: expect.stringContaining('does not take this transfer'),
    });
    expect(await balance('available')).toBe(before);
    expect(await balance('reserved')).toBe(held);
  });

  it('that a block has and that moved nothing is charged to the merchant', async () => {
    const [before, held] = [await balance('available'), await balance('reserved')];
    const id = await refund(await stranger(cheating));
    const next = (await refundActivities({ db, nodes: [adapter] }).nextRefundIntent(id)) as { id: string };
    const receipt = await runIntent(next.id);
    expect(receipt.status).toBe('0x0');
    expect(await stateOf(id)).toEqual({
      status: 'failed',
      merchant_message: expect.stringContaining('network fee was charged'),
    });
    const fee = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice);
    expect(unitsOf(before) - unitsOf(await balance('available'))).toBe(fee);
    expect(await balance('reserved')).toBe(held);
  });
});

describe('A3: a batch of tokens that was reverted', () => {
  /** A confirmed payment in tokens, which its address holds on the chain. */
  async function paidInTokens(amount: string): Promise<string> {
    const [id, index] = [newId(), (invoices += 1)];
    const address = addressOf('deposit', index);
    await unguarded(db, (tx) =>
      tx.query(
        `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
           tolerance_pct, underpaid_policy, currency, network, amount, exchange_rate, native_rate, network_fee_amount,
           amount_paid, settlement_address, custody, expires_at, expires_in, required_confirmations, confirmed_at,
           tx_ids)
         VALUES ($1, $2, $3, 'CONFIRMED', 'api', $4, 'USD', 'merchant', 40, 1, 'hold', 'USDT_ERC20', 'ethereum', $4, 1,
           3200, 0.5, $4, $5, 'platform', now() + interval '1 hour', 3600, 2, clock_timestamp(), '{}')`,
        [id, merchantId, newSlug(), amount, addressOf('treasury', 1)],
      ),
    );
    await db.query(
      `INSERT INTO address (network, address, role, key_index, currency, merchant_id, payment_id)
       VALUES ('ethereum', $1, 'deposit', $2, 'USDT_ERC20', $3, $4)`,
      [address, index, merchantId, id],
    );
    const deposit = { network: 'ethereum', txId: `0x${newId()}`, index: 0, currency: 'USDT_ERC20', amount };
    await db.query(
      `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
         is_dust, status, first_seen_at, confirmed_at, allocation, exchange_rate, quote_amount, rated_at)
       VALUES ('ethereum', $1, 0, $2, 'deposit', $3, 'USDT_ERC20', $4, $4, false, 'confirmed', now(), now(),
         'unsettled', 1, $4, date_trunc('milliseconds', now()))`,
      [deposit.txId, address, id, amount],
    );
    await db.transaction((tx) => post(tx, depositJournal({ ...deposit, merchantId })));
    const [from] = await rpc<string[]>('eth_accounts', []);
    const args = [address as Hex, BigInt(amount) * 10n ** 6n] as const;
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
    await rpc('eth_sendTransaction', [{ from, to: tokens.USDT_ERC20, data, gas: '0x30d40' }]);
    await mineEthereum(anvil.url, 1);
    return id;
  }
  const inTreasury = async (): Promise<bigint> =>
    (await adapter.holding(addressOf('treasury', 1), 'USDT_ERC20', (await adapter.head()).height))!;

  it('is swept payment by payment, from addresses that delegate since', async () => {
    const before = await inTreasury();
    const all = [await paidInTokens('40'), await paidInTokens('60')];
    expect(await sweeps.queueSweep(all[0]!)).toEqual({ queued: true });
    const [batch] = (await db.query(
      `SELECT i.owner_id AS id FROM sweep_share s JOIN intent i ON i.id = s.intent_id WHERE s.payment_id = $1`,
      [all[1]],
    )) as [{ id: string }];
    const next = (await sweeps.nextBatchIntent(batch.id)) as { id: string };
    // The token refuses everything for the time of one block.
    const code = await rpc<string>('eth_getCode', [tokens.USDT_ERC20, 'latest']);
    await rpc('anvil_setCode', [tokens.USDT_ERC20, reverting]);
    expect((await runIntent(next.id)).status).toBe('0x0');
    await rpc('anvil_setCode', [tokens.USDT_ERC20, code]);
    expect(await sweeps.nextBatchIntent(batch.id)).toBeNull();
    expect(await rpc<string>('eth_getCode', [addressOf('deposit', invoices), 'latest'])).toMatch(/^0xef0100/);

    for (const id of all) {
      // Settling sees that the batch has dropped it.
      await paymentsAt({ db, config, codecs }).runPayment(id);
      const kinds: string[] = [];
      for (;;) {
        const intent = await sweeps.nextIntent(id);
        if (!intent) break;
        if ('lookAgainInMs' in intent) throw new Error(intent.reason);
        kinds.push(intent.kind);
        expect((await runIntent(intent.id)).status).toBe('0x1');
      }
      expect(kinds).toEqual(['gas', 'sweep']);
    }
    expect((await inTreasury()) - before).toBe(100_000_000n);
  });
});

describe('A4: a mass payout', () => {
  it('has what is usual estimated at once, and a line that takes more by itself, at its receiver’s cost', async () => {
    const [usual, more] = [await stranger(), await stranger(storing)];
    const rows = Array.from({ length: 12 }, (_, n) => ({
      currency: 'ETH',
      address: n === 7 ? more : usual,
      amount: '0.002',
    }));
    const { row } = await db.transaction((tx) =>
      queueBatch(tx, { codecs, rateMaxAgeSeconds: 3600 }, merchantId, ann, { rows }),
    );
    await payouts.payoutStep(row.id);
    const estimated = await db.query<Array<{ gas: string | null; by: string; isAdded: boolean }>>(
      `SELECT i.gas_limit::text AS gas, i.xmin::text AS by, l.added_fee IS NOT NULL AS "isAdded"
         FROM payout_leg l JOIN intent i ON i.id = l.intent_id WHERE l.batch_id = $1 ORDER BY i.id`,
      [row.id],
    );
    const ofUsual = estimated.filter(({ gas }) => gas === '21000');
    expect(ofUsual.map(({ isAdded }) => isAdded)).toEqual(Array<boolean>(11).fill(false));
    expect(new Set(ofUsual.map(({ by }) => by)).size).toBe(1);
    const others = estimated.filter(({ gas }) => gas !== '21000');
    expect(others).toEqual([{ gas: expect.any(String), by: expect.any(String), isAdded: true }]);
    expect(Number(others[0]!.gas)).toBeGreaterThan(21_000);
    expect(await signer.signPayouts(row.id)).toEqual({ stored: 12 });
  });
});
