import type { Dashboard, Person } from '../person';
import { anAdmin } from './kit';

/** A stranger's links to the sign-in page, followed through a real sign-in. Nothing leaves: the stranger's hosts are
 *  answered within the browser. */

let dashboard: Dashboard;
let ann: Person;
/** What the browser has asked of any other origin. */
const foreign: string[] = [];

const strangers = [
  'https://evil.example/',
  'HTTPS://evil.example',
  '//evil.example/',
  '/\\evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '/dashboard/../..//evil.example',
  '/%2f%2fevil.example',
  'https://shop@evil.example/',
  '["https://evil.example/"]',
  '{"href":"https://evil.example/"}',
];

const answerForStrangers = async (): Promise<void> => {
  const { origin } = new URL(dashboard.url);
  await ann.context.route(
    (url) => url.origin !== origin && /^https?:$/.test(url.protocol),
    async (route) => {
      foreign.push(route.request().url());
      await route.fulfill({ status: 200, contentType: 'text/html', body: '' });
    },
  );
};

const follows = async (next: string): Promise<void> => {
  await ann.goTo(`/sign-in?next=${encodeURIComponent(next)}`);
  await ann.title('Sign in');
};
const endsAtHome = async (next: string): Promise<void> => {
  await ann.title('Home');
  expect([next, ann.page.url()]).toEqual([next, `${dashboard.url}/`]);
};

export const links = (opened: () => Dashboard): void =>
  describe("a stranger's link to the sign-in page", () => {
    beforeAll(async () => {
      dashboard = opened();
      ann = await anAdmin(dashboard, 'ann');
      await answerForStrangers();
      await ann.addsPasskey();
    }, 240_000);
    afterAll(() => dashboard.everybodyLeaves());

    it.each(strangers)('leads home by a passkey: %j', async (next) => {
      await dashboard.forgetLimits();
      await follows(next);
      await ann.press('Sign in with a passkey');
      await endsAtHome(next);
    });

    it.each(['https://evil.example/', 'javascript:document.title="evil"'])(
      'leads home by a password and a code: %j',
      async (next) => {
        await follows(next);
        await ann.signsIn();
        await endsAtHome(next);
        expect(await ann.page.title()).not.toBe('evil');
      },
    );

    it('may name a page of the dashboard, with its filter', async () => {
      await follows('/payments?status=SETTLED&search=%2F%2Fevil.example');
      await ann.press('Sign in with a passkey');
      await ann.title('Payments');
      const { pathname, searchParams } = new URL(ann.page.url());
      expect([pathname, searchParams.get('search')]).toEqual(['/dashboard/payments', '//evil.example']);
    });

    it('may state no filter that a page cannot mean', async () => {
      await ann.goTo(`/developers/requests?requestId=${encodeURIComponent('{"a":["<b>"]}')}`);
      await ann.title('Developers');
      expect(await ann.page.getByLabel('Request id').inputValue()).toBe('');
    });

    it('has asked nothing of another host', () => {
      expect(foreign).toEqual([]);
    });
  });
