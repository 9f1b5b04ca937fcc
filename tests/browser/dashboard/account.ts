import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import type { World } from '../../world';
import { type Dashboard, inspect, password, Person } from '../person';
import { refusesOnce, wrongGuesses } from './kit';

/** The dashboard in Chromium against the running service: nothing is done here but through its pages. */

let dashboard: Dashboard;
let world: World;
let dashboardUrl: string;

export const accounts = (opened: () => Dashboard): void =>
  describe('the dashboard', () => {
    let ann: Person;
    beforeAll(async () => {
      dashboard = opened();
      ({ world, url: dashboardUrl } = dashboard);
      ann = await Person.sitsDown(dashboard, 'ann');
    }, 240_000);
    afterAll(() => dashboard.everybodyLeaves());

    it('refuses strangers, and brings them back to where they wanted to go after signing in', async () => {
      const { page } = ann;
      await ann.goTo('/payments?status=SETTLED');
      await ann.title('Sign in');
      await inspect(ann, 'sign-in');
      await ann.fill('E-mail address', ann.email);
      await ann.fill('Password', 'Wrong-Horse-7');
      await ann.press('Sign in');
      await ann.sees('E-mail address or password is wrong.');
      expect(await page.getByLabel('E-mail address').inputValue()).toBe(ann.email);
    });

    it('lets a newcomer register, confirm the address, enrol an authenticator and sign in again', async () => {
      await ann.goTo('/register');
      await ann.press('Create the account');
      await ann.sees('This is no e-mail address.');
      await inspect(ann, 'register');
      await ann.joins({}, (step) => inspect(ann, step));
      expect(await ann.holdings()).not.toMatch(/eyJ|svc_|[A-Z2-7]{32}/);
      await inspect(ann, 'home');
      await ann.press('Sign out everywhere');
      await inspect(ann, 'sign-out');
      await ann.dialog('Sign out everywhere').getByRole('button', { name: 'Back' }).click();
      await ann.title('Home');
      await ann.goTo('/nowhere');
      await ann.title('Page not found');
      await inspect(ann, 'not-found');
      await ann.follow('Home');
      await ann.title('Home');
      await ann.signsOut();
      await ann.title('Sign in');
      await ann.goTo('/payments?status=SETTLED');
      await ann.title('Sign in');
      await ann.signsIn();
      await ann.title('Payments');
      expect(ann.page.url()).toBe(`${dashboardUrl}/payments?status=SETTLED`);
      await ann.sees('No payment fits these filters.');
      expect(await ann.holdings()).not.toMatch(/eyJ|svc_/);
    });

    it('makes a payment, and shows it settle after it was paid', async () => {
      const { page } = ann;
      await ann.follow('Payments');
      await ann.press('Create a payment');
      await ann.fill('Price', '25,50');
      await ann.press('Create');
      await ann.sees('Enter a price like 25.50.');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Price').fill('25.50');
      await dialog.getByLabel('Currency').selectOption('ETH');
      await ann.press('Create');
      await ann.sees('Your shop has no active wallet for this currency.');
      await inspect(ann, 'create-payment');
      await ann.openShop();
      await dialog.getByLabel('Order id').fill('<img src=x onerror=alert(1)>');
      await ann.press('Create');
      await ann.sees('Send this link to your customer');
      await ann.sees('<img src=x onerror=alert(1)>');
      await inspect(ann, 'payment');
      const fact = (name: string) =>
        page.locator('dt', { hasText: name }).first().locator('xpath=following-sibling::dd');
      const [amount] = (await fact('Amount').textContent())!.split(' ');
      const address = (await fact('Deposit address').locator('[dir=ltr]').textContent())!;
      await world.payer.pay('ETH', address, amount!);
      const settled = page.locator('main').getByText('Settled', { exact: true }).first();
      for (const end = Date.now() + 90_000; !(await settled.isVisible()) && Date.now() < end;) {
        await world.payer.mine('ETH');
        await page.waitForTimeout(300);
      }
      expect(await settled.isVisible()).toBe(true);
      await ann.sees('as settled');
      await inspect(ann, 'payment-settled');
      await ann.follow('All payments');
      await page.getByRole('link', { name: /^Settled/ }).click();
      await ann.sees('<img src=x onerror=alert(1)>');
      await inspect(ann, 'payments');
    });

    it('finds payments by their price and by usual periods, and hands them out as JSON', async () => {
      const { page } = ann;
      await ann.goTo('/payments');
      await page.getByText('<img src=x onerror=alert(1)>').waitFor();
      await ann.fill('Price from', '25,50');
      await ann.press('Find');
      await ann.sees('Enter a price like 25.50.');
      await inspect(ann, 'payments-price-wrong');
      await ann.fill('Price from', '25.51');
      await ann.press('Find');
      await ann.sees('No payment fits these filters.');
      expect(decodeURIComponent(page.url())).toContain('least="25.51"');
      await ann.fill('Price from', '25.50');
      await ann.fill('Price up to', '25.50');
      await ann.press('Find');
      await page.getByText('<img src=x onerror=alert(1)>').waitFor();
      await ann.press('This month');
      await page.waitForURL(/from=\d{4}-\d\d-01/);
      await ann.press('Today');
      const today = new Date().toISOString().slice(0, 10);
      await page.waitForURL((url) => url.searchParams.get('from') === today);
      await page.reload();
      await page.getByText('<img src=x onerror=alert(1)>').waitFor();
      expect(await page.getByRole('button', { name: 'Today' }).getAttribute('aria-pressed')).toBe('true');
      expect(await page.getByLabel('Price up to').inputValue()).toBe('25.50');
      const waiting = page.waitForEvent('download');
      await ann.press('Download as JSON');
      const { items } = JSON.parse(await readFile(await (await waiting).path(), 'utf8'));
      expect(items.map(({ fiatAmount }: { fiatAmount: number }) => fiatAmount)).toEqual([25.5]);
      await ann.press('Clear all filters');
      await page.waitForURL(`${dashboardUrl}/payments`);
    });

    it('lets a person choose the columns of the list, by the keyboard too', async () => {
      const { page } = ann;
      const heads = (): Promise<string[]> => page.getByRole('columnheader').allTextContents();
      const usual = ['Choose', 'Payment', 'Status', 'Price', 'Received', 'Order id', 'Created'];
      const chosen = ['Choose', 'Payment', 'Price', 'Received', 'Net', 'Order id', 'Created'];
      await ann.goTo('/payments');
      await page.getByRole('columnheader').first().waitFor();
      expect(await heads()).toEqual(usual);
      const menu = page.locator('summary', { hasText: 'Columns' });
      await menu.focus();
      await page.keyboard.press('Enter');
      const net = page.getByLabel('Net', { exact: true });
      await net.waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Space'); // the first of them: the status
      await net.check();
      expect(await heads()).toEqual(chosen);
      await inspect(ann, 'payment-columns');
      await page.keyboard.press('Escape');
      await net.waitFor({ state: 'detached' });
      expect(await menu.evaluate('document.activeElement.textContent')).toBe('Columns');
      await page.reload();
      await page.getByRole('columnheader').first().waitFor();
      expect(await heads()).toEqual(chosen);
      await menu.click();
      await ann.press('The usual columns');
      expect(await heads()).toEqual(usual);
      await page.getByRole('heading', { level: 1 }).click();
      await net.waitFor({ state: 'detached' });
    });

    it('keeps the list live by the stream, and by asking where the stream breaks', async () => {
      const { page } = ann;
      const other = await page.context().newPage();
      const create = async (order: string): Promise<void> => {
        await other.goto(`${dashboardUrl}/`);
        await other.getByRole('main').waitFor();
        await other.keyboard.press('Control+k');
        await other.getByRole('dialog').getByRole('combobox').fill('create pay');
        await other.keyboard.press('Enter');
        const dialog = other.getByRole('dialog');
        await dialog.getByLabel('Price').fill('7');
        await dialog.getByLabel('Order id').fill(order);
        await dialog.getByRole('button', { name: 'Create', exact: true }).click();
        await other.getByText('Send this link to your customer').waitFor();
      };
      const opened = page.waitForResponse((response) => response.url().endsWith('/payments/stream'));
      await ann.goTo('/payments?currency=');
      expect((await opened).headers()['content-type']).toContain('text/event-stream');
      await create('LIVE-1');
      await page.getByText('LIVE-1').waitFor();
      dashboard.faults.expects(/net::ERR_FAILED .*\/payments\/stream$/);
      await page.route('**/payments/stream', (route) => route.abort());
      await ann.goTo('/payments');
      await create('LIVE-2');
      await page.getByText('LIVE-2').waitFor();
      await page.unroute('**/payments/stream');
      await other.close();
    });

    it('goes anywhere by the keyboard', async () => {
      const { page } = ann;
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').getByRole('combobox').fill('money lim');
      await inspect(ann, 'palette');
      await page.keyboard.press('Enter');
      await ann.title('Limits');
      await page.keyboard.press('Meta+k');
      await page.getByRole('dialog').getByRole('combobox').fill('nothing like it');
      await page.keyboard.press('Enter');
      await ann.title('Payments');
      expect(page.url()).toBe(`${dashboardUrl}/payments?search=nothing+like+it`);
      const search = page.locator('input[type=search]').first();
      await search.fill('another');
      await ann.press('Find');
      await page.waitForURL(/search=another/);
      await page.goBack();
      const follows = async () => (await search.inputValue()) === 'nothing like it';
      await dashboard.world.until('the field follows the address', follows);
      await ann.goTo('/');
      await page.getByRole('heading', { name: 'Needs attention' }).waitFor();
      await page.getByRole('button', { name: '30 days' }).click();
      await page.getByText('The chart in numbers').click();
      await inspect(ann, 'home-30-days');
      await ann.follow('Payments');
    });

    it('cancels a payment nobody has paid, with the reason in its timeline', async () => {
      await ann.press('Create a payment');
      await ann.fill('Price', '5');
      await ann.press('Create');
      await ann.press('Cancel the payment');
      await ann.page.getByRole('dialog').getByLabel('Reason').fill('Ordered twice');
      await inspect(ann, 'cancel-payment');
      await ann.page.getByRole('dialog').getByRole('button', { name: 'Cancel the payment' }).click();
      await ann.sees('Reason: Ordered twice');
      // The page may show it before the dialog has its answer.
      await ann.page.getByRole('dialog').first().waitFor({ state: 'hidden' });
      expect(await ann.page.getByRole('button', { name: 'Cancel the payment' }).count()).toBe(0);
    });

    it('asks for a second factor in one place, and keeps the form on a wrong code', async () => {
      const { page } = ann;
      await ann.plugsInPasskey();
      await ann.follow('Account');
      await ann.press('Add a passkey');
      const dialog = page.getByRole('dialog', { name: 'Add a passkey' });
      await dialog.getByLabel('Name').fill('Laptop');
      await dialog.getByRole('button', { name: 'Add a passkey' }).click();
      await ann.sees('This act needs a second factor.');
      await page.getByLabel('Code from your authenticator').fill('000000');
      await inspect(ann, 'step-up');
      await page.getByRole('button', { name: 'Confirm', exact: true }).dblclick();
      await ann.sees('This code or passkey is wrong, was used already, or has expired.');
      expect(await wrongGuesses(ann)).toBe(1); // a double click is one guess
      await ann.press('E-mail code');
      await ann.press('Send me a code');
      await ann.sees('A code is on its way to your e-mail address.');
      await inspect(ann, 'step-up-mail');
      await ann.press('Authenticator');
      await refusesOnce(ann, '**/auth/passkey/register-options', 429, { 'Retry-After': '60' });
      await page.getByLabel('Code from your authenticator').fill('000000');
      await ann.press('Confirm');
      await ann.sees(/Too many wrong codes\. Try again in \d+ seconds\./);
      expect(await ann.reasonOf('Confirm')).toBe('Too many wrong codes.');
      await inspect(ann, 'step-up-locked');
      await ann.dialog('Confirm that it is you').getByRole('button', { name: 'Cancel' }).click();
      await dialog.getByRole('button', { name: 'Add a passkey' }).click();
      await page.getByLabel('Code from your authenticator').fill(await ann.code());
      await ann.press('Confirm');
      await ann.sees('Passkey added');
      await page.getByRole('cell', { name: 'Laptop', exact: true }).waitFor();
      await inspect(ann, 'account');

      await refusesOnce(ann, '**/auth/mfa/passkey-options', 400);
      await ann.press('Make new codes');
      await ann.sees(/Request req-of-test/);
      await inspect(ann, 'step-up-passkey');
      await ann.press('Use a passkey');
      await ann.sees('Your new backup codes');
      const [backup] = await page.locator('dialog li').allTextContents();
      await page.getByLabel('I have kept these codes in a safe place.').check();
      await ann.press('Continue');

      await ann.signsOut();
      await ann.press('Sign in with a passkey');
      await ann.title('Home');
      await ann.signsOut();
      await ann.fill('E-mail address', ann.email);
      await ann.fill('Password', password);
      await ann.press('Sign in');
      await ann.press('Use a backup code');
      await ann.fill('Backup code', backup!);
      await ann.press('Sign in');
      await ann.title('Home');
    });

    it('lets a person sign in again over a form when the session has ended, and keeps the form', async () => {
      const { page } = ann;
      await ann.follow('Payments');
      await ann.press('Create a payment');
      const form = page.getByRole('dialog', { name: 'Create a payment' });
      await form.getByLabel('Price').fill('7.25');
      await ann.context.clearCookies();
      await form.getByRole('button', { name: 'Create' }).click();
      const again = page.getByRole('dialog', { name: 'Your session has ended' });
      await again.waitFor();
      await inspect(ann, 'sign-in-again');
      await again.getByLabel('Password').fill(password);
      await again.getByRole('button', { name: 'Sign in', exact: true }).click();
      await again.getByLabel('Code from your authenticator').fill(await ann.code());
      await again.getByRole('button', { name: 'Sign in', exact: true }).click();
      await ann.sees('Send this link to your customer');
      await ann.sees('$7.25');
    });

    it('renews an expired session without asking', async () => {
      const cookies = await ann.context.cookies();
      await ann.context.clearCookies({ name: 'svc_access' });
      expect(cookies.every(({ httpOnly }) => httpOnly)).toBe(true);
      await ann.page.reload();
      await ann.sees('$7.25');
      await ann.follow('Account');
      await ann.title('Account');
    });

    it('keeps the language and the time zone with the account, for another browser too', async () => {
      const choose = async (page: Page, label: string, value: string): Promise<void> => {
        const kept = page.waitForResponse(
          (response) => response.url().endsWith('/auth/me') && response.request().method() === 'PATCH',
        );
        await page.getByLabel(label, { exact: true }).selectOption(value);
        expect((await kept).status()).toBe(200);
      };
      await ann.opens('/account', 'Account');
      await choose(ann.page, 'Time zone', 'Asia/Tokyo');
      await choose(ann.page, 'Language', 'Deutsch');
      await ann.title('Konto');
      await inspect(ann, 'account-german');
      const other = await Person.sitsDown(dashboard, 'other');
      await dashboard.forgetLimits();
      await other.opens('/account', 'Sign in');
      await other.signsIn(ann);
      await other.title('Konto');
      expect(await other.page.getByLabel('Zeitzone', { exact: true }).inputValue()).toBe('Asia/Tokyo');
      await choose(other.page, 'Sprache', 'English');
      await other.title('Account');
      await ann.page.reload();
      await ann.title('Account');
      await ann.page.getByRole('button', { name: 'Sign out', exact: true }).first().click();
      await inspect(ann, 'session-end');
      await ann.page.getByRole('dialog').getByRole('button', { name: 'Sign out', exact: true }).click();
      await ann.sees('Session ended');
      await other.goTo('/account');
      await other.title('Sign in');
      await other.context.close();
    });

    it('resets a forgotten password by the mailed link, whose secret leaves the address at once', async () => {
      const { page } = ann;
      await ann.signsOut();
      await ann.follow('Forgot your password?');
      await inspect(ann, 'forgot-password');
      const since = Date.now();
      await ann.fill('E-mail address', ann.email);
      await ann.press('Send the link');
      await ann.sees('a link is on its way');
      const link = await ann.mailed('Reset your password', /(http:\S+)/, since);
      expect(link).toMatch(`${dashboardUrl}/reset-password#`);
      await page.goto(link);
      await ann.title('Set a new password');
      await page.waitForURL(`${dashboardUrl}/reset-password`);
      expect(await ann.holdings()).not.toMatch(/token/);
      await inspect(ann, 'reset-password');
      await ann.fill('New password', 'weak');
      await ann.press('Set the password');
      await ann.sees('The password does not meet these rules yet.');
      await ann.fill('New password', password);
      await ann.press('Set the password');
      await ann.sees('Your password is changed. Sign in with the new one.');
    });

    it('speaks German as well, with its own numbers', async () => {
      const bea = await Person.sitsDown(dashboard, 'bea', { locale: 'de-DE' });
      await bea.goTo('/sign-in');
      await bea.title('Anmelden');
      expect(await bea.page.evaluate('document.documentElement.lang')).toBe('de');
      await bea.page.getByLabel('Sprache').selectOption('English');
      await bea.title('Sign in');
      await bea.context.close();
    });

    it('cannot be framed by another page', async () => {
      const page = await (await dashboard.newContext()).newPage();
      dashboard.faults.expects(/frame/);
      const refused: string[] = [];
      page.on('requestfailed', (request) => refused.push(`${request.url()} ${request.failure()?.errorText}`));
      const other = createServer((_, response) => {
        response.setHeader('content-type', 'text/html');
        response.end(`<iframe src="${dashboardUrl}/sign-in"></iframe>`);
      });
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
      await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
      await world.until('the browser has refused', () => refused.length > 0);
      expect(refused).toEqual([`${dashboardUrl}/sign-in net::ERR_BLOCKED_BY_RESPONSE`]);
      await page.context().close(); // before its server: Chromium asks for an icon when it likes
      other.closeAllConnections();
      other.close();
    });
  });
