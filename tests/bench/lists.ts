import { manyPayments } from '../many-payments';
import type { World } from '../world';
import { median, report } from './measure';

const count = parseInt(process.env.MANY_PAYMENTS ?? '1000000', 10);

/** The first and the thousandth page of a merchant with a million payments. */
export async function listTimes(world: World): Promise<void> {
  const shop = await world.shop();
  await manyPayments(world.stack.postgres.url, [{ id: shop.id, series: 77 }], count, { bare: true });
  const time = async (page: number): Promise<number> => {
    const times: number[] = [];
    for (let n = 0; n < 30; n += 1) {
      const start = performance.now();
      const answer = await world.call(shop, 'GET', `/api/v1/payments?page=${page}&limit=50`);
      times.push(performance.now() - start);
      if (answer.status !== 200 || answer.body.items.length !== 50) throw new Error(`page ${page}: ${answer.status}`);
    }
    return median(times);
  };
  const first = await time(1);
  const deep = await time(1000);
  report({
    name: `page 1,000 of ${count.toLocaleString('en')} payments ÷ page 1`,
    value: deep / first,
    unit: '×',
    detail: `${deep.toFixed(0)} ms against ${first.toFixed(0)} ms, medians of 30, 50 a page`,
  });
}
