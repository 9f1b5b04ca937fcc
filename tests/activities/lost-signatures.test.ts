import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { signingActivities } from '../../activities/txmanager/signing';
import { restartActivities } from '../../activities/temporal/restart';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { recoveryReport } from '../../api/operators/recoveries';
import { cancelWithdrawal } from '../../commands/withdrawals/cancel';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { audit } from '../../db/audit/audit';
import { stopOutgoing } from '../../db/access/merchant-stop';
import { expectedHolding } from '../../db/chains/found-by-balance';
import { restoreSigned, signedBefore, type SignatureRecord } from '../../db/recovery/lost';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { newId } from '../../domain/ids';
import { outsideRecord } from '../../workers/outside-record';
import { anApprover } from '../approver';
import { copiesOf } from '../setup/copies';
import { bookEnd } from '../book-end';
import { estimating, nodes } from './nodes';
import { codecs, config, richShop, seed, strangers, type RichShop } from './rich-shop';

/** What was signed in the time that a recovery has lost: the signer's record has it, and the database has not. */

const ann = anApprover('ann@shop.example');
const folder = mkdtempSync(join(tmpdir(), 'signed-'));
const record: SignatureRecord = outsideRecord(folder);
let shop: RichShop;
let db: DataSource;
let copies: ReturnType<typeof copiesOf>;
let signer: ReturnType<typeof signingActivities>;
let activities: ReturnType<typeof withdrawalActivities>;

beforeEach(async () => {
  shop = await richShop('1');
  ({ db } = shop);
  copies = copiesOf((db.options as { url: string }).url);
  signer = estimating(db, signingActivities({ db, codecs, seed, record }));
  activities = withdrawalActivities({ db, nodes });
});
afterEach(() => shop.stop());
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
async function opened(amount: string): Promise<string> {
  const address = codecs.ethereum.derive(strangers, (count += 1));
  await addToWhitelist(db, shop.merchantId, ann, { type: 'wallet', currency: 'ETH', address, destinationTag: null });
  const { row } = await db.transaction((tx) =>
    openWithdrawal(
      tx,
      { codecs, rateMaxAgeSeconds: 3600 },
      shop.merchantId,
      { currency: 'ETH', amount, feeMode: 'add', address },
      ann,
      newId(),
    ),
  );
  return row.id;
}
async function planned(id: string): Promise<string> {
  const next = await activities.nextWithdrawalIntent(id);
  if (!next || !('id' in next)) throw new Error(`Nothing planned: ${JSON.stringify(next)}`);
  return next.id;
}
const restore = (from: SignatureRecord = record) => db.transaction((tx) => restoreSigned(tx, from));
/** The same records, as the release before wrote them: their owner in one text alone. */
const writtenBefore: SignatureRecord = {
  ...record,
  since: (moment) => record.since(moment).map(({ ownerKind, ownerId, ...one }) => one),
};
const lostOwners = () =>
  db.query(
    `SELECT lost_owner_kind AS kind, lost_owner_id AS id, owner_id AS text FROM intent WHERE owner_kind = 'lost'`,
  );
const attempts = (): Promise<Array<{ tx_id: string; nonce: number; kind: string }>> =>
  db.query('SELECT a.tx_id, a.nonce, i.kind FROM attempt a JOIN intent i ON i.id = a.intent_id ORDER BY a.id');
const statusOf = async (id: string): Promise<string> =>
  (await db.query('SELECT status FROM withdrawal WHERE id = $1', [id]))[0].status;
/** As the chain would leave it. */
const mined = (): Promise<unknown> =>
  db.query(`WITH done AS (
      UPDATE attempt SET status = 'final', success = true, fee_units = 21000000000000, final_at = now(), height = 1,
             block_hash = 'b1' WHERE status = 'sent' RETURNING intent_id)
    UPDATE intent SET status = 'final' WHERE id IN (SELECT intent_id FROM done)`);
const problems = async () =>
  (await audit(db, { settleMs: 1 })).filter(({ invariant }) =>
    ['I1', 'I2', 'I3', 'I4', 'I6', 'I7', 'I8', 'I9'].includes(invariant),
  );
const reconcile = () => {
  const log = { warn: () => undefined };
  return restartActivities({ db, config, log, running: () => Promise.resolve(new Set()) }).reconcile();
};

describe('C2: what was signed in the lost time is never signed again', () => {
  it.each(['planned before the loss', 'planned in the lost time'])('where it was %s', async (when) => {
    const before = await problems();
    const id = await opened('0.6');
    if (when === 'planned before the loss') await planned(id);
    await copies.backUp();
    await signer.signOnce(await planned(id));
    const [signed] = await attempts();
    await copies.restore();
    expect(await attempts()).toEqual([]);

    expect(await restore()).toBe(1);
    expect(await restore()).toBe(0);
    expect(await attempts()).toEqual([{ ...signed, kind: 'lost' }]);
    expect(await lostOwners()).toEqual([{ kind: 'withdrawal', id, text: `withdrawal/${id}` }]);
    const [wallet] = await db.query('SELECT next_nonce, frozen_reason FROM wallet_sequence');
    expect(wallet).toEqual({
      next_nonce: signed!.nonce + 1,
      frozen_reason: `A recovery has lost what it sent: withdrawal ${id}`,
    });
    // Whatever still runs of the old time gets nothing signed, and nobody gets the money back.
    const [plan] = await db.query(`SELECT id FROM intent WHERE kind = 'withdrawal'`);
    // It looks again from the beginning, and does not ask for this signature for ever.
    if (plan) expect(await signer.signOnce(plan.id)).toEqual({ state: 'dropped', reason: signedBefore });
    await expect(db.transaction((tx) => cancelWithdrawal(tx, shop.merchantId, id))).rejects.toThrow('not in a state');
    expect(await db.transaction(recoveryReport)).toContain(signed!.tx_id);

    // Nothing could be planned for it now; what was signed is its own all the same.
    await db.transaction((tx) => stopOutgoing(tx, shop.merchantId, 'suspended'));
    const intentId = await planned(id);
    expect(await attempts()).toEqual([{ ...signed, kind: 'withdrawal' }]);
    expect(await statusOf(id)).toBe('processing');
    expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
    expect(await attempts()).toHaveLength(1);
    await mined();
    await bookEnd(db, intentId);
    expect(await statusOf(id)).toBe('completed');
    expect(await activities.nextWithdrawalIntent(id)).toBeNull();
    expect(await problems()).toEqual(before);
  });

  it('nor returned before the signer has confirmed the database', async () => {
    const id = await opened('0.6');
    await copies.backUp();
    await signer.signOnce(await planned(id));
    await copies.restore();
    // The server runs on another incarnation than the one that the signer knew.
    await db.query(`INSERT INTO key_epoch (epoch, beat, incarnation) VALUES (0, 0, 'another')`);
    const cancel = () => db.transaction((tx) => cancelWithdrawal(tx, shop.merchantId, id));
    await expect(cancel()).rejects.toThrow('not in a state');
    await restore();
    await db.query('UPDATE key_epoch SET incarnation = database_incarnation()');
    await expect(cancel()).rejects.toThrow('not in a state');
    await planned(id);
    expect(await statusOf(id)).toBe('processing');
  });

  it('where it was recorded by the release before', async () => {
    const id = await opened('0.6');
    await copies.backUp();
    await signer.signOnce(await planned(id));
    const [signed] = await attempts();
    await copies.restore();
    expect(await restore(writtenBefore)).toBe(1);
    expect(await lostOwners()).toEqual([{ kind: 'withdrawal', id, text: `withdrawal/${id}` }]);
    await planned(id);
    expect(await attempts()).toEqual([{ ...signed, kind: 'withdrawal' }]);
  });

  it('counts a token that is read again after its sweep as it was', async () => {
    const [address, currency] = [codecs.ethereum.derive(strangers, 900), 'USDT_ERC20'];
    await db.query(`INSERT INTO address (network, address, role, key_index) VALUES ('ethereum', $1, 'deposit', 900)`, [
      address,
    ]);
    const [deposit] = await db.query(
      `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
                            first_seen_at, height, block_hash)
       VALUES ('ethereum', '0x05', 0, $1, 'deposit', $2, 200, 200, false, 'mined', now(), 5, 'h5') RETURNING id`,
      [address, currency],
    );
    await db.query(
      `WITH swept AS (INSERT INTO intent (kind, ref, network, currency, from_address, outputs, max_unit_price,
           fee_budget, status, owner_kind, owner_id, lost_owner_kind, lost_owner_id, lost)
         VALUES ('lost', 'sweep/x/1', 'ethereum', $2, $1, '[]', 1, 1, 'final', 'lost', 'sweep/x', 'sweep', 'x', '{}')
         RETURNING id)
       INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, unit_price, max_fee_units,
           moved_units, outputs, status, height, block_hash, success, fee_units)
       SELECT id, 1, 'ethereum', '0x06', '', $1, 0, 1, 1, 200000000, '[]', 'final', 6, 'h6', true, 1 FROM swept`,
      [address, currency],
    );
    // Nothing is there by now: what it brought is what has left since.
    const at = { network: 'ethereum', address, currency } as const;
    expect(await expectedHolding(db, at, 9, deposit.id)).toBe('-200');
    expect(await expectedHolding(db, at, 9)).toBe('0');
  });

  it('books what left for a row that is forgotten as a loss, and its nonce stays used', async () => {
    const before = await problems();
    await copies.backUp();
    await signer.signOnce(await planned(await opened('0.25')));
    const [signed] = await attempts();
    await copies.restore();
    expect(await restore()).toBe(1);
    await mined();
    await reconcile();
    await reconcile();
    expect(
      await db.query(`SELECT asset, trim_scale(amount)::text AS amount FROM posting WHERE debit = 'E:loss'`),
    ).toEqual([{ asset: 'ETH', amount: '0.25' }]);
    // Somebody must pay in what is lost; else the books hold.
    const after = await problems();
    expect(after.filter(({ invariant }) => invariant !== 'I4')).toEqual(before);
    expect(after.filter(({ invariant }) => invariant === 'I4')).toMatchObject([
      { found: ['ETH: owed 1.000000000000000000, held 0.749979000000000000'] },
    ]);
    expect(await db.transaction(recoveryReport)).toContain(`${signed!.tx_id}; nobody knows what it was for`);

    await db.query('UPDATE wallet_sequence SET frozen_reason = NULL, frozen_at = NULL');
    await signer.signOnce(await planned(await opened('0.1')));
    expect((await attempts()).map(({ nonce }) => nonce)).toEqual([signed!.nonce, signed!.nonce + 1]);
  });
});
