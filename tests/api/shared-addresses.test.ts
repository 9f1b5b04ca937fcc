import { createCodec } from '../../chains/codecs';
import { registerKeys } from '../../db/chains/extended-keys';
import type { KeyRole } from '../../domain/chains/chain';
import { factsOf, lockPayment } from '../../db/payments/payments';
import { isOurs } from '../../db/wallets/wallets';
import { parseConfig } from '../../domain/config';
import { startHarness, type Harness } from './harness';

/** Networks of the EVM have the same addresses: no address is given to two payments, and what is given is watched on
 *  all of them. docs/decisions/0032-one-sequence-of-addresses.md */

type Row = { network: string; address: string; currency: string; payment_id: string; is_elsewhere: boolean };
const rowsOf = (h: Harness, where: string, values: unknown[] = []): Promise<Row[]> =>
  h.db.query(
    `SELECT network, address, currency, payment_id, is_elsewhere FROM address WHERE role = 'deposit' AND ${where}
      ORDER BY key_index, network`,
    values,
  );
type Shop = Awaited<ReturnType<Harness['shop']>>;
async function make(h: Harness, shop: Shop, currency?: string): Promise<{ id: string; address: string; slug: string }> {
  const body = { amount: 25, ...(currency ? { currency } : {}) };
  const made = await h.call('POST', '/api/v1/payments', { key: shop.key, body });
  expect(made.status).toBe(201);
  const { paymentId: id, invoiceUrl } = made.body;
  const [row] = await rowsOf(h, 'payment_id = $1 AND NOT is_elsewhere', [id]);
  return { id, address: row?.address ?? '', slug: invoiceUrl.split('/').at(-1) };
}

describe('addresses of networks that share them', () => {
  let h: Harness;
  let shop: Shop;
  beforeAll(async () => {
    h = await startHarness({ NETWORKS: 'bitcoin,ethereum,polygon', POLYGON_CHAIN_ID: '31137' });
    shop = await h.shop();
  }, 60_000);
  afterAll(() => h.stop());

  it('belong to one payment, whichever networks are paid on', async () => {
    const made = [];
    for (const currency of ['ETH', 'POL', 'USDC_POLYGON', 'USDT_ERC20', 'POL'])
      made.push(await make(h, shop, currency));
    expect(new Set(made.map(({ address }) => address)).size).toBe(made.length);
    for (const { id, address } of made) {
      const rows = await rowsOf(h, 'address = $1', [address]);
      expect(rows.map((row) => [row.network, row.payment_id])).toEqual([
        ['ethereum', id],
        ['polygon', id],
      ]);
    }
  });

  it('are watched where nobody was asked to pay, as such', async () => {
    const { address } = await make(h, shop, 'POL');
    expect(await rowsOf(h, 'address = $1', [address])).toEqual([
      expect.objectContaining({ network: 'ethereum', currency: 'POL', is_elsewhere: true }),
      expect.objectContaining({ network: 'polygon', currency: 'POL', is_elsewhere: false }),
    ]);
    const bitcoin = await make(h, shop, 'BTC');
    expect(await rowsOf(h, 'payment_id = $1', [bitcoin.id])).toHaveLength(1);
  });

  it('keep no payment open for a network where nobody was asked to pay', async () => {
    const isRead = async (id: string): Promise<boolean> =>
      h.db.transaction(async (tx) => {
        await tx.query(`UPDATE payment SET expires_at = now() - interval '1 minute' WHERE id = $1`, [id]);
        await tx.query(`UPDATE chain_cursor SET scanned_through = now() - interval '1 hour' WHERE network = 'polygon'`);
        return (await factsOf(tx, await lockPayment(tx, id))).scannedPastExpiry;
      });
    const [ether, pol] = [await make(h, shop, 'ETH'), await make(h, shop, 'POL')];
    expect([await isRead(ether.id), await isRead(pol.id)]).toEqual([true, false]);
  });

  it('give each choice of a payer an address of its own, and the first one back', async () => {
    const { id, slug } = await make(h, shop);
    const choose = async (currency: string): Promise<string> => {
      await h.db.query('DELETE FROM rate_limit');
      const chosen = await h.call('POST', `/invoice/${slug}/select-currency`, { body: { currency } });
      return chosen.body.depositAddress;
    };
    const [ether, pol] = [await choose('ETH'), await choose('POL')];
    expect(pol).not.toBe(ether);
    expect(await choose('ETH')).toBe(ether);
    expect(await rowsOf(h, 'payment_id = $1', [id])).toHaveLength(4);
  });

  it('are refused as destinations on every network that has them', async () => {
    const { address } = await make(h, shop, 'ETH');
    const [{ address: wallet }] = await h.db.query(
      `SELECT settlement_address AS address FROM merchant_wallet WHERE merchant_id = $1 AND currency = 'ETH'`,
      [shop.id],
    );
    for (const own of [address, wallet])
      for (const network of ['ethereum', 'polygon'] as const)
        expect([network, await isOurs(h.db, network, own)]).toEqual([network, true]);
    expect(await isOurs(h.db, 'bitcoin', address)).toBe(false);
  });
});

it('are watched on a network that is switched on later, whatever was given before', async () => {
  const h = await startHarness({ NETWORKS: 'bitcoin,ethereum', POLYGON_CHAIN_ID: '31137' });
  try {
    const shop = await h.shop();
    const before = await make(h, shop, 'ETH');
    expect(await rowsOf(h, 'payment_id = $1', [before.id])).toHaveLength(1);
    const codec = createCodec('polygon', parseConfig({}).chain);
    const seed = Buffer.alloc(64, 7);
    const keysOf = (role: KeyRole) => [{ xpub: codec.extendedKey(seed, role), from: 0 }];
    await h.db.transaction((tx) => registerKeys(tx, codec, keysOf, 2));
    expect((await rowsOf(h, 'payment_id = $1', [before.id])).map((row) => [row.network, row.is_elsewhere])).toEqual([
      ['ethereum', false],
      ['polygon', true],
    ]);
    const after = await make(h, shop, 'ETH');
    expect(await rowsOf(h, 'payment_id = $1', [after.id])).toHaveLength(2);
  } finally {
    await h.stop();
  }
}, 60_000);
