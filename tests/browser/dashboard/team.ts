import { readFile } from 'node:fs/promises';
import { aMember, anAdmin, hostile, showsAsText } from './kit';
import { type Dashboard, inspect, Person } from '../person';

/** The pages for teams in Chromium, against the running service. */

let dashboard: Dashboard;
let ann: Person;
let bob: Person;

export const team = (opened: () => Dashboard): void =>
  describe('the dashboard for teams', () => {
    beforeAll(async () => {
      dashboard = opened();
      ann = await anAdmin(dashboard, 'ann');
    }, 240_000);
    afterAll(() => dashboard.everybodyLeaves());

    it('invites a member with two permissions, who sees exactly those; a wrong code keeps the form', async () => {
      const { page } = ann;
      await ann.follow('Team');
      await ann.title('Team');
      await ann.sees('No invitation yet.');
      await inspect(ann, 'team-alone');
      bob = await Person.sitsDown(dashboard, 'bob');
      const since = Date.now();
      await ann.press('Invite a member');
      const form = page.getByRole('dialog', { name: 'Invite a member' });
      expect(await form.getByRole('button', { name: 'Send the invitation' }).getAttribute('title')).toBe(
        'This is no e-mail address.',
      );
      await form.getByLabel('E-mail address').fill(bob.email);
      await form.getByLabel('Name').fill(hostile);
      await form.getByLabel('Payments', { exact: true }).selectOption('See payments and refunds');
      await form.getByLabel('API keys').selectOption('See, and also create and revoke them');
      await inspect(ann, 'team-invite');
      await form.getByRole('button', { name: 'Send the invitation' }).click();
      await page.getByLabel('Code from your authenticator').fill('000000');
      await ann.press('Confirm');
      await ann.sees('This code or passkey is wrong, was used already, or has expired.');
      await page.getByLabel('Code from your authenticator').fill(await ann.code());
      await page.getByRole('button', { name: 'Confirm', exact: true }).dblclick();
      await ann.sees('Invitation on its way');
      await showsAsText(ann, hostile);
      const rows = await ann.rowsOf('SELECT permissions FROM team_invitation WHERE merchant_id = $1');
      expect(rows).toEqual([{ permissions: ['api-keys:manage', 'payments:view'] }]);
      await bob.acceptsInvitation(since, (step) => inspect(bob, `invited-${step}`));
      const links = bob.page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('link');
      expect(await links.allTextContents()).toEqual(['Home', 'Payments', 'Developers', 'Account']);
      await bob.goTo('/team');
      await bob.sees('You have no permission for these pages.');
      await inspect(bob, 'team-none');
      await bob.goTo('/team/members');
      await bob.sees('You do not have the permission for this.');
    }, 120_000);

    it('shows what everybody may do, in words, and changes it by a passkey', async () => {
      const { page } = ann;
      await ann.addsPasskey();
      await ann.goTo('/team/members');
      await ann.sees('Payments: See payments and refunds');
      await inspect(ann, 'team');
      const own = page.getByRole('button', { name: `Change ${ann.email}` });
      expect(await own.getAttribute('title')).toBe('Another admin can change you: not you yourself.');
      await ann.press(`Change ${bob.email}`);
      const form = page.getByRole('dialog');
      await form.getByLabel('Team', { exact: true }).selectOption('See members and invitations');
      await inspect(ann, 'team-change');
      await ann.press('Save');
      await ann.sees('Member changed');
      await ann.sees('Team: See members and invitations');
    }, 90_000);

    it('lets a member who may only look see who is there, and says what is missing', async () => {
      await bob.goTo('/sign-in');
      await bob.signsIn();
      await bob.follow('Team');
      await bob.sees(ann.email);
      const { page } = bob;
      for (const name of ['Invite a member', `Remove ${ann.email}`])
        expect(await page.getByRole('button', { name }).getAttribute('title')).toContain('You need the permission');
      await page.getByRole('button', { name: 'Invite a member' }).click({ force: true });
      expect(await page.getByRole('dialog').count()).toBe(0);
      // The page forced to call what it may not: the API says no.
      const { origin } = new URL(dashboard.url);
      const forced = await page.request.delete(`${origin}/api/v1/team-members/${'0'.repeat(24)}`, {
        headers: { origin },
        data: {},
      });
      expect(forced.status()).toBe(403);
      await inspect(bob, 'team-member');
      const made = await page.request.post(`${origin}/api/v1/api-keys`, {
        headers: { origin },
        data: { name: hostile, scopes: ['payments:create'], totpCode: await bob.code() },
      });
      expect(made.status()).toBe(403); // nobody gives a scope whose routes they may not call
    }, 90_000);

    it('makes a second admin; offers the keys of who is deactivated; removes', async () => {
      const { page } = ann;
      const carl = await aMember(ann, 'carl', ['api-keys:manage', 'payments:manage', 'refunds:manage']);
      const { origin } = new URL(dashboard.url);
      const made = await carl.page.request.post(`${origin}/api/v1/api-keys`, {
        headers: { origin },
        data: { name: hostile, scopes: ['payments:create'], totpCode: await carl.code() },
      });
      expect(made.status()).toBe(201);
      await ann.goTo('/team/members');
      await ann.press(`Change ${bob.email}`);
      await page.getByRole('dialog').getByLabel('Role').selectOption('Admin');
      await ann.sees('An admin can let money go');
      await inspect(ann, 'team-admin');
      await ann.press('Save');
      await page.getByRole('row', { name: bob.email }).getByText('Everything').waitFor();

      await ann.press(`Change ${carl.email}`);
      await page.getByRole('dialog').getByLabel('May sign in').uncheck();
      await ann.press('Save');
      await ann.sees('These keys work on: a key outlives its maker.');
      await inspect(ann, 'team-keys');
      await ann.press(`Revoke the key ${hostile}`);
      await page.getByRole('dialog').getByText('Revoked').waitFor();
      await ann.press('Done');
      await page.getByRole('row', { name: carl.email }).getByText('Inactive').waitFor();
      expect(await ann.rowsOf('SELECT revoked_at IS NULL AS works FROM api_key WHERE merchant_id = $1')).toEqual([
        { works: false },
      ]);
      await ann.press(`Remove ${carl.email}`);
      await inspect(ann, 'team-remove');
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await ann.sees('Member removed');
      await page.getByRole('button', { name: `Change ${carl.email}` }).waitFor({ state: 'detached' });
      await carl.context.close();
    }, 120_000);

    it('revokes an invitation after a second look', async () => {
      await ann.asks('POST', '/api/v1/team-invitations', {
        ...{ email: `dora.${ann.email}`, role: 'merchant_member', permissions: ['payments:manage'] },
        totpCode: await ann.code(),
      });
      await ann.goTo('/team/members');
      await ann.press(`Revoke the invitation of dora.${ann.email}`);
      await inspect(ann, 'team-revoke');
      await ann.page.getByRole('dialog').getByRole('button', { name: 'Back' }).click();
      await ann.press(`Revoke the invitation of dora.${ann.email}`);
      await ann.page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await ann.sees('Invitation revoked');
    }, 90_000);

    it('shows who did what, with filters in the address, and hands it out as a file', async () => {
      const { page } = ann;
      await ann.follow('Audit log');
      await page.getByRole('cell', { name: 'member.removed' }).waitFor();
      await inspect(ann, 'audit');
      await ann.fill('What', 'invitation.created');
      await ann.fill('Who', ann.email);
      await ann.press('Find');
      await page.getByRole('cell', { name: 'member.removed' }).waitFor({ state: 'detached' });
      expect(page.url()).toContain('action=invitation.created');
      await page.reload();
      expect(await page.getByLabel('What').inputValue()).toBe('invitation.created');
      await page.locator('summary', { hasText: 'Before and after' }).first().click();
      await ann.sees('"payments:manage"');
      await inspect(ann, 'audit-filtered');
      const waiting = page.waitForEvent('download');
      await ann.press('Download as CSV');
      const file = await readFile(await (await waiting).path(), 'utf8');
      expect(file.split('\r\n')[0]!.split('\n')[0]).toBe(
        'at,actorKind,actorId,actor,action,target,ip,requestId,before,after',
      );
      expect(file).toContain('invitation.created');
      expect(file).not.toContain('member.removed');
      await ann.press('Clear all filters');
      await page.getByRole('cell', { name: 'member.removed' }).waitFor();
    }, 90_000);
  });
