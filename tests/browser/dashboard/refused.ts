import type { Route } from 'playwright-core';
import { guestPages, pages } from '../pages';
import { type Dashboard, type Person } from '../person';
import { anAdmin } from './kit';

/** Every page of a merchant, whose questions the API refuses: each says so, with what support needs, and tries
 *  again. */

/** Pages that ask nothing of the API before a person does. */
const silent = ['/money/payouts/new', '/widgets/new', '/team', '/developers', '/money'];
const asking = pages.filter((path) => !path.startsWith('/operators') && !silent.includes(path));

export const refusedPages = (opened: () => Dashboard): void =>
  describe('a page whose questions are refused', () => {
    let dashboard: Dashboard;
    let ann: Person;
    let status = 403;
    const refuse = async (route: Route): Promise<void> => {
      const { pathname } = new URL(route.request().url());
      // Who is signed in is known: it is the page's own questions that are refused.
      if (route.request().method() !== 'GET' || pathname.endsWith('/auth/me')) return route.fallback();
      await route.fulfill({
        ...{ status, contentType: 'application/json', headers: { 'X-Request-Id': 'req-of-test' } },
        body: JSON.stringify(
          status === 403
            ? { error: 'Insufficient permission' }
            : { ok: false, error: { code: 'UPSTREAM_UNAVAILABLE', message: 'Down' } },
        ),
      });
    };
    const everything = '**/api/v1/**';
    beforeAll(async () => {
      dashboard = opened();
      ann = await anAdmin(dashboard, 'ann');
      await ann.page.setViewportSize({ width: 320, height: 800 });
    }, 240_000);
    afterAll(() => dashboard.everybodyLeaves());
    beforeEach(async () => {
      await dashboard.forgetLimits();
      await ann.page.route(everything, refuse);
    });
    afterEach(() => ann.page.unroute(everything));

    it.each(asking.filter((path) => !guestPages.includes(path)))('says so: %s', async (path) => {
      status = 403;
      const { page } = ann;
      await ann.goTo(path.replace('$currency', 'ETH').replace(/\$\w+/g, '0'.repeat(24)));
      const refusal = page.getByRole('alert').filter({ hasText: 'req-of-test' });
      await refusal.first().waitFor();
      expect(await refusal.first().textContent()).toContain('You do not have the permission for this.');
      const isWide = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
      expect([path, 'scrolls sideways', isWide]).toEqual([path, 'scrolls sideways', false]);
      await page.unroute(everything);
      const again = page.getByRole('button', { name: 'Try again' });
      const asked = page.waitForResponse((answer) => answer.url().includes('/api/v1/'));
      await again.first().click();
      expect((await asked).headers()['x-request-id']).not.toBe('req-of-test');
    });

    it('says what is wrong where the service is down', async () => {
      status = 503;
      dashboard.faults.expects(/status of 503/);
      await ann.goTo('/settings');
      await ann.sees('This is not possible for the moment. Try again shortly.');
      await ann.sees('req-of-test');
      await ann.page.unroute(everything);
      await ann.page.getByRole('button', { name: 'Try again' }).first().click();
      await ann.page.getByRole('form', { name: 'Fee and time' }).waitFor();
    });
  });
