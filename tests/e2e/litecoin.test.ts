import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createCodecs } from '../../chains/codecs';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { requiredDepth } from '../../db/payments/payments';
import { reconcileAssets } from '../../db/audit/reconciliation';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { createAdapter } from '../../chains/adapters';
import { baseUnits } from '../../domain/chains/assets';
import { parseConfig } from '../../domain/config';
import { newId } from '../../domain/ids';
import { add, subtract } from '../../domain/money';
import { World, type Shop } from '../world';

/** Litecoin on a whole service: in, swept, settled, and out again. */

const path = process.env.LITECOIND_PATH ?? '/usr/bin/litecoind';
const isThere = existsSync(path);
if (!isThere && process.env.CI) throw new Error('No litecoind: set LITECOIND_PATH, or install the litecoind package');

(isThere ? describe : describe.skip)('Litecoin', () => {
  let world: World;
  let shop: Shop;
  beforeAll(async () => {
    world = await World.start({ networks: ['litecoin'] });
    shop = await world.shop();
  }, 240_000);
  afterAll(() => world?.stop(), 60_000);
  afterEach(async () => {
    await world.until(
      'the outbox is empty',
      async () => !(await world.db.query('SELECT FROM temporal_request')).length,
    );
    expect(await world.audit()).toEqual([]);
  });

  it('is paid, swept, settled, withdrawn, and in order afterwards', async () => {
    const invoice = await world.invoice(shop, { amount: 200, currency: 'LTC' });
    expect(invoice.address).toMatch(/^rltc1q/);
    await world.payer.pay('LTC', invoice.address, String(invoice.amount));
    await world.sees(shop, invoice.id, 'CONFIRMING');
    const settled = await world.sees(shop, invoice.id, 'SETTLED', { mine: 'LTC' });
    const { balance } = await world.balance(shop, 'LTC');
    expect(balance).toBe(add('0', String(settled.netAmount)));

    const config = parseConfig(world.stack.env);
    const codecs = createCodecs(config.chain);
    const to = codecs.litecoin.derive(codecs.litecoin.extendedKey(randomBytes(64), 'deposit'), 0);
    const by = { id: newId(), email: 'ann@shop.example' };
    await addToWhitelist(world.db, shop.id, by, { type: 'wallet', currency: 'LTC', address: to, destinationTag: null });
    const { row } = await world.db.transaction((tx) =>
      openWithdrawal(
        tx,
        { codecs, rateMaxAgeSeconds: 3600 },
        shop.id,
        { currency: 'LTC', amount: '0.5', feeMode: 'add', address: to },
        by,
        newId(),
      ),
    );
    const read = async () => (await world.call(shop, 'GET', `/api/v1/withdrawals/${row.id}`)).body.data;
    await world.until('the withdrawal is completed', async () => {
      await world.payer.mine('LTC');
      return (await read()).status === 'completed';
    });
    const { txId, networkFee } = await read();
    const adapter = createAdapter('litecoin', config);
    const sighting = await adapter.lookUp(txId);
    if (sighting.state !== 'mined') throw new Error(`The withdrawal is ${sighting.state}`);
    const paid = (await adapter.readBlock(sighting.height))!.transfers.filter((transfer) => transfer.to === to);
    expect(paid).toMatchObject([{ txId, units: baseUnits('LTC', '0.5') }]);
    expect((await world.balance(shop, 'LTC')).balance).toBe(subtract(balance, add('0.5', networkFee)));

    const adapters = config.networks.map((network) => createAdapter(network, config));
    const { positions, unknown, unclear } = await reconcileAssets(world.db, adapters, (network) =>
      requiredDepth(network, config.confirmations),
    );
    expect([unknown, unclear]).toEqual([[], []]);
    expect(positions.find(({ currency }) => currency === 'LTC')).toMatchObject({ unexplained: '0' });
  });
});
