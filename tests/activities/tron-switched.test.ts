/** @jest-environment node */
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { hexOf } from '../../chains/tron/address';
import { createCodecs } from '../../chains/codecs';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { newId } from '../../domain/ids';
import type { NextIntent } from '../../txmanager/next-intent';
import { anApprover } from '../approver';
import { creditFromCapital } from '../credit-from-capital';
import { usdt } from '../chain/tron-vectors';
import type { TronWorld } from '../chain/tron-world';
import { TronShop } from './tron-shop';

/** What the issuer of a token can switch: its own fee on transfers, a pause, and who may not send it. */

let tron: TronShop;
let world: TronWorld;
const ann = anApprover('ann@shop.example');
beforeAll(async () => {
  tron = await TronShop.start();
  ({ world } = tron);
  await tron.fundWallets();
  for (const asset of ['TRX', 'USDT_TRC20']) await creditFromCapital(tron.db, tron.shop.id, asset, '1000');
});
afterAll(() => tron?.end());

const switched = async (more: object): Promise<void> => {
  await world.order('switch', { contract: hexOf(usdt), ...more });
  await world.mine();
};
const next = (id: string): Promise<NextIntent> =>
  withdrawalActivities({ db: tron.db, nodes: [tron.adapter] }).nextWithdrawalIntent(id);

/** A withdrawal that nothing is planned of yet. */
async function requested(currency: 'TRX' | 'USDT_TRC20', to: string): Promise<string> {
  const entry = { type: 'wallet', currency, address: to, destinationTag: null } as const;
  await addToWhitelist(tron.db.manager, tron.shop.id, ann, entry);
  const ask = { currency, amount: '50', feeMode: 'add' as const, address: to };
  const deps = { codecs: createCodecs(tron.config.chain), rateMaxAgeSeconds: 3600 };
  const { row } = await tron.db.transaction((tx) => openWithdrawal(tx, deps, tron.shop.id, ask, ann, newId()));
  return row.id;
}
const statusOf = async (id: string): Promise<string> =>
  (await tron.db.query('SELECT status FROM withdrawal WHERE id = $1', [id]))[0].status;
const openIncidents = (kind: string): Promise<Array<{ subject_id: string }>> =>
  tron.db.query('SELECT subject_id FROM incident WHERE kind = $1 AND resolved_at IS NULL', [kind]);

it.each(['blocked', 'paused'])('fails nobody while the token refuses the hot wallet itself: %s', async (how) => {
  const treasury = tron.addressOf('treasury');
  const id = await requested('USDT_TRC20', world.addressAt(how === 'paused' ? 90 : 91));
  await switched(how === 'paused' ? { isPaused: true } : { blocked: hexOf(treasury) });
  expect(await next(id)).toMatchObject({ reason: expect.any(String) });
  expect(await statusOf(id)).toBe('pending');
  expect(await openIncidents('wallet-refused')).toEqual([{ subject_id: `tron/${treasury}` }]);
  await switched({});
  await tron.carryOutAll(() => next(id));
  expect(await statusOf(id)).toBe('completed');
  expect(await openIncidents('wallet-refused')).toEqual([]);
});

it('signs others from a hot wallet while nobody has decided what a token that took a fee has paid', async () => {
  const id = await requested('USDT_TRC20', world.addressAt(92));
  let intent = (await next(id)) as { id: string; kind: string };
  if (intent.kind === 'gas') {
    await tron.carryOut(intent.id);
    intent = (await next(id)) as { id: string; kind: string };
  }
  expect(intent.kind).toBe('withdrawal');
  await switched({ feePoints: 100 });
  expect(await tron.signer().signOnce(intent.id)).toEqual({ state: 'stored' });
  await tron.sendSigned(intent.id);
  expect(await openIncidents('transfer-differs')).toEqual([{ subject_id: intent.id }]);
  expect(await tron.db.query('SELECT status FROM attempt WHERE intent_id = $1', [intent.id])).toEqual([
    { status: 'mined' },
  ]);
  const other = await requested('TRX', world.addressAt(93));
  await tron.carryOutAll(() => next(other));
  expect(await statusOf(other)).toBe('completed');
  expect(await statusOf(id)).not.toBe('completed');
});
