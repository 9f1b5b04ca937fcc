import type { Browser, CDPSession } from 'playwright-core';
import { parseConfig } from '../../domain/config';
import type { Visitor } from '../../sandbox/visitor';
import { startBrowser } from '../browser/chromium';
import { manyPayments } from '../many-payments';
import type { World } from '../world';
import { median, report } from './measure';

/** What the pages of the dashboard cost beside how much a merchant has. */

const looks = 7;
/** A page with a list each, and what it shows when it has its rows. */
const pages = [
  { path: '/', title: 'Home' },
  { path: '/payments', title: 'Payments' },
  { path: '/developers/events', title: 'Event stream' },
  { path: '/team/audit', title: 'Audit log' },
] as const;

/** Script time of each page with 10,000 rows behind its list, against that of an empty account. */
export async function dashboardScripts(world: World): Promise<void> {
  const [empty, full] = [await admin(world, 'empty'), await admin(world, 'full')];
  await fill(world, full.merchantId, 10_000);
  const browser = await startBrowser();
  try {
    for (const page of pages) {
      const few: number[] = [];
      const many: number[] = [];
      for (let look = 0; look < looks; look += 1) {
        few.push(await scriptMs(browser, world, empty.visitor, page.path));
        many.push(await scriptMs(browser, world, full.visitor, page.path));
      }
      const ratio = median(many) / median(few);
      report({
        name: `script time of ${page.title} with 10,000 rows ÷ of an empty account`,
        value: ratio,
        unit: '×',
        limit: '≤ 1.2',
        holds: ratio <= 1.2,
        detail: `${median(many).toFixed(0)} ms against ${median(few).toFixed(0)} ms, medians of ${looks}`,
      });
    }
  } finally {
    await browser.close();
  }
}

async function admin(world: World, name: string): Promise<Readonly<{ visitor: Visitor; merchantId: string }>> {
  const visitor = world.visitor(`${name}@shop.example`);
  await visitor.register(name);
  const { merchantId } = (await visitor.enrol()) as { merchantId: string };
  return { visitor, merchantId };
}

/** Payments, events and acts of a merchant, `count` of each. */
async function fill(world: World, merchantId: string, count: number): Promise<void> {
  await manyPayments(world.stack.postgres.url, [{ id: merchantId, series: 91 }], count);
  await world.db.transaction(async (tx) => {
    await tx.query('SET LOCAL session_replication_role = replica');
    await tx.query(
      `INSERT INTO event (id, merchant_id, seq, type, entity_id, state_version, data)
       SELECT 'e' || lpad(to_hex(n), 23, '0'), $1::char(24), 1000000 + n, 'payment.created',
              'f' || lpad(to_hex(n), 23, '0'), 1, json_build_object('_id', 'f' || lpad(to_hex(n), 23, '0'))
         FROM generate_series(1, $2::int) n`,
      [merchantId, count],
    );
    await tx.query(
      `INSERT INTO audit_log (merchant_id, actor_kind, actor_name, action, ip, request_id)
       SELECT $1, 'user', 'ann@shop.example', 'settings.changed', '127.0.0.1', 'bench-' || n
         FROM generate_series(1, $2::int) n`,
      [merchantId, count],
    );
  });
  await world.db.query('ANALYZE');
}

/** How long scripts ran on a page of its own, until it had nothing more to load. */
async function scriptMs(browser: Browser, world: World, visitor: Visitor, path: string): Promise<number> {
  const { DASHBOARD_URL: url } = parseConfig(world.stack.env);
  const context = await browser.newContext({ locale: 'en-GB' });
  try {
    await context.addCookies(visitor.browserCookies(new URL(url).origin));
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    await cdp.send('Performance.enable');
    await page.goto(url + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await world.until('the page has come to rest', () =>
      page.evaluate<boolean>(`!document.querySelector('[class*=skeleton]')`),
    );
    await page.waitForTimeout(300);
    return await scriptTime(cdp);
  } finally {
    await context.close();
  }
}

async function scriptTime(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'ScriptDuration')!.value * 1000;
}

/** How long the calls take that home makes, with a million payments against a thousand. */
export async function homeQueries(world: World): Promise<void> {
  const shops = [await world.shop(), await world.shop()] as const;
  const counts = [1000, 1_000_000] as const;
  for (const [index, shop] of shops.entries())
    await manyPayments(world.stack.postgres.url, [{ id: shop.id, series: 92 + index }], counts[index]!, {
      bare: true,
      secondsApart: (60 * 86_400) / counts[index]!,
    });
  await world.db.query('ANALYZE');
  const paths = ['/api/v1/payments/summary?days=30', '/api/v1/payments/summary?days=7', '/api/v1/ledger/balances'];
  const times: [number[], number[]] = [[], []];
  for (let look = 0; look < 31; look += 1)
    for (const [index, shop] of shops.entries()) {
      const start = performance.now();
      for (const path of paths) {
        const answer = await world.call(shop, 'GET', path);
        if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
      }
      times[index]!.push(performance.now() - start);
    }
  const [few, many] = times.map(median) as [number, number];
  report({
    name: 'what home asks, with 1,000,000 payments ÷ with 1,000',
    value: many / few,
    unit: '×',
    limit: '≤ 1.5',
    holds: many / few <= 1.5,
    detail: `${many.toFixed(1)} ms against ${few.toFixed(1)} ms for ${paths.length} calls, medians of 31 in turns`,
  });
}
