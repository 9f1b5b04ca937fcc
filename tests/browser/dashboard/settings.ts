import { aMember, anAdmin } from './kit';
import { type Dashboard, inspect, type Person } from '../person';

/** The page of settings in Chromium, against the running service. */

let dashboard: Dashboard;
let ann: Person;

const card = (name: string) => ann.page.getByRole('form', { name, exact: true });
const save = (name: string): Promise<void> => ann.press(`Save: ${name}`);
const settings = () => ann.asks('GET', '/api/v1/settings');
const picture = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"><rect width="90" height="30"/></svg>',
);

/** The answer to the next saving, whose refusal is made up. */
async function refusesOnce(status: number, error: object): Promise<void> {
  await ann.page.route(
    '**/api/v1/settings*',
    (route) =>
      route.request().method() === 'PATCH'
        ? route.fulfill({
            ...{ status, contentType: 'application/json', headers: { 'X-Request-Id': 'req-of-test' } },
            body: JSON.stringify({ ok: false, error }),
          })
        : route.fallback(),
    { times: 1 },
  );
}

export const settingsPage = (opened: () => Dashboard): void =>
  describe('the settings in the dashboard', () => {
    beforeAll(async () => {
      dashboard = opened();
      ann = await anAdmin(dashboard, 'ann');
    }, 240_000);
    afterAll(() => dashboard.everybodyLeaves());

    it('change by a form for each subject, whose other settings stay', async () => {
      const { page } = ann;
      await ann.follow('Settings');
      await ann.title('Settings');
      await card('Fee and time').waitFor();
      await inspect(ann, 'settings');
      expect(await ann.reasonOf('Save: Fee and time')).toBe('Nothing is changed yet.');
      const before = await settings();
      await page.getByLabel('Who pays the fee').selectOption('The payer pays it');
      await page.getByLabel('Minutes to pay').fill('90');
      await page.getByLabel('Tolerance in percent').fill('2.5');
      await page.getByLabel('When an underpaid payment expires').selectOption('Refund it to the payer');
      await save('Underpayments and other coins');
      await ann.sees('Saved');
      expect(await settings()).toEqual({ ...before, underpaymentTolerancePct: 2.5, underpaidPolicy: 'refund' });
      // What was typed in another form is still there.
      expect(await page.getByLabel('Minutes to pay').inputValue()).toBe('90');
      await page.getByRole('button', { name: 'Save: Fee and time' }).dblclick();
      await dashboard.world.until('fee and time are kept', async () => {
        const { feeBearer, defaultExpiresIn } = await settings();
        return feeBearer === 'customer' && defaultExpiresIn === 5400;
      });
      await page.getByLabel('Hours until a whitelist entry counts').fill('48');
      await page.getByLabel('Refunds of 24 hours in US dollars').fill('500.50');
      await save('Protection of your money');
      await page.getByLabel('Hosts that may be called').fill('shop.example\napi.shop.example');
      await page.getByLabel('Call the address that a payment names').uncheck();
      await save('Payment notifications');
      await dashboard.world.until('the rest is kept', async () => {
        const now = await settings();
        return now.whitelistDelayHours === 48 && now.refundDailyCapUsd === '500.5' && now.callbackDomains.length === 2;
      });
      await page.reload();
      await card('Fee and time').waitFor();
      expect(await page.getByLabel('Hosts that may be called').inputValue()).toBe('shop.example\napi.shop.example');
      expect(await page.getByLabel('Refunds of 24 hours in US dollars').inputValue()).toBe('500.5');
      // The API takes seconds that are no whole minutes.
      await dashboard.world.db.query('UPDATE merchant SET default_expires_in = 3601 WHERE default_expires_in = 5400');
      await page.reload();
      await dashboard.world.until(
        'the minutes are shown',
        async () => (await page.getByLabel('Minutes to pay').inputValue()) === '60.0167',
      );
      await page.getByLabel('Who pays the fee').selectOption('We pay it');
      await save('Fee and time');
      await dashboard.world.until('the fee alone is changed', async () => {
        const { feeBearer, defaultExpiresIn } = await settings();
        return feeBearer === 'merchant' && defaultExpiresIn === 3601;
      });
      await page.getByLabel('Minutes to pay').fill('');
      await save('Fee and time');
      await dashboard.world.until(
        'the time is the platform’s',
        async () => (await settings()).defaultExpiresIn === null,
      );
    }, 90_000);

    it('say at the field what does not fit, and what the API refuses', async () => {
      const { page } = ann;
      const wrong = async (label: string | RegExp, typed: string, form: string, sentence: string): Promise<void> => {
        await page.getByLabel(label).fill(typed);
        await save(form);
        await card(form).getByRole('alert').getByText(sentence).waitFor();
        expect(await page.getByLabel(label).getAttribute('aria-invalid')).toBe('true');
      };
      await wrong('Minutes to pay', '0.5', 'Fee and time', 'Enter 1 to 2880 minutes, or nothing.');
      await wrong('Tolerance in percent', '50.01', 'Underpayments and other coins', 'Enter a number from 0 to 50');
      await wrong('Hours until another coin', '721', 'Underpayments and other coins', 'Enter a whole number of hours');
      await wrong('Refunds of 24 hours', '1,5', 'Protection of your money', 'Enter an amount like 500');
      await wrong('Hosts that may be called', 'https://shop.example/', 'Payment notifications', 'Enter names of hosts');
      await wrong(/^Colour$/, '#0a7cf', 'Contact and colour', 'Enter a colour like #0a7cff');
      await wrong('Help page', 'javascript:alert(1)', 'Contact and colour', 'Enter an address that begins with https');
      await inspect(ann, 'settings-refused');
      await page.reload();
      // The page lets it pass, the API does not.
      await wrong(
        'Help page',
        'https://shop@shop.example/',
        'Contact and colour',
        'The server does not take this value.',
      );
      await card('Contact and colour')
        .getByText(/Request \w+/)
        .waitFor();
      dashboard.faults.expects(/status of 503/);
      await refusesOnce(503, { code: 'UPSTREAM_UNAVAILABLE', message: 'Down' });
      await page.getByLabel('Tolerance in percent').fill('3');
      await save('Underpayments and other coins');
      await card('Underpayments and other coins').getByText('req-of-test').waitFor();
      await ann.sees('This is not possible for the moment. Try again shortly.');
      await save('Underpayments and other coins');
      await dashboard.world.until('it is kept', async () => (await settings()).underpaymentTolerancePct === 3);
    }, 90_000);

    it('show a new secret once, by a second factor', async () => {
      const { page } = ann;
      await ann.press('Make a new secret');
      await inspect(ann, 'settings-secret-sure');
      await ann.dialog('Make a new secret').getByRole('button', { name: 'Make a new secret' }).click();
      await page.getByLabel('Code from your authenticator').fill(await ann.code());
      await page.getByRole('button', { name: 'Confirm', exact: true }).dblclick();
      const shown = ann.dialog('Your new secret');
      expect(await shown.locator('[dir=ltr]').textContent()).toMatch(/^whsec_/);
      await shown.getByText('The old secret signs until').waitFor();
      await inspect(ann, 'settings-secret');
      await page.getByLabel('I have kept it in a safe place.').check();
      await ann.press('Continue');
      await shown.waitFor({ state: 'detached' });
      const rotations = await ann.rowsOf(
        `SELECT action FROM audit_log WHERE merchant_id = $1 AND action = 'ipn_secret.rotated'`,
      );
      expect(rotations).toHaveLength(1);
    }, 60_000);

    it('take a logo and a colour that payers see, and no other file', async () => {
      const { page } = ann;
      await page
        .getByLabel('File')
        .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.alloc(102_401) });
      await ann.sees('This file has more than 100 KB.');
      await page
        .getByLabel('File')
        .setInputFiles({ name: 'a.svg', mimeType: 'image/svg+xml', buffer: Buffer.from('no') });
      await ann.press('Use this logo');
      await ann.sees('The logo must be a PNG or SVG file of at most 100 KB.');
      await page.getByLabel('File').setInputFiles({ name: 'a.svg', mimeType: 'image/svg+xml', buffer: picture });
      await ann.press('Use this logo');
      await page.getByAltText('Your logo').waitFor();
      await page.getByLabel(/^Colour$/).fill('#0af');
      await page.getByLabel('E-mail address for payers').fill('help@shop.example');
      await page.getByLabel('Help page').fill('');
      await save('Contact and colour');
      await dashboard.world.until('the colour is in full', async () => {
        return (await page.getByLabel(/^Colour$/).inputValue()) === '#00aaff';
      });
      await inspect(ann, 'settings-branding');
      await ann.press('Remove the logo');
      await inspect(ann, 'settings-logo-remove');
      await ann.dialog('Remove the logo').getByRole('button', { name: 'Remove the logo' }).click();
      await ann.sees('No logo yet.');
      const { logoUrl, supportEmail } = await ann.asks('GET', '/api/v1/settings/branding');
      expect([logoUrl, supportEmail]).toEqual([null, 'help@shop.example']);
    }, 90_000);

    it('are for those who may see them, and changed by those who may', async () => {
      const bob = await aMember(ann, 'bob', ['settings:view']);
      await bob.goTo('/settings');
      await bob.sees('Fee and time');
      expect(await bob.reasonOf('Save: Fee and time')).toContain('You need the permission settings:manage');
      expect(await bob.reasonOf('Make a new secret')).toContain('You need the permission settings:manage');
      const { origin } = new URL(dashboard.url);
      const forced = await bob.page.request.patch(`${origin}/api/v1/settings`, {
        ...{ headers: { origin }, data: { whitelistDelayHours: 0 } },
      });
      expect(forced.status()).toBe(403);
      const carl = await aMember(ann, 'carl', ['payments:view']);
      await carl.goTo('/settings');
      await carl.sees('You need the permission settings:view.');
    }, 120_000);
  });
