import type { Browser, CDPSession, Page, Request } from 'playwright-core';
import { parseConfig } from '../../domain/config';
import type { Visitor } from '../../sandbox/visitor';
import { startBrowser } from '../browser/chromium';
import { manyPayments } from '../many-payments';
import { World } from '../world';
import { fillLists, fillPlatformLists } from './dashboard-rows';
import { median, report } from './measure';

/** What the pages of the dashboard cost beside how much a merchant has. */

const looks = 9;
/** A page with a list each, and what it shows when it has its rows. */
const pages = [
  { path: '/', title: 'Home' },
  { path: '/payments', title: 'Payments' },
  { path: '/payments/refunds', title: 'Refunds' },
  { path: '/money/balances/BTC', title: 'Ledger' },
  { path: '/money/withdrawals', title: 'Withdrawals' },
  { path: '/money/conversions', title: 'Conversions' },
  { path: '/money/payouts', title: 'Mass payouts' },
  { path: '/money/whitelist', title: 'Whitelist' },
  { path: '/developers/keys', title: 'API keys' },
  { path: '/developers/deliveries', title: 'Deliveries' },
  { path: '/developers/requests', title: 'Request log' },
  { path: '/developers/events', title: 'Event stream' },
  { path: '/widgets', title: 'Widgets' },
  { path: '/team/members', title: 'Team' },
  { path: '/team/audit', title: 'Audit log' },
] as const;
/** Lists of operators, over all merchants. */
const operatorPages = [
  { path: '/operators/merchants', title: 'Merchants' },
  { path: '/operators/registrations?state=approved', title: 'Registrations' },
  { path: '/operators/incidents', title: 'Incidents' },
  { path: '/operators/requests', title: 'Requests' },
  { path: '/operators/screenings', title: 'Screenings' },
  { path: '/operators/swap-orders?which=all', title: 'Swap orders' },
  { path: '/operators/recoveries', title: 'Recoveries' },
  { path: '/operators/treasury', title: 'Treasury' },
  { path: '/operators/audit', title: 'Audit log of the platform' },
] as const;

/** Somebody who looks at pages, and where. */
type Viewer = Readonly<{ world: World; visitor: Visitor }>;

/** Script time of each page with 10,000 rows behind its list, against that of an empty account; of the pages for
 *  operators, against that of a platform with next to nothing, which is a service of its own. `only`: the titles. */
export async function dashboardScripts(world: World, only: readonly string[] = []): Promise<void> {
  const isWanted = ({ title }: Readonly<{ title: string }>): boolean => !only.length || only.includes(title);
  const [empty, full] = [await admin(world, 'empty'), await admin(world, 'full')];
  const browser = await startBrowser();
  try {
    await fillLists(world, full.merchantId, 10_000);
    for (const { path, title } of pages.filter(isWanted))
      await compare(browser, { path, title, against: 'of an empty account' }, [
        { world, visitor: empty.visitor },
        { world, visitor: full.visitor },
      ]);
    const ofOperators = operatorPages.filter(isWanted);
    if (ofOperators.length) await compareForOperators(browser, world, ofOperators);
  } finally {
    await browser.close();
  }
}

async function compareForOperators(
  browser: Browser,
  world: World,
  compared: ReadonlyArray<(typeof operatorPages)[number]>,
): Promise<void> {
  await fillPlatformLists(world, 10_000);
  const small = await World.start({ env: { LOG_LEVEL: 'warn' } });
  try {
    const viewers = [
      { world: small, visitor: await anOperator(small) },
      { world, visitor: await anOperator(world) },
    ] as const;
    for (const { path, title } of compared)
      await compare(browser, { path, title: `${title} of operators`, against: 'of an empty platform' }, viewers);
  } finally {
    await small.stop();
  }
}

/** Looks at a page with few rows and with many, in turns, now the one first and now the other: what the machine does
 *  beside it meets both. */
async function compare(
  browser: Browser,
  page: Readonly<{ path: string; title: string; against: string }>,
  viewers: readonly [few: Viewer, many: Viewer],
): Promise<void> {
  const times: [number[], number[]] = [[], []];
  for (let look = 0; look < looks; look += 1)
    for (const one of look % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const { world, visitor } = viewers[one];
      times[one].push(await scriptMs(browser, world, visitor, page.path));
    }
  reportScripts(page.title, page.against, ...times);
}

function reportScripts(title: string, against: string, few: readonly number[], many: readonly number[]): void {
  const ratio = median(many) / median(few);
  report({
    name: `script time of ${title} with 10,000 rows ÷ ${against}`,
    value: ratio,
    unit: '×',
    limit: '≤ 1.2',
    holds: ratio <= 1.2,
    detail: `${median(many).toFixed(0)} ms against ${median(few).toFixed(0)} ms, medians of ${looks} in turns`,
  });
}

async function anOperator(world: World): Promise<Visitor> {
  const { visitor } = await admin(world, 'operator');
  await world.db.query(
    `UPDATE dashboard_user SET role = 'super_admin', merchant_id = NULL WHERE email = 'operator@shop.example'`,
  );
  await world.until(
    'the API knows the operator',
    async () => (await visitor.call('GET', '/api/v1/platform/overview')).status === 200,
  );
  return visitor;
}

async function admin(world: World, name: string): Promise<Readonly<{ visitor: Visitor; merchantId: string }>> {
  const visitor = world.visitor(`${name}@shop.example`);
  await visitor.register(name);
  const { merchantId } = (await visitor.enrol()) as { merchantId: string };
  return { visitor, merchantId };
}

/** How long the processor ran scripts for a page of its own, until it had nothing more to load. */
async function scriptMs(browser: Browser, world: World, visitor: Visitor, path: string): Promise<number> {
  const { DASHBOARD_URL: url } = parseConfig(world.stack.env);
  const context = await browser.newContext({ locale: 'en-GB' });
  try {
    await context.addCookies(visitor.browserCookies(new URL(url).origin));
    const page = await context.newPage();
    const traffic = trafficOf(page);
    const cdp = await context.newCDPSession(page);
    // Time of the processor: what else the machine does meanwhile is no part of it.
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
    await page.goto(url + path);
    // By an expression that costs nothing: what finds elements by their role runs scripts of its own in the page.
    const isShown = `!!document.querySelector('h1') && !document.querySelector('[class*=skeleton]')`;
    await world.until(
      'the page has come to rest',
      async () => traffic.isQuietFor(300) && (await page.evaluate<boolean>(isShown)),
    );
    return await scriptTime(cdp);
  } finally {
    await context.close();
  }
}

/** The calls of a page that are under way; a stream of events has no end. */
function trafficOf(page: Page): Readonly<{ isQuietFor: (ms: number) => boolean }> {
  const open = new Set<Request>();
  let since = performance.now();
  page.on('request', (request) => {
    if (request.resourceType() !== 'eventsource') open.add(request);
  });
  const end = (request: Request): void => {
    if (open.delete(request)) since = performance.now();
  };
  page.on('requestfinished', end);
  page.on('requestfailed', end);
  return { isQuietFor: (ms) => open.size === 0 && performance.now() - since >= ms };
}

async function scriptTime(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'ScriptDuration')!.value * 1000;
}

/** Pages whose calls cost the same whatever a merchant has, by the calls that they make. */
const calls = {
  home: [
    '/api/v1/payments/summary?days=30',
    '/api/v1/payments/summary?days=7',
    '/api/v1/ledger/balances',
    '/api/v1/payments/status-counts?exception=amlFlagged&dateFrom=2020-01-01',
    '/api/v1/refunds?status=awaiting_approval&limit=5',
    '/api/v1/refunds?held=1&limit=1',
    '/api/v1/withdrawals?status=awaiting_approval&limit=1',
    '/api/v1/withdrawals?held=1&limit=1',
    '/api/v1/mass-payouts?status=awaiting_approval&limit=1',
    '/api/v1/mass-payouts?held=1&limit=1',
    '/api/v1/webhook-endpoints?limit=100',
    '/api/v1/webhook-deliveries?status=retrying&limit=25',
  ],
  'the list of payments': ['/api/v1/payments?limit=25', '/api/v1/payments/status-counts'],
} as const;

/** How long the calls of a page take with a million payments against a thousand. */
export async function pageQueries(world: World): Promise<void> {
  const shops = [await world.shop(), await world.shop()] as const;
  const counts = [1000, 1_000_000] as const;
  for (const [index, shop] of shops.entries())
    await manyPayments(world.stack.postgres.url, [{ id: shop.id, series: 92 + index }], counts[index]!, {
      bare: true,
      secondsApart: (60 * 86_400) / counts[index]!,
    });
  await world.db.query('ANALYZE');
  for (const [page, paths] of Object.entries(calls)) {
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
      name: `what ${page} asks, with 1,000,000 payments ÷ with 1,000`,
      value: many / few,
      unit: '×',
      limit: '≤ 1.5',
      holds: many / few <= 1.5,
      detail: `${many.toFixed(1)} ms against ${few.toFixed(1)} ms for ${paths.length} calls, medians of 31 in turns`,
    });
  }
}
