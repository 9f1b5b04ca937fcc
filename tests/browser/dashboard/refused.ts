import type { Route } from 'playwright-core';
import { guestPages, pages } from '../pages';
import { type Dashboard, inspect, type Person } from '../person';
import { anAdmin, refusal } from './kit';

/** Every page of a merchant, whose questions the API refuses: each says so, with what support needs, and tries
 *  again. */

/** Pages that ask nothing of the API before a person does. */
const silent = ['/money/payouts/new', '/widgets/new', '/team', '/developers', '/money'];
const asking = pages.filter((path) => !path.startsWith('/operators') && !silent.includes(path));

/** What the API answers where it may not, or cannot. */
const bodies = {
  403: { error: 'Insufficient permission' },
  503: { ok: false, error: { code: 'UPSTREAM_UNAVAILABLE', message: 'Down' } },
} as const;
/** What the page says then. */
export const said = {
  403: 'You do not have the permission for this.',
  503: 'This is not possible for the moment. Try again shortly.',
} as const;
export const everything = '**/api/v1/**';

/** Refuses what a page asks by one of these methods. Who is signed in is known all the same, unless a test says no. */
export const refusing =
  (status: 403 | 503, methods: readonly string[] = ['GET'], isMeKnown = true) =>
  async (route: Route): Promise<void> => {
    const { pathname } = new URL(route.request().url());
    if (!methods.includes(route.request().method()) || (isMeKnown && pathname.endsWith('/auth/me')))
      return route.fallback();
    await route.fulfill({
      ...{ status, contentType: 'application/json', headers: { 'X-Request-Id': 'req-of-test' } },
      body: JSON.stringify(bodies[status]),
    });
  };

export const refusedPages = (opened: () => Dashboard): void =>
  describe('a page whose questions are refused', () => {
    let dashboard: Dashboard;
    let ann: Person;
    beforeAll(async () => {
      dashboard = opened();
      ann = await anAdmin(dashboard, 'ann');
    }, 240_000);
    afterAll(() => dashboard.everybodyLeaves());
    beforeEach(async () => {
      await dashboard.forgetLimits();
      await ann.page.setViewportSize({ width: 320, height: 800 });
    });
    afterEach(() => ann.page.unroute(everything));

    it.each(asking.filter((path) => !guestPages.includes(path)))('says so: %s', async (path) => {
      const { page } = ann;
      await page.route(everything, refusing(403));
      await ann.goTo(path.replace('$currency', 'ETH').replace(/\$\w+/g, '0'.repeat(24)));
      await refusal(ann, said[403]).getByText('req-of-test').waitFor();
      const isWide = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
      expect([path, 'scrolls sideways', isWide]).toEqual([path, 'scrolls sideways', false]);
      await page.unroute(everything);
      const again = page.getByRole('button', { name: 'Try again' });
      const asked = page.waitForResponse((answer) => answer.url().includes('/api/v1/'));
      await again.first().click();
      expect((await asked).headers()['x-request-id']).not.toBe('req-of-test');
    });

    it('says what is wrong where the service is down', async () => {
      dashboard.faults.expects(/status of 503/);
      await ann.page.route(everything, refusing(503));
      await ann.goTo('/settings');
      await refusal(ann, said[503]).getByText('req-of-test').waitFor();
      await ann.page.unroute(everything);
      await ann.page.getByRole('button', { name: 'Try again' }).first().click();
      await ann.page.getByRole('form', { name: 'Fee and time' }).waitFor();
    });

    it('keeps the rows of a mass payout that could not be checked', async () => {
      dashboard.faults.expects(/status of 503/);
      const rows = 'currency,address,amount\nETH,0x0000000000000000000000000000000000000001,1';
      await ann.opens('/money/payouts/new', 'New mass payout');
      await ann.page.getByLabel('Rows', { exact: true }).first().fill(rows);
      await ann.page.route(everything, refusing(503, ['POST']));
      await ann.press('Check the rows');
      await refusal(ann, said[503]).waitFor();
      await ann.page.unroute(everything);
      await ann.page.route(everything, refusing(403, ['POST']));
      await ann.press('Check the rows');
      await refusal(ann, said[403]).waitFor();
      expect(await ann.page.getByLabel('Rows', { exact: true }).first().inputValue()).toBe(rows);
      await ann.page.unroute(everything);
      await ann.press('Check the rows');
      await ann.sees('One row cannot be paid. Correct it and check again.');
      expect(await ann.page.getByRole('alert').filter({ hasText: 'req-of-test' }).count()).toBe(0);
    });

    it('keeps the form of a widget that could not be made', async () => {
      dashboard.faults.expects(/status of 503/);
      await ann.opens('/widgets/new', 'Create a widget');
      await ann.page.getByLabel('Name', { exact: true }).first().fill('Book');
      await ann.fill('Price in USD', '12.50');
      const create = ann.page.getByRole('button', { name: 'Create a widget' });
      for (const status of [503, 403] as const) {
        await ann.page.route(everything, refusing(status, ['POST']));
        await create.click();
        await refusal(ann, said[status]).getByText('req-of-test').waitFor();
        expect(await ann.page.getByLabel('Price in USD').inputValue()).toBe('12.50');
        await ann.page.unroute(everything);
      }
      await create.click();
      await ann.sees('Put this into your page where the button belongs.');
    });

    it('has a page of its own where not even the person is known', async () => {
      dashboard.faults.expects(/status of 503|: Down\n/); // the second by React, which shows the page instead
      await ann.page.route(everything, refusing(503, ['GET'], false));
      await ann.goTo('/settings');
      await ann.title('This page cannot be shown');
      await refusal(ann, said[503]).getByText('req-of-test').waitFor();
      await inspect(ann, 'page-failed');
      await ann.page.unroute(everything);
      await ann.press('Try again');
      await ann.page.getByRole('form', { name: 'Fee and time' }).waitFor();
    });
  });
