/** @jest-environment node */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyBlock } from '../../db/chains/chain';
import { readCursor } from '../../db/chains/cursor';
import { restoreSigned, signedBefore, type SignatureRecord, type SignedRecord } from '../../db/recovery/lost';
import { unfreezeWallet } from '../../db/txmanager/frozen-wallets';
import type { Block } from '../../domain/chains/chain';
import type { NetworkId } from '../../domain/chains/assets';
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
