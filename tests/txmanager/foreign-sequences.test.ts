/** @jest-environment node */
import { unfreezeWallet } from '../../db/txmanager/frozen-wallets';
import type { ExpiringFamily } from '../../domain/chains/chain';
import type { Person, SimulatedXrpl } from '../chain/xrpl-network';
import type { ExpiringShop } from './expiring-shop';
import { XrplStage } from './xrpl-stage';

/** The account of the XRP Ledger stands at a sequence that none of our transactions explains. */

const network = 'xrpl';
let stage: XrplStage;
let net: SimulatedXrpl;
let payee: Person;
let shop: ExpiringShop;
let family: ExpiringFamily;
beforeAll(async () => {
  stage = await XrplStage.start();
  ({ net, payee, family } = stage);
});
beforeEach(async () => {
  shop = await stage.open();
});
afterEach(() => stage.close(shop));
afterAll(() => stage?.end());

const balance = async (): Promise<bigint> => (await net.node.account(payee.address))!.drops;
const withdraw = (amount: string) => shop.withdraw(payee.address, amount, '7');
const used = expect.stringContaining('somebody else has used its sequence');
const unfreeze = (): Promise<unknown> => unfreezeWallet(shop.db, network, shop.treasury);
/** Somebody else pays by the account's key. */
async function useKey(): Promise<void> {
  expect((await net.node.submit((await stage.foreign()).raw)).result).toBe('tesSUCCESS');
  await net.close();
}
async function pay(intentId: string): Promise<void> {
  expect(await shop.signer.signOnce(intentId)).toEqual({ state: 'stored' });
  await shop.send(intentId);
  await net.close(2);
  await shop.follow(intentId);
}

it('freezes the wallet, with an incident, whatever the node says next', async () => {
  await pay((await withdraw('4')).intentId);
  const { intentId } = await withdraw('4');
  const ahead: ExpiringFamily = {
    ...family,
    node: {
      ...family.node,
      async termsOf(transfer) {
        const answer = await family.node.termsOf(transfer);
        if (answer.state !== 'done') return answer;
        return { ...answer, terms: { ...answer.terms, sequence: answer.terms.sequence! + 1 } };
      },
    },
  };
  const { signOnce } = shop.signerOf({ expiring: { [network]: ahead } as never });
  expect(await signOnce(intentId)).toMatchObject({ state: 'waiting', reason: used });
  await expect(shop.signer.signOnce(intentId)).rejects.toMatchObject({ code: 'WALLET_FROZEN' });
  expect(await shop.rows(intentId)).toEqual([]);
  const incidents = await shop.db.query(`SELECT details FROM incident WHERE kind = 'wallet-frozen'`);
  expect(incidents).toEqual([{ details: { intentId, reason: used } }]);
});

it('goes on after it once operators have explained it, and no further', async () => {
  const before = await balance();
  await pay((await withdraw('4')).intentId);
  await useKey();
  const { id, intentId } = await withdraw('5');
  expect(await shop.signer.signOnce(intentId)).toMatchObject({ state: 'waiting', reason: used });
  const { sequence } = (await net.node.account(shop.treasury))!;
  await unfreeze();
  // Another use, which nobody has looked at.
  await useKey();
  expect(await shop.signer.signOnce(intentId)).toMatchObject({ state: 'waiting', reason: used });
  await unfreeze();
  await pay(intentId);
  expect(await shop.rows(intentId)).toMatchObject([{ sequence: `${sequence + 1}` }]);
  expect(await shop.statusOf(id)).toBe('completed');
  // By the rows again.
  await pay((await withdraw('1')).intentId);
  expect((await balance()) - before).toBe(10_000_000n);
});

it('freezes the wallet likewise where another attempt is asked for', async () => {
  const { intentId } = await withdraw('4');
  await shop.signer.signOnce(intentId);
  await useKey();
  await shop.send(intentId);
  await net.close(25);
  expect(await shop.send(intentId)).toMatchObject({ state: 'stuck' });
  expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'waiting', reason: used });
  const frozen = expect.stringContaining('is frozen');
  expect(await shop.signer.signBump(intentId, 1)).toMatchObject({ state: 'waiting', reason: frozen });
  await unfreeze();
  expect(await shop.signer.signBump(intentId, 1)).toEqual({ state: 'stored' });
});
