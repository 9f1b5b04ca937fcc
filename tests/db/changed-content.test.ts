import type { DataSource } from 'typeorm';
import { applyBlock } from '../../db/chains/blocks';
import { rewind } from '../../db/chains/rewind';
import { readCursor, startCursor } from '../../db/chains/cursor';
import { post } from '../../db/ledger/ledger';
import { depositJournal } from '../../domain/ledger/ledger';
import { newId } from '../../domain/ids';
import { connectionsTo, freshDatabase } from '../setup/postgres';
import { insertMerchant } from '../merchant-row';

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
const merchantId = newId();
const [first, second] = [newId(), newId()];

beforeAll(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
  await insertMerchant(db, merchantId);
  for (const [index, id] of [first, second].entries()) {
    await db.query(
      `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
         tolerance_pct, underpaid_policy, currency, network, amount, expires_at, expires_in)
       VALUES ($1, $2, $3, 'WAITING', 'api', 10, 'USD', 'merchant', 40, 1, 'hold', 'USDT_ERC20', 'ethereum', 5,
         now() + interval '1 hour', 3600)`,
      [id, merchantId, `s${index}`],
    );
    await db.query(
      `INSERT INTO address (network, address, role, key_index, currency, merchant_id, payment_id)
       VALUES ('ethereum', $1, 'deposit', $2, 'USDT_ERC20', $3, $4)`,
      [`0x${index}`, index, merchantId, id],
    );
  }
  await startCursor(db.manager, 'ethereum', { height: 10, hash: 'h10' });
});
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

/** A block with one token transfer, the first log of its transaction. */
async function mine(hash: string, txId: string, to: string, units: bigint): Promise<void> {
  const from = (await readCursor(db.manager, 'ethereum'))!;
  const transfers = [{ txId, index: 0, to, currency: 'USDT_ERC20', units, inputs: [] }];
  const block = { height: from.height + 1, hash, parentHash: from.hash, time: 1_700_000_000, transfers };
  await db.transaction((tx) => applyBlock(tx, 'ethereum', from, { ...block, txIds: [txId], spent: new Map() }, 100));
}
async function reorganise(): Promise<void> {
  const from = (await readCursor(db.manager, 'ethereum'))!;
  await db.transaction((tx) => rewind(tx, 'ethereum', from, { height: 10, hash: 'h10' }));
}
const row = async (txId: string) =>
  (
    await db.query(
      `SELECT status, address, payment_id, trim_scale(amount)::text AS amount, block_hash FROM deposit
        WHERE tx_id = $1`,
      [txId],
    )
  )[0];
const told = async (): Promise<string[]> =>
  (await db.query(`SELECT DISTINCT args->>0 AS id FROM temporal_request ORDER BY 1`)).map(
    (one: { id: string }) => one.id,
  );

describe('B8: another transfer at the same log index after a reorganisation', () => {
  it('gives the orphaned row its content, and both payments hear of it', async () => {
    await mine('a11', '0xt', '0x0', 5_000_000n);
    expect(await row('0xt')).toMatchObject({ status: 'mined', address: '0x0', amount: '5' });
    await reorganise();
    await db.query('DELETE FROM temporal_request');
    await mine('b11', '0xt', '0x1', 7_000_000n);
    expect(await row('0xt')).toEqual({
      status: 'mined',
      address: '0x1',
      payment_id: second,
      amount: '7',
      block_hash: 'b11',
    });
    expect(await told()).toEqual([first, second].sort());
    expect(await db.query('SELECT before, after, block_hash FROM deposit_change')).toEqual([
      {
        before: {
          address: '0x0',
          tag: '',
          amount: expect.stringMatching(/^5(\.0+)?$/) as string,
          currency: 'USDT_ERC20',
          paymentId: first,
        },
        after: { address: '0x1', tag: '', amount: '7', currency: 'USDT_ERC20', paymentId: second },
        block_hash: 'b11',
      },
    ]);
  });

  it('leaves the row as it is where the same transfer comes back', async () => {
    await reorganise();
    await mine('c11', '0xt', '0x1', 7_000_000n);
    expect(await row('0xt')).toMatchObject({ status: 'mined', address: '0x1', amount: '7', block_hash: 'c11' });
    expect(await db.query('SELECT FROM deposit_change')).toHaveLength(1);
  });

  it('is found by balance where the books have the earlier one under the key', async () => {
    await reorganise();
    await mine('d11', '0xbooked', '0x0', 5_000_000n);
    const deposit = { network: 'ethereum', txId: '0xbooked', index: 0, currency: 'USDT_ERC20', amount: '5' };
    await db.transaction((tx) => post(tx, depositJournal({ ...deposit, merchantId })));
    await reorganise();
    await mine('e11', '0xbooked', '0x1', 7_000_000n);
    expect(await row('0xbooked')).toMatchObject({ status: 'orphaned', address: '0x0', amount: '5', block_hash: null });
    expect(await db.query('SELECT kind FROM incident')).toEqual([{ kind: 'deposit-displaced' }]);
    expect(await db.query('SELECT address, currency, reason FROM balance_due')).toEqual([
      { address: '0x1', currency: 'USDT_ERC20', reason: 'displaced' },
    ]);
  });

  it('changes no row that is there already', async () => {
    await expect(
      db.query(`UPDATE deposit_change SET block_hash = 'x'`).catch((error: Error) => Promise.reject(error)),
    ).rejects.toThrow('append-only');
    await mine('f12', '0xstands', '0x0', 5_000_000n);
    await mine('f13', '0xstands', '0x1', 7_000_000n);
    expect(await row('0xstands')).toMatchObject({ address: '0x0', amount: '5' });
  });
});
