import { type Dashboard, password, Person } from '../person';
import { anAdmin, refusal } from './kit';

/** What is mailed and no longer counts, or never did: each page says so and what to do next. */
export const mailedLinks = (opened: () => Dashboard): void =>
  describe('what is mailed and does not count', () => {
    let dashboard: Dashboard;
    let guest: Person;
    const expire = (statement: string, email: string): Promise<unknown> => dashboard.world.db.query(statement, [email]);
    /** Follows a link as a browser does that has nothing open. */
    const follows = async (person: Person, link: string): Promise<void> => {
      await person.page.goto('about:blank');
      await person.page.goto(link);
    };
    beforeAll(async () => {
      dashboard = opened();
      guest = await Person.sitsDown(dashboard, 'guest');
    }, 60_000);
    afterAll(() => dashboard.everybodyLeaves());

    it('invites nobody: bad, expired and used', async () => {
      const ann = await anAdmin(dashboard, 'ann');
      await guest.opens('/accept-invitation', 'Join a team');
      await guest.sees('This page needs the link from the invitation.');
      const isRefused = async (link: string): Promise<void> => {
        await follows(guest, link);
        await refusal(guest, 'This invitation is invalid, expired or used.').waitFor();
        expect(await guest.page.getByRole('textbox').count()).toBe(0);
      };
      await isRefused(`${dashboard.url}/accept-invitation#token=${'x'.repeat(43)}`);
      const since = Date.now();
      await ann.asks('POST', '/api/v1/team-invitations', {
        ...{ email: guest.email, role: 'merchant_member', permissions: ['payments:view'] },
        totpCode: await ann.code(),
      });
      const link = await guest.mailed('Books invites you', /(http:\S+)/, since);
      await expire(`UPDATE team_invitation SET expires_at = now() - interval '1 second' WHERE email = $1`, guest.email);
      await isRefused(link);
      await expire(`UPDATE team_invitation SET expires_at = now() + interval '1 day' WHERE email = $1`, guest.email);
      const late = await Person.sitsDown(dashboard, 'late');
      await follows(late, link);
      await late.fill('Your name', 'Late');
      await late.fill('New password', password);
      await guest.page.goto('about:blank');
      await guest.acceptsInvitation(since);
      await late.press('Accept the invitation');
      await refusal(late, 'This invitation is invalid, expired or used.').waitFor();
      expect(await late.page.getByLabel('Your name').inputValue()).toBe('Late');
      await guest.context.clearCookies();
      await isRefused(link);
    }, 120_000);

    it('is read again where it is pasted into a tab that shows its page', async () => {
      const { page } = guest;
      /** As the address bar does it: the page stays, its fragment changes. */
      const pastes = (link: string): Promise<unknown> => page.evaluate(`location.href = ${JSON.stringify(link)}`);
      await follows(guest, `${dashboard.url}/accept-invitation`);
      await guest.sees('This page needs the link from the invitation.');
      await page.evaluate('window.isSamePage = true');
      await pastes(`${dashboard.url}/accept-invitation#token=${'x'.repeat(43)}`);
      await refusal(guest, 'This invitation is invalid, expired or used.').waitFor();
      expect(await page.evaluate('window.isSamePage')).toBe(true);
      expect(page.url()).toBe(`${dashboard.url}/accept-invitation`);
      await follows(guest, `${dashboard.url}/reset-password#email=one%40shop.example&token=first`);
      await guest.fill('New password', `${password}8`);
      await pastes(`${dashboard.url}/reset-password#email=two%40shop.example&token=second`);
      const email = page.getByLabel('E-mail address');
      await dashboard.world.until('the second link', async () => (await email.inputValue()) === 'two@shop.example');
      expect(await page.getByLabel('New password').inputValue()).toBe('');
      expect(page.url()).toBe(`${dashboard.url}/reset-password`);
    }, 60_000);

    it('sets no password: bad, expired and used', async () => {
      const since = Date.now();
      await guest.opens('/reset-password', 'Set a new password');
      await guest.sees('This page needs the link from the e-mail.');
      await guest.follow('Ask for another link');
      await guest.title('Reset your password');
      await guest.fill('E-mail address', guest.email);
      await guest.press('Send the link');
      const link = await guest.mailed('Reset your password', /(http:\S+)/, since);
      const sets = async (to: string): Promise<void> => {
        await follows(guest, to);
        await guest.fill('New password', `${password}8`);
        await guest.press('Set the password');
      };
      const isRefused = async (to: string): Promise<void> => {
        await sets(to);
        await refusal(guest, 'This link is invalid, expired or used.').waitFor();
        expect(await guest.page.getByLabel('New password').inputValue()).toBe(`${password}8`);
      };
      await isRefused(link.replace(/token=.{8}/, 'token=xxxxxxxx'));
      const tokens = 'UPDATE reset_token SET expires_at = now()';
      const own = 'WHERE user_id = (SELECT id FROM dashboard_user WHERE email = $1)';
      await expire(`${tokens} - interval '1 second' ${own}`, guest.email);
      await isRefused(link);
      await expire(`${tokens} + interval '1 hour' ${own}`, guest.email);
      await sets(link);
      await guest.sees('Your password is changed. Sign in with the new one.');
      await isRefused(link);
    }, 120_000);

    it('confirms no e-mail address: wrong, expired, replaced and used', async () => {
      await dashboard.forgetLimits();
      const eve = await Person.sitsDown(dashboard, 'eve');
      const confirms = async (person: Person, code: string): Promise<void> => {
        await person.fill('Code from the e-mail', code);
        await person.press('Confirm');
      };
      const isRefused = async (person: Person, code: string): Promise<void> => {
        await confirms(person, code);
        await refusal(person, 'This code is wrong or has expired.').waitFor();
      };
      const since = Date.now();
      await eve.registers();
      await eve.sees('Confirm your e-mail address');
      const first = await eve.mailed('Confirm your e-mail address', /\b(\d{6})\b/, since);
      await isRefused(eve, first === '000000' ? '000001' : '000000');
      const own = 'WHERE user_id = (SELECT id FROM dashboard_user WHERE email = $1)';
      await expire(`UPDATE email_code SET expires_at = now() - interval '1 second' ${own}`, eve.email);
      await isRefused(eve, first);
      const later = Date.now();
      await dashboard.forgetLimits();
      await eve.press('Send another code');
      const second = await eve.mailed('Confirm your e-mail address', /\b(\d{6})\b/, later);
      if (first !== second) await isRefused(eve, first);
      // The same step in another browser, as who signs in without having confirmed sees it.
      const again = await Person.sitsDown(dashboard, 'again');
      await again.opens('/sign-in', 'Sign in');
      await again.fill('E-mail address', eve.email);
      await again.fill('Password', password);
      await again.press('Sign in');
      await again.sees('is not confirmed yet');
      await confirms(eve, second);
      await eve.sees('Your e-mail address is confirmed. Sign in now.');
      await isRefused(again, second);
    }, 120_000);
  });
