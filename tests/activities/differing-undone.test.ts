/** @jest-environment node */
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { createCodecs } from '../../chains/codecs';
import { confirmRequest, fileRequest } from '../../commands/operators/requests';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { readCursor } from '../../db/chains/cursor';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { newId } from '../../domain/ids';
import { rollBack } from '../../txmanager/reorganise';
import { anApprover } from '../approver';
import { creditFromCapital } from '../credit-from-capital';
import { anOperator } from '../operators';
import { diverts, keeps, switchedToken, token, type SwitchedToken } from './switched-token';
import { networkOfShop, TronShop, units } from './tron-shop';

/** What two operators have said of a transfer that differs stays, and nobody else says it; a reorganisation takes it
 *  back with the block that it is about. */

let tron: TronShop;
let of: SwitchedToken;
const ann = anApprover('ann@shop.example');
beforeAll(async () => {
  tron = await TronShop.start();
  of = switchedToken(tron);
  await tron.fundWallets();
  for (const asset of ['TRX', token]) await creditFromCapital(tron.db, tron.shop.id, asset, '500');
});
afterAll(() => tron?.end());
afterEach(() => of.inOrder());

let count = 400;
async function withdrawn(how: object): Promise<{ id: string; intentId: string }> {
  const address = tron.world.addressAt((count += 1));
  // It has the token already, so that it costs nobody more than was quoted.
  await tron.world.fund(address, units(1), units(1));
  await addToWhitelist(tron.db.manager, tron.shop.id, ann, {
    ...({ type: 'wallet', currency: token, address, destinationTag: null } as const),
  });
  const deps = { codecs: createCodecs(tron.config.chain), rateMaxAgeSeconds: 3600 };
  const ask = { currency: token, amount: '50', feeMode: 'add' as const, address };
  const { row } = await tron.db.transaction((tx) => openWithdrawal(tx, deps, tron.shop.id, ask, ann, newId()));
  const { nextWithdrawalIntent } = withdrawalActivities({ db: tron.db, nodes: [tron.adapter] });
  return { id: row.id, intentId: await of.sentSwitched(() => nextWithdrawalIntent(row.id), 'withdrawal', how) };
}
const statusOf = async (id: string): Promise<string> =>
  (await tron.db.query('SELECT status FROM withdrawal WHERE id = $1', [id]))[0].status;
const reserved = async (): Promise<bigint> => {
  const [row] = await tron.db.query('SELECT amount::text FROM balance WHERE account = $1 AND asset = $2', [
    ...[`L:reserved:${tron.shop.id}`, token],
  ]);
  return units(row.amount);
};

it('ends by the word of two operators alone, also for whoever writes its row', async () => {
  const { id, intentId } = await withdrawn(diverts);
  const set = (what: string) => tron.db.query(`UPDATE attempt SET ${what} WHERE intent_id = $1`, [intentId]);
  for (const success of ['true', 'false'])
    await expect(set(`status = 'final', success = ${success}, final_at = now()`)).rejects.toThrow(
      'only as two operators have said',
    );
  const shell = { kind: 'operator', id: null, name: 'root@host', ip: 'shell', requestId: newId() } as const;
  const asked = { kind: 'decide-transfer', payload: { intentId, outcome: 'failed' }, reason: 'looked into' };
  const request = await tron.db.transaction((tx) => fileRequest(tx, shell, asked));
  expect(Object.keys(request.payload).sort()).toEqual(['blockHash', 'intentId', 'outcome', 'txId']);
  const first = await anOperator(tron.db);
  await tron.db.transaction((tx) => confirmRequest(tx, first, request.id));
  for (const by of [request.id, newId()])
    await expect(set(`decision = 'failed', decided_by = '${by}'`)).rejects.toThrow('two operators have not said');
  const second = await anOperator(tron.db);
  await tron.db.transaction((tx) => confirmRequest(tx, second, request.id));
  for (const change of [
    `decision = 'paid'`,
    `decision = NULL, decided_by = NULL`,
    `moves = '[]'`,
    `block_hash = 'another'`,
    `status = 'final', success = true, final_at = now()`,
  ])
    await expect(set(change)).rejects.toThrow(/operators have said/);
  await of.goOn(intentId);
  expect(await statusOf(id)).toBe('failed');
  await expect(set(`success = true`)).rejects.toThrow('operators have said');
});

it.each([
  ['failed', 'paid'],
  ['paid', 'failed'],
])('is on its way again where its block is gone: it has %s, and %s then', async (first, then) => {
  const [lost, before, held] = [await of.losses(), await of.spendable(), await reserved()];
  const { id, intentId } = await withdrawn(first === 'failed' ? diverts : keeps);
  const [there, open] = [await of.spendable(), await reserved()];
  const [{ height }] = await tron.db.query('SELECT height::int AS height FROM attempt WHERE intent_id = $1', [
    intentId,
  ]);
  await of.decide(intentId, first);
  await of.goOn(intentId);
  expect(await statusOf(id)).toBe(first === 'paid' ? 'completed' : 'failed');
  const cursor = (await readCursor(tron.db.manager, networkOfShop))!;
  const [ancestor] = await tron.db.query(
    `SELECT height::int AS height, hash FROM chain_block
      WHERE network = $1 AND height < $2 ORDER BY height DESC LIMIT 1`,
    [networkOfShop, height],
  );
  await tron.db.transaction((tx) => rollBack(tx, networkOfShop, cursor, ancestor));
  expect([await statusOf(id), await of.losses(), await of.spendable(), await reserved()]).toEqual([
    ...['broadcast', lost, there, open],
  ]);
  await tron.look();
  await of.inOrder();
  expect(await of.differing()).toEqual([intentId]);
  await of.decide(intentId, then);
  await of.goOn(intentId);
  const isPaid = then === 'paid';
  expect(await statusOf(id)).toBe(isPaid ? 'completed' : 'failed');
  expect((await of.losses()) - lost).toBe(isPaid ? 0n : units(50));
  expect([await of.spendable(), await reserved()]).toEqual([isPaid ? there : before, held]);
});
