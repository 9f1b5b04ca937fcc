/** @jest-environment node */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyBlock } from '../../db/chains/blocks';
import { readCursor } from '../../db/chains/cursor';
import {
  newestLost,
  restoreSigned,
  signedBefore,
  type SignatureRecord,
  type SignedRecord,
} from '../../db/recovery/lost';
import { endVoid, expireAttempt, noteAbsence } from '../../db/txmanager/expiry';
import { unfreezeWallet } from '../../db/txmanager/frozen-wallets';
import type { Block } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import type { NetworkId } from '../../domain/chains/assets';
import { lookAtLost } from '../../txmanager/send/lost';
import { outsideRecord } from '../../workers/outside-record';
import type { Person, SimulatedXrpl } from '../chain/xrpl-network';
import { copiesOf } from '../setup/copies';
import type { ExpiringShop } from './expiring-shop';
import { XrplStage } from './xrpl-stage';

/** What was signed in the time that a recovery has lost, where it expires: it holds its intent until its blocks have
 *  passed without it. And what a block has that was proven void. */

const network = 'xrpl' as NetworkId;
const folder = mkdtempSync(join(tmpdir(), 'signed-'));
const record: SignatureRecord = outsideRecord(folder);
let stage: XrplStage;
let net: SimulatedXrpl;
let shop: ExpiringShop;
let payee: Person;
let copies: ReturnType<typeof copiesOf>;
/** What the tests before have signed. */
let begun: Date;
beforeAll(async () => {
  stage = await XrplStage.start();
  ({ net, payee } = stage);
});
beforeEach(async () => {
  begun = new Date();
  shop = await stage.open({ record });
  copies = copiesOf(shop.url);
});
afterEach(() => stage.close(shop));
afterAll(async () => {
  await stage?.end();
  rmSync(folder, { recursive: true });
});

const balance = async (): Promise<bigint> => (await net.node.account(payee.address))!.drops;
const withdraw = (amount: string) => shop.withdraw(payee.address, amount, '7');
const ofTest = (): SignedRecord[] => record.since(begun);
const restore = (records: readonly SignedRecord[] = ofTest()): Promise<number> =>
  shop.db.transaction((tx) => restoreSigned(tx, { keep: () => Promise.resolve(), since: () => [...records] }));
/** Operators have looked, and the wallet signs again. */
const unfreeze = (): Promise<unknown> => unfreezeWallet(shop.db, network, shop.treasury);
const frozen = async (): Promise<string | null> =>
  ((await shop.db.query('SELECT frozen_reason FROM wallet_sequence')) as Array<{ frozen_reason: string | null }>)[0]!
    .frozen_reason;
async function expire(intentId: string): Promise<void> {
  await net.order({ order: 'fault', fault: 'swallow' });
  await shop.send(intentId);
  await net.close(25);
  await net.order({ order: 'go_on' });
}
/** The intent that the withdrawal has now. */
async function taken(id: string): Promise<string> {
  const next = await shop.activities.nextWithdrawalIntent(id);
  if (!next || !('id' in next)) throw new Error(JSON.stringify(next));
  return next.id;
}

it('holds what was signed in the lost time until it is proven void, and then signs anew', async () => {
  const before = await balance();
  const { id, intentId } = await withdraw('5');
  await copies.backUp();
  await shop.signer.signOnce(intentId);
  const [signed] = await shop.rows(intentId);
  await copies.restore();
  expect(await shop.rows(intentId)).toEqual([]);
  expect(await restore()).toBe(1);
  expect(await restore()).toBe(0);
  expect(await frozen()).toMatch(/^A recovery has lost/);
  expect(await shop.signer.signOnce(intentId)).toEqual({ state: 'dropped', reason: signedBefore });
  await unfreeze();

  const own = await taken(id);
  const { valid_to_height, valid_from_hash, sequence, tx_id } = signed!;
  expect(await shop.rows(own)).toMatchObject([
    { valid_to_height, valid_from_hash, sequence, tx_id, status: 'sent', is_restored: true, absence: null },
  ]);
  expect(await shop.signer.signBump(own, 1)).toMatchObject({ state: 'waiting', reason: `${tx_id} is open` });
  expect(await shop.statusOf(id)).toBe('processing');
  await expire(own);
  expect(await shop.send(own)).toMatchObject({ state: 'stuck' });
  expect(await shop.signer.signBump(own, 1)).toEqual({ state: 'stored' });
  await shop.send(own);
  await net.close(2);
  await shop.follow(own);
  expect(await shop.statusOf(id)).toBe('completed');
  expect((await balance()) - before).toBe(5_000_000n);
});

it('gives back what expired in the lost time when the time of its row is over, and it is proven', async () => {
  const { id, intentId } = await withdraw('5');
  await copies.backUp();
  await shop.signer.signOnce(intentId);
  await copies.restore();
  await restore();
  await unfreeze();
  const own = await taken(id);
  await shop.db.query(`UPDATE signer.validity SET signed_at = signed_at - interval '25 hours'`);
  expect(await shop.signer.signBump(own, 1)).toMatchObject({ state: 'waiting' });
  expect(await shop.statusOf(id)).toBe('processing');
  await expire(own);
  await shop.send(own);
  expect(await shop.signer.signBump(own, 1)).toMatchObject({ state: 'dropped' });
  expect(await shop.statusOf(id)).toBe('failed');
  expect(await shop.available()).toBe('1000');
});

it('takes back all of a wallet, and books what has arrived', async () => {
  const before = await balance();
  const plans = [await withdraw('1'), await withdraw('2'), await withdraw('3')];
  await copies.backUp();
  for (const { intentId } of plans) {
    await shop.signer.signOnce(intentId);
    await shop.send(intentId);
    await net.close(2);
    if (intentId !== plans[2]!.intentId) await shop.follow(intentId);
  }
  await copies.restore();
  expect(await restore()).toBe(3);
  await unfreeze();
  const next = await withdraw('4');
  // Not all is known yet: the wallet waits.
  expect(await shop.signer.signOnce(next.intentId)).toMatchObject({ state: 'waiting' });
  for (const { id } of plans) {
    const own = await taken(id);
    expect(await shop.signer.signBump(own, 1)).toMatchObject({ state: 'waiting' });
    await shop.follow(own);
    expect(await shop.statusOf(id)).toBe('completed');
  }
  expect((await balance()) - before).toBe(6_000_000n);
  expect(await shop.signer.signOnce(next.intentId)).toEqual({ state: 'stored' });
});

it('knows by the record of the next that the one before it was void', async () => {
  const { id, intentId } = await withdraw('5');
  await copies.backUp();
  await shop.signer.signOnce(intentId);
  await expire(intentId);
  await shop.send(intentId);
  await shop.signer.signBump(intentId, 1);
  const signed = await shop.rows(intentId);
  await copies.restore();
  expect(await restore()).toBe(2);
  const own = await taken(id);
  expect(await shop.rows(own)).toMatchObject([
    { status: 'expired', tx_id: signed[0]!.tx_id, absence: signed[0]!.absence },
    { status: 'sent', tx_id: signed[1]!.tx_id },
  ]);
});

it('takes the second of an intent whose first it knows, also where it did not know that to be void', async () => {
  const { intentId } = await withdraw('5');
  await shop.signer.signOnce(intentId);
  await copies.backUp();
  await expire(intentId);
  await shop.send(intentId);
  await shop.signer.signBump(intentId, 1);
  await copies.restore();
  expect((await shop.rows(intentId)).map(({ status }) => status)).toEqual(['stored']);
  expect(await restore()).toBe(1);
  expect((await shop.rows(intentId)).map(({ status }) => status)).toEqual(['expired', 'sent']);
});

it('leaves out what was recorded and rolled back', async () => {
  const { id, intentId } = await withdraw('5');
  await copies.backUp();
  // The signature is on disk, and its transaction never came to be.
  await shop.signer.signOnce(intentId);
  const [rolledBack] = await shop.rows(intentId);
  await copies.restore();
  await net.close(3);
  await copies.backUp();
  await shop.signer.signOnce(intentId);
  const [signed] = await shop.rows(intentId);
  expect(signed!.tx_id).not.toBe(rolledBack!.tx_id);
  await copies.restore();
  expect(await restore()).toBe(1);
  const own = await taken(id);
  expect(await shop.rows(own)).toMatchObject([{ tx_id: signed!.tx_id, status: 'sent' }]);
});

it('freezes the wallet where it knows something else of the intent that stands', async () => {
  const { intentId } = await withdraw('5');
  await shop.signer.signOnce(intentId);
  const [known] = await shop.rows(intentId);
  const [one] = ofTest();
  const other = { ...one!, txId: 'AB'.repeat(32), window: { ...one!.window!, absences: [] } };
  expect(await restore([other])).toBe(0);
  expect((await shop.rows(intentId)).map(({ tx_id }) => tx_id)).toEqual([known!.tx_id]);
  expect(await frozen()).toMatch(/^A recovery has found two that stand/);
});

it('freezes the wallet whose void transaction a block has, with an incident, and changes nothing else', async () => {
  const { intentId } = await withdraw('5');
  await shop.signer.signOnce(intentId);
  await expire(intentId);
  await shop.send(intentId);
  const [ended] = await shop.rows(intentId);
  const cursor = (await readCursor(shop.db.manager, network))!;
  const block: Block = {
    ...{ height: cursor.height + 1, hash: 'b2', parentHash: cursor.hash, time: 1, transfers: [], spent: new Map() },
    txIds: ['FF'.repeat(32), ended!.tx_id],
  };
  await shop.db.transaction((tx) => applyBlock(tx, network, cursor, block, 10));
  const reason = `${ended!.tx_id} is void by block ${ended!.absence!.through.height}, and block 2 has it`;
  expect(await frozen()).toBe(reason);
  expect(await shop.db.query(`SELECT details FROM incident WHERE kind = 'wallet-frozen'`)).toEqual([
    { details: { intentId, reason } },
  ]);
  expect(await shop.rows(intentId)).toEqual([ended]);
  expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'waiting' });
  expect(await shop.rows(intentId)).toHaveLength(1);
});

/** As the follower looks. Answers what it was warned of. */
async function look(adapter = shop.adapter): Promise<object[]> {
  const warned: object[] = [];
  const log = { info: () => undefined, warn: (fields: object) => void warned.push(fields) };
  await lookAtLost({ db: shop.db, adapter, log });
  return warned;
}

it('opens the wallet again when what no row owns is void, and tells what became of it', async () => {
  await withdraw('1');
  await copies.backUp();
  const { id, intentId } = await withdraw('5');
  await shop.signer.signOnce(intentId);
  const [signed] = await shop.rows(intentId);
  await copies.restore();
  expect(await restore()).toBe(1);
  await unfreeze();
  expect(await shop.db.query('SELECT FROM withdrawal WHERE id = $1', [id])).toEqual([]);
  const { intentId: next } = await withdraw('4');
  await look();
  // A ledger may still take it.
  expect(await newestLost(shop.db, 5)).toMatchObject([{ tx_id: signed!.tx_id, status: 'sent', was: 'ownerless' }]);
  expect(await shop.signer.signOnce(next)).toMatchObject({ state: 'waiting' });
  await net.close(25);
  const fateOf = () => Promise.reject(new DomainError('NODE_UNREACHABLE', 'it lacks a ledger'));
  const poor = { ...shop.adapter, expiring: { ...net.node.expiring, fateOf } };
  expect(await look(poor)).toMatchObject([{ reason: 'it lacks a ledger' }]);
  expect(await look()).toEqual([]);
  expect(await newestLost(shop.db, 5)).toMatchObject([{ tx_id: signed!.tx_id, status: 'expired', was: 'ownerless' }]);
  expect(await shop.signer.signOnce(next)).toEqual({ state: 'stored' });
  await shop.send(next);
  await net.close(2);
  await shop.follow(next);
});

it('ends nothing of what no row owns by a look at what a block has', async () => {
  await withdraw('1');
  await copies.backUp();
  const { intentId } = await withdraw('5');
  await shop.signer.signOnce(intentId);
  const [signed] = await shop.rows(intentId);
  await shop.send(intentId);
  await copies.restore();
  await restore();
  await unfreeze();
  await net.close(25);
  await look();
  const [lost] = await newestLost(shop.db, 5);
  expect(lost).toMatchObject({ tx_id: signed!.tx_id, status: 'sent', was: 'ownerless' });
  const { intentId: next } = await withdraw('4');
  expect(await shop.signer.signOnce(next)).toMatchObject({
    state: 'waiting',
    reason: `${signed!.tx_id} of its wallet is open`,
  });
});

it('signs and gives back nothing of what was proven void and is in a block, also for an unfrozen wallet', async () => {
  const before = await balance();
  const { id, intentId } = await withdraw('5');
  await shop.signer.signOnce(intentId);
  const [row] = await shop.rows(intentId);
  await net.node.broadcast(row!.raw);
  await net.close(25);
  // Two nodes have told of ledgers that were none: the chain worker's, and the signer's own.
  const through = { height: parseInt(row!.valid_to_height!, 10), hash: 'none', time: 1 };
  const proof = { txId: row!.tx_id, from: 1, through, finalHeight: through.height };
  expect(await expireAttempt(shop.db, row!.id, proof)).toBe(true);
  await noteAbsence(shop.db, network, proof);
  const cursor = (await readCursor(shop.db.manager, network))!;
  const block: Block = {
    ...{ height: cursor.height + 1, hash: 'b2', parentHash: cursor.hash, time: 1, transfers: [], spent: new Map() },
    txIds: [row!.tx_id],
  };
  await shop.db.transaction((tx) => applyBlock(tx, network, cursor, block, 10));
  await unfreeze();
  const reason = `${row!.tx_id} is open`;
  expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'waiting', reason });
  // Another finds the sequence used: by our own, which the rows call void.
  const { id: other, intentId: next } = await withdraw('4');
  expect(await shop.signer.signOnce(next)).toMatchObject({ state: 'waiting' });
  await unfreeze();
  expect(await shop.signer.signOnce(next)).toEqual({ state: 'stored' });
  expect(await shop.rows(next)).toMatchObject([{ sequence: `${parseInt(row!.sequence!, 10) + 1}` }]);
  await shop.send(next);
  await net.close(2);
  await shop.follow(next);
  expect(await shop.statusOf(other)).toBe('completed');
  expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'waiting', reason });
  const [record] = await shop.db.query('SELECT id, status FROM withdrawal WHERE id = $1', [id]);
  expect(await shop.asApi((tx) => endVoid(tx, 'withdrawal', [record]))).toEqual([]);
  expect(await shop.rows(intentId)).toHaveLength(1);
  expect((await balance()) - before).toBe(9_000_000n);
});

it('signs nothing anew beside what it has left out, until that is proven void too', async () => {
  const before = await balance();
  const { intentId } = await withdraw('5');
  await copies.backUp();
  await shop.signer.signOnce(intentId);
  const lost = ofTest();
  const [known] = await shop.rows(intentId);
  await shop.send(intentId);
  await copies.restore();
  // A database that was asked to sign before its record was brought.
  await net.order({ order: 'lag', ledgers: 1 });
  await shop.signer.signOnce(intentId);
  await net.order({ order: 'go_on' });
  const [second] = await shop.rows(intentId);
  expect(second!.tx_id).not.toBe(known!.tx_id);
  expect(await restore(lost)).toBe(0);
  await unfreeze();
  await net.close(25);
  expect(await shop.send(intentId)).toMatchObject({ state: 'stuck' });
  for (let n = 0; n < 3; n += 1) {
    expect(await shop.signer.signBump(intentId, 1)).toMatchObject({
      state: 'waiting',
      reason: `${known!.tx_id} is open`,
    });
    await unfreeze();
  }
  expect((await balance()) - before).toBe(5_000_000n);
});
