import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { aMember, anAdmin, callWith, hostile, showsAsText } from './kit';
import { type Dashboard, inspect, type Person } from '../person';

/** The pages for developers in Chromium, against the running service. */

let dashboard: Dashboard;
let ann: Person;

export const developers = (opened: () => Dashboard): void =>
  describe('the dashboard for developers', () => {
    beforeAll(async () => {
      dashboard = opened();
      ann = await anAdmin(dashboard, 'ann');
      await ann.openShop();
    }, 240_000);
    afterAll(() => dashboard.everybodyLeaves());

    it('makes a secret key once however often its button is pressed, keeps the form on a wrong code', async () => {
      const { page } = ann;
      await ann.follow('Developers');
      await ann.title('Developers');
      await ann.sees('No key yet.');
      await inspect(ann, 'keys-none');
      await ann.follow('Request log');
      await ann.sees('No request yet.');
      await inspect(ann, 'requests-none');
      await ann.follow('API keys');
      await ann.press('Create a key');
      const form = page.getByRole('dialog', { name: 'Create a key' });
      await form.getByLabel('Name').fill(hostile);
      await form.getByLabel('payments:read', { exact: true }).check();
      await form.getByLabel('ledger:read', { exact: true }).check();
      await form.getByLabel('conversions:execute', { exact: true }).check();
      await form.getByLabel('Most US dollars').fill('12,5');
      await ann.sees('Enter an amount like 5000 or 99.50.');
      await form.getByLabel('Most US dollars').fill('250.50');
      await form.getByLabel('Valid').selectOption('30 days');
      await form.getByLabel('Addresses that may use it').fill('not-an-address');
      await inspect(ann, 'keys-create');
      await form.getByRole('button', { name: 'Create a key' }).click();
      await page.getByLabel('Code from your authenticator').fill('000000');
      await ann.press('Confirm');
      // Refused for its addresses before the code is looked at: the form is as it was.
      await ann.sees("'not-an-address' is neither an address nor a CIDR range");
      expect(await form.getByLabel('Name').inputValue()).toBe(hostile);
      await form.getByLabel('Addresses that may use it').fill('127.0.0.0/8\n::1');
      await form.getByRole('button', { name: 'Create a key' }).click();
      await page.getByLabel('Code from your authenticator').fill('000000');
      await ann.press('Confirm');
      await ann.sees('This code or passkey is wrong, was used already, or has expired.');
      await page.getByLabel('Code from your authenticator').fill(await ann.code());
      await page.getByRole('button', { name: 'Confirm', exact: true }).dblclick();
      await ann.sees('This is shown this once.');
      const secret = (await page.getByRole('dialog').locator('[dir=ltr]').textContent())!;
      expect(secret).toMatch(/^svc_live_[A-Za-z0-9]{32}$/);
      expect(await ann.holdings()).not.toContain(secret);
      await inspect(ann, 'keys-secret');
      await page.keyboard.press('Escape'); // not by accident
      await page.getByLabel('I have kept it in a safe place.').check();
      await ann.press('Continue');
      await page.getByRole('row', { name: hostile }).waitFor();
      expect(await page.getByText(secret).count()).toBe(0);
      const rows = await ann.rowsOf(
        'SELECT name, scopes, allowed_ips, daily_usd::float FROM api_key WHERE merchant_id = $1',
      );
      expect(rows).toEqual([
        {
          name: hostile,
          scopes: ['payments:read', 'ledger:read', 'conversions:execute'],
          allowed_ips: ['127.0.0.0/8', '::1'],
          daily_usd: 250.5,
        },
      ]);
      expect(await callWith(ann, secret, '/api/v1/payments')).toBe(200);
      expect(await callWith(ann, secret, '/api/v1/merchant-wallets')).toBe(403);
      await ann.goTo('/developers/keys');
      await showsAsText(ann, hostile);
      await ann.sees(ann.email);
      await ann.sees('from 127.0.0.1');
      await ann.sees('Converts at most $250.50 in 24 hours');
      await inspect(ann, 'keys');

      await ann.press(`Change the key ${hostile}`);
      const change = page.getByRole('dialog');
      await change.getByLabel('Name').fill('Till');
      await change.getByLabel('ledger:read', { exact: true }).uncheck();
      expect(await change.getByLabel('wallets:read', { exact: true }).count()).toBe(0);
      await change.getByLabel('Addresses that may use it').fill('0.0.0.0/1');
      await inspect(ann, 'keys-change');
      await ann.press('Save');
      await ann.sees('allowedIps can only become fewer');
      await change.getByLabel('Addresses that may use it').fill('127.0.0.0/8');
      await ann.press('Save');
      await ann.sees('Key changed');
      await page.getByRole('row', { name: 'Till' }).waitFor();
      await ann.press('Replace the key Till');
      const roll = page.getByRole('dialog');
      await roll.getByText('payments:read, conversions:execute').waitFor();
      await roll.getByLabel('Name').fill('Till 2');
      await roll.getByLabel('The old key works for another').selectOption('hour');
      await inspect(ann, 'keys-roll');
      await ann.press('Replace');
      await page.getByLabel('Code from your authenticator').fill(await ann.code());
      await page.getByRole('button', { name: 'Confirm', exact: true }).dblclick();
      await ann.sees('The old key works until');
      const next = (await page.getByRole('dialog').locator('[dir=ltr]').textContent())!;
      await inspect(ann, 'keys-rolled');
      await page.getByLabel('I have kept it in a safe place.').check();
      await ann.press('Continue');
      await page.getByRole('row', { name: 'Till 2' }).waitFor();
      const both = await ann.rowsOf(
        `SELECT name, scopes, allowed_ips, daily_usd::float,
                round(extract(epoch FROM expires_at - now()) / 3600)::int AS hours
           FROM api_key WHERE merchant_id = $1 ORDER BY created_at`,
      );
      const same = { scopes: ['payments:read', 'conversions:execute'], allowed_ips: ['127.0.0.0/8'], daily_usd: 250.5 };
      expect(both).toEqual([
        { name: 'Till', ...same, hours: 1 },
        { name: 'Till 2', ...same, hours: 720 },
      ]);
      for (const key of [secret, next]) expect(await callWith(ann, key, '/api/v1/payments')).toBe(200);
      await ann.press('Revoke the key Till');
      await inspect(ann, 'keys-revoke');
      await ann.press('Revoke');
      await ann.sees('Key revoked');
      await page.getByRole('cell', { name: /^Revoked/ }).waitFor();
      await dashboard.world.until(
        'the key is void',
        async () => (await callWith(ann, secret, '/api/v1/payments')) === 401,
      );
    }, 180_000);

    it('replaces the publishable key by a passkey, without a code', async () => {
      await ann.addsPasskey();
      await ann.goTo('/developers/keys');
      const key = ann.page.getByText(/^pk_live_/);
      await key.waitFor();
      const before = await key.textContent();
      await ann.press('Replace it');
      await inspect(ann, 'keys-publishable');
      await ann.page.getByRole('dialog').getByRole('button', { name: 'Replace it' }).click();
      await ann.sees('The key before it works until');
      expect(await key.textContent()).not.toBe(before);
    }, 180_000);

    describe('webhooks', () => {
      let server: Server;
      let status = 500;
      const got: Array<{ id: string; signatures: number; body: string }> = [];
      beforeAll(async () => {
        server = createServer((request, response) => {
          let body = '';
          request.on('data', (part: Buffer) => (body += part.toString()));
          request.on('end', () => {
            const header = (name: string): string => String(request.headers[name] ?? '');
            got.push({ id: header('webhook-id'), signatures: header('webhook-signature').split(' ').length, body });
            response.writeHead(status).end(`${hostile} says ${status}`);
          });
        });
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      });
      afterAll(() => {
        server.closeAllConnections();
        server.close();
      });
      const heard = (what: string, count: number) => dashboard.world.until(what, () => got.length >= count);

      it('adds an endpoint whose secret is shown once, and refuses an address that is none', async () => {
        const { page } = ann;
        await ann.goTo('/developers/webhooks');
        await ann.sees('No endpoint yet.');
        await ann.press('Add an endpoint');
        const form = page.getByRole('dialog', { name: 'Add an endpoint' });
        await form.getByLabel('Address').fill('nonsense');
        await form.getByLabel('Description').fill(hostile);
        await form.getByRole('button', { name: 'Add an endpoint' }).click();
        await form.getByRole('alert').waitFor();
        expect(await form.getByLabel('Description').inputValue()).toBe(hostile);
        await inspect(ann, 'webhooks-create');
        await form.getByLabel('Address').fill(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`);
        await form.getByLabel('All events').uncheck();
        await form.getByLabel('All of payment.*').check();
        await form.getByRole('button', { name: 'Add an endpoint' }).dblclick();
        await ann.sees('This is shown this once.');
        const secret = (await page.getByRole('dialog').locator('[dir=ltr]').textContent())!;
        expect(secret).toMatch(/^whsec_/);
        await inspect(ann, 'webhooks-secret');
        await page.getByLabel('I have kept it in a safe place.').check();
        await ann.press('Continue');
        await showsAsText(ann, hostile);
        expect(await page.getByText(secret).count()).toBe(0);
        expect(await ann.rowsOf('SELECT enabled_events FROM webhook_endpoint WHERE merchant_id = $1')).toEqual([
          { enabled_events: ['payment.*'] },
        ]);
        await inspect(ann, 'webhooks');
      }, 180_000);

      it('tests it, shows request and answer of each attempt, and sends it again', async () => {
        const { page } = ann;
        await page.getByRole('link', { name: /^http:/ }).click();
        await ann.title('Webhook endpoint');
        await ann.press('Send a test event');
        await page.getByLabel('With an example of').selectOption('payment.settled');
        await inspect(ann, 'webhooks-test');
        await ann.press('Send');
        await heard('the test event', 1);
        await page.getByRole('cell', { name: 'Tried again' }).waitFor();
        await page.getByRole('button', { name: /^Delivery \w+ of webhook.test$/ }).click();
        const open = page.getByRole('dialog', { name: 'webhook.test' });
        await open.getByText(got[0]!.id).first().waitFor();
        expect(await open.getByLabel('Request').textContent()).toBe(got[0]!.body);
        await open.getByText(`${hostile} says 500`).first().waitFor();
        expect(await page.locator('img[src="x"]').count()).toBe(0);
        await inspect(ann, 'webhooks-delivery');
        status = 200;
        await open.getByRole('button', { name: 'Send it again now' }).click();
        await open.getByText('Delivered').waitFor();
        expect(got.at(-1)!.id).toBe(got[0]!.id);
        await open.getByRole('button', { name: 'Back' }).click();
        await inspect(ann, 'webhooks-endpoint');
      }, 180_000);

      it('replaces the secret with an overlap, replays a span of time, switches off, and deletes', async () => {
        const { page } = ann;
        await ann.press('Replace the secret');
        await page.getByRole('dialog').getByRole('button', { name: 'Replace the secret' }).click();
        await ann.sees('The old secret signs until');
        await inspect(ann, 'webhooks-rotated');
        await page.getByLabel('I have kept it in a safe place.').check();
        await ann.press('Continue');
        const untilThen = got.length;
        await page.request.post(`${new URL(dashboard.url).origin}/api/v1/payments`, {
          headers: { origin: new URL(dashboard.url).origin },
          data: { amount: 5 },
        });
        await heard('the payment is told, signed twice', untilThen + 1);
        expect(got.at(-1)!.signatures).toBe(2);
        const before = got.length;
        await ann.press('Replay events');
        await page.getByLabel('From').fill('2026-01-02T00:00');
        await page.getByLabel('Until before').fill('2026-01-01T00:00');
        const replay = page.getByRole('dialog', { name: 'Replay events' });
        expect(await replay.getByRole('button', { name: 'Send' }).getAttribute('title')).toContain('before the end');
        await page.getByLabel('Until before').fill('2099-01-01T00:00');
        await inspect(ann, 'webhooks-replay');
        await replay.getByRole('button', { name: 'Send' }).click();
        await ann.sees('1 event is sent');
        await heard('the payment is told again', before + 1);
        await ann.follow('Deliveries');
        await page.getByLabel('Status').selectOption('Failed');
        await ann.sees('Nothing was sent yet that fits.');
        expect(page.url()).toContain('status=failed');
        await page.getByLabel('Status').selectOption('Delivered');
        await page.getByRole('cell', { name: 'Delivered' }).first().waitFor();
        await inspect(ann, 'webhooks-deliveries');
        await ann.goTo('/developers/webhooks');
        await page.getByRole('link', { name: /^http:/ }).click();
        await ann.press('Change');
        await inspect(ann, 'webhooks-edit');
        await ann.press('Cancel');
        await ann.press('Switch off');
        await inspect(ann, 'webhooks-off');
        await ann.dialog('Switch off').getByRole('button', { name: 'Switch off' }).click();
        await ann.sees('Saved');
        const test = page.getByRole('button', { name: 'Send a test event' });
        await dashboard.world.until('it may not be tested', async () => (await test.getAttribute('title')) !== null);
        expect(await test.getAttribute('title')).toBe('The endpoint is off. Switch it on first.');
        await ann.press('Delete');
        await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
        await ann.sees('No endpoint yet.');
      }, 180_000);
    });

    it('shows the event stream, newest first, and why a request was refused', async () => {
      const { page } = ann;
      const { origin } = new URL(dashboard.url);
      const make = (data: object) => page.request.post(`${origin}/api/v1/payments`, { headers: { origin }, data });
      const order = `an order ${hostile}`;
      const first = await make({ amount: 7, merchantOrderId: order });
      expect(first.status()).toBe(201);
      await ann.goTo('/developers/events');
      await page
        .getByRole('cell', { name: /^payment.created/ })
        .first()
        .waitFor();
      await page.locator('tbody summary').first().click();
      await showsAsText(ann, order);
      await inspect(ann, 'events');
      const before = await page.getByRole('cell', { name: /^payment.created/ }).count();
      await make({ amount: 8 });
      const shown = page.getByRole('cell', { name: /^payment.created/ });
      await dashboard.world.until('the new event appears', async () => (await shown.count()) === before + 1);
      const numbers = (await page.locator('tbody tr td:first-child').allTextContents()).map(Number);
      expect(numbers).toEqual(numbers.toSorted((a, b) => b - a));
      await page.getByLabel('Before number').fill(String(numbers[0]));
      await ann.press('Find');
      await dashboard.world.until('the newest is left out', async () => (await shown.count()) === before);
      await ann.press('Clear all filters');
      await page.getByLabel('Type').selectOption('refund.created');
      await ann.sees('No event yet that fits.');
      expect(page.url()).toContain('types=refund.created');
      const refused = await make({ amount: 5, currency: 'NONE' });
      expect(refused.status()).toBe(400);
      await ann.follow('Request log');
      await page.getByLabel('Request id').fill('unknown-id-1');
      await ann.press('Find');
      await ann.sees('No request that fits.');
      await page.getByLabel('Request id').fill(refused.headers()['x-request-id']!);
      await ann.press('Find');
      await ann.sees('There is no such currency.');
      await inspect(ann, 'requests-reason');
    }, 180_000);

    it('lists what was asked with secret keys, finds some of it, and opens one request', async () => {
      const { page } = ann;
      const refused = page.getByRole('button', { name: 'GET /api/v1/merchant-wallets' });
      const answered = page.getByRole('button', { name: 'GET /api/v1/payments', exact: true });
      await ann.goTo('/developers/requests');
      await refused.waitFor();
      await answered.first().waitFor();
      await ann.sees('INSUFFICIENT_SCOPE');
      await page
        .getByRole('cell', { name: /^Till \(…/ })
        .first()
        .waitFor();
      await inspect(ann, 'requests');
      await page.getByLabel('Answer').selectOption('Answered');
      await refused.waitFor({ state: 'detached' });
      expect(page.url()).toContain('outcome=answered');
      await page.getByLabel('Method').selectOption('DELETE');
      await ann.sees('No request that fits.');
      await ann.press('Clear all filters');
      await page.getByLabel('Answer').selectOption('Refused');
      await answered.first().waitFor({ state: 'detached' });
      await page.getByLabel('Key', { exact: true }).selectOption({ index: 2 });
      await page.getByLabel('Since').fill('2026-01-01');
      await ann.press('Find');
      await refused.click();
      const open = page.getByRole('dialog', { name: 'GET /api/v1/merchant-wallets' });
      await open.getByText('403 INSUFFICIENT_SCOPE').waitFor();
      await open.getByText('127.0.0.1').waitFor();
      await open.getByText('Not used').waitFor();
      await inspect(ann, 'requests-one');
      await open.getByRole('button', { name: 'Back' }).click();
      await open.waitFor({ state: 'detached' });
    }, 180_000);

    it('tells a member what is missing, and shows nobody what they may not see', async () => {
      const bob = await aMember(ann, 'bob', ['api-keys:view', 'webhooks:view']);
      await bob.follow('Developers');
      await bob.sees('Till');
      const create = bob.page.getByRole('button', { name: 'Create a key' });
      expect(await create.getAttribute('aria-disabled')).toBe('true');
      expect(await create.getAttribute('title')).toContain('You need the permission api-keys:manage.');
      await create.click({ force: true });
      expect(await bob.page.getByRole('dialog').count()).toBe(0);
      expect(await bob.page.getByText('Publishable key').count()).toBe(0);
      await inspect(bob, 'keys-member');
      await bob.follow('Webhooks');
      const add = bob.page.getByRole('button', { name: 'Add an endpoint' });
      expect(await add.getAttribute('title')).toContain('You need the permission webhooks:manage.');
      await bob.context.close();
    }, 180_000);
  });
