import { post } from '../../db/ledger/ledger';
import { assetOf, networkOf, type Asset } from '../../domain/chains/assets';
import { adjustment } from '../../domain/ledger/entry';
import { times as product } from '../../domain/money';
import { playMoney } from '../../sandbox/play-money';
import { payIn } from '../../sandbox/seed';
import { externalPairs } from './scenarios/conversion';
import { lightningCurrency } from '../../domain/lightning/currency';
import { plain, type Stage } from './stage';

/** Coins of the platform's own, many small ones where a network has coins so that none waits for the change of another;
 *  half of it or less is the merchant's. */
type Capital = readonly [count: number, each: string, ofTheMerchant: string];
/** By the coin, where parts of what a sandbox begins with are not right. */
const capital: Readonly<Record<string, Capital>> = {
  BTC: [30, '0.2', '3'],
  TRX: [1, '1200000', '300000'],
};

export function capitalOf(asset: Asset): Capital {
  const known = capital[asset.asset];
  if (known) return known;
  const times = (factor: string): string => product(playMoney(asset).float, factor, asset.payDecimals, 'down');
  const isOfCoins = networkOf(asset.currency).kind === 'utxo';
  return isOfCoins ? [30, times('0.05'), times('0.75')] : [1, times('4'), times('1')];
}

export async function fund(stage: Stage): Promise<void> {
  for (const currency of stage.currencies) await fundIn(currency, stage);
  if (stage.lightning) await fundByLightning(stage);
  await stage.world.until(
    'the swap provider is priced',
    async () => ((await stage.world.db.query('SELECT FROM swap_rate')) as unknown[]).length >= externalPairs.length,
    60_000,
  );
}

async function fundIn(currency: string, { world, shop }: Stage): Promise<void> {
  const [count, each, amount] = capitalOf(assetOf(currency));
  const txIds: string[] = [];
  for (let coin = 0; coin < count; coin += 1) {
    if (count > 1 && coin % 10 === 0) await world.payer.mine(currency, 2);
    txIds.push(...(await payIn(world.db, world.payer, currency, each)));
  }
  await world.until(
    `${currency} is ours`,
    async () =>
      (
        (await world.db.query(`SELECT FROM deposit WHERE tx_id = ANY($1) AND allocation = 'capital'`, [
          txIds,
        ])) as unknown[]
      ).length === txIds.length,
    90_000,
  );
  const credit = `L:available:${shop.id}` as const;
  await world.db.transaction((tx) =>
    post(tx, {
      key: `torture/${currency}`,
      entry: adjustment,
      postings: [{ debit: 'Q:capital', credit, asset: currency, amount }],
    }),
  );
}

/** So many payments of so many dollars earn the shop what it withdraws by Lightning. */
const [payments, dollars] = [3, 640];

async function fundByLightning({ world, shop, lightning }: Stage): Promise<void> {
  for (let n = 0; n < payments; n += 1) {
    const invoice = await world.invoice(shop, { amount: dollars, currency: lightningCurrency });
    if (!(await lightning!.payer.pays(invoice.address))) throw new Error('The payer could not pay by Lightning');
    const { amountPaid } = await world.sees(shop, invoice.id, 'SETTLED');
    if (plain(amountPaid) !== plain(invoice.amount)) throw new Error(`${amountPaid} was paid by Lightning`);
  }
}
