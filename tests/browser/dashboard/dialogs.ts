import { anAdmin } from './kit';
import { type Dashboard, inspect, password, type Person } from '../person';

/** Dialogs and steps that no other test looks at: axe in both themes and sizes. */
export const dialogs = (opened: () => Dashboard): void =>
  describe('dialogs', () => {
    let dashboard: Dashboard;
    let ann: Person;
    const leave = (): Promise<void> =>
      ann.page
        .getByRole('dialog')
        .getByRole('button', { name: /^(Cancel|Back)$/ })
        .click();
    beforeAll(async () => {
      dashboard = opened();
      ann = await anAdmin(dashboard, 'ann');
    }, 240_000);
    afterAll(() => dashboard.everybodyLeaves());

    it('for developers can be read by everybody', async () => {
      const { id } = await ann.asks('POST', '/api/v1/webhook-endpoints', {
        ...{ url: dashboard.world.callbackUrl, enabledEvents: ['*'] },
      });
      await ann.goTo(`/developers/webhooks/${id}`);
      for (const [button, picture] of [
        ['Replace the secret', 'webhooks-rotate'],
        ['Delete', 'webhooks-delete'],
      ] as const) {
        await ann.press(button);
        await inspect(ann, picture);
        await leave();
        expect(await ann.page.evaluate('document.activeElement.textContent')).toBe(button);
      }
    }, 60_000);

    it('on the account can be read by everybody', async () => {
      const { page } = ann;
      await ann.goTo('/account');
      await ann.press('Add a passkey');
      await inspect(ann, 'passkey-add');
      await leave();
      await ann.addsPasskey();
      await page.getByRole('button', { name: /^Remove the passkey/ }).click();
      await inspect(ann, 'passkey-remove');
      await leave();
      await ann.press('Make new codes'); // by the passkey, without another click
      await ann.sees('Your new backup codes');
      await inspect(ann, 'backup-codes');
      await page.getByLabel('I have kept these codes in a safe place.').check();
      await ann.press('Continue');
      await ann.signsOut();
      await ann.fill('E-mail address', ann.email);
      await ann.fill('Password', password);
      await ann.press('Sign in');
      await page.getByLabel('Code from your authenticator').waitFor();
      await inspect(ann, 'second-step');
      await ann.press('Use a backup code');
      await inspect(ann, 'second-step-backup');
    }, 120_000);
  });
