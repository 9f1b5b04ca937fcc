import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { post } from '../../db/ledger/ledger';
import { writeTree } from '../../db/ledger/liabilities';
import { newId } from '../../domain/ids';
import { available, reserved, type Account } from '../../domain/ledger/ledger';
import { adjustment } from '../../domain/ledger/entry';
import { climb } from '../../domain/ledger/merkle';
import { startHarness, type Harness, type Shop } from './harness';

let h: Harness;
let shops: Shop[];
const folder = mkdtempSync(join(tmpdir(), 'proof-'));
const path = '/api/v1/ledger/liability-proof';
beforeAll(async () => {
  h = await startHarness();
  shops = [];
  for (let n = 0; n < 5; n += 1) shops.push(await h.shop({}, []));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await h?.stop();
});

const move = (debit: Account, credit: Account, amount: string, asset = 'BTC') =>
  h.db.transaction((tx) =>
    post(tx, { key: `move/${newId()}`, entry: adjustment, postings: [{ debit, credit, asset, amount }] }),
  );
const proofOf = async (shop: Shop) => (await h.call('GET', path, { key: shop.key })).body;
const check = (proof: unknown, root: string) => {
  const file = join(folder, 'proof.json');
  writeFileSync(file, JSON.stringify(proof));
  return spawnSync(process.execPath, [join(__dirname, '../../docs/verify-liability.mjs'), file, root]).status;
};

it('is there once a tree is', async () => {
  expect(await h.call('GET', path, { key: shops[0]!.key })).toMatchObject({
    status: 404,
    body: { error: 'No proof of liabilities has been made yet' },
  });
});

it('proves every merchant their balances in what is owed in all, and breaks with one altered balance', async () => {
  for (const [n, shop] of shops.slice(0, 4).entries()) {
    await move('Q:capital', available(shop.id), `${n + 1}.00000001`);
    await move('Q:capital', available(shop.id), '0.000000000000000001', 'ETH');
    await move(available(shop.id), reserved(shop.id), '0.5');
  }
  const tree = await writeTree(h.db);
  expect(tree.assets.map(({ currency, total }) => [currency, total])).toEqual([
    ['BTC', '10.00000004'],
    ['ETH', '0.000000000000000004'],
  ]);
  for (const [n, shop] of shops.slice(0, 4).entries()) {
    const proof = await proofOf(shop);
    expect(proof.root).toBe(tree.root);
    expect(proof.leaves).toMatchObject([
      { leaf: { merchantId: shop.id, currency: 'BTC', available: `${n}.50000001`, reserved: '0.5', transit: '0' } },
      { leaf: { merchantId: shop.id, currency: 'ETH', available: '0.000000000000000001' } },
    ]);
    expect(check(proof, tree.root)).toBe(0);
    const others = shops.filter((other) => other !== shop).map(({ id }) => id);
    for (const id of others) expect(JSON.stringify(proof)).not.toContain(id);
  }
  expect((await proofOf(shops[4]!)).leaves).toEqual([]);

  const before = await proofOf(shops[0]!);
  await h.db.query(`UPDATE balance SET amount = amount - 0.00000001 WHERE account = $1 AND asset = 'BTC'`, [
    available(shops[0]!.id),
  ]);
  const altered = await writeTree(h.db);
  expect(altered.root).not.toBe(tree.root);
  expect(check(before, altered.root)).toBe(1);
  const after = await proofOf(shops[0]!);
  expect(check(after, altered.root)).toBe(0);
  const claimed = { ...after.leaves[0].leaf, available: before.leaves[0].leaf.available as string };
  expect(climb(claimed, after.leaves[0].path).root).not.toBe(altered.assets[0]!.root);
  await expect(h.db.query('DELETE FROM liability_leaf')).rejects.toMatchObject({ code: 'CP001' });
});

it('is for those who may read the ledger', async () => {
  expect((await h.call('GET', path)).status).toBe(401);
  const blind = await h.shop({}, [], ['payments:read']);
  expect((await h.call('GET', path, { key: blind.key })).status).toBe(403);
});
