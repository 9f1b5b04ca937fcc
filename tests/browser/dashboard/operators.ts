import { openIncident } from '../../../db/incidents';
import { newId } from '../../../domain/ids';
import { unguarded } from '../../unguarded';
import { aMember, anAdmin, anOperator, hostile, showsAsText } from './kit';
import { type Dashboard, inspect, password, Person } from '../person';

/** The pages for operators of the platform in Chromium, against the running service. */

let dashboard: Dashboard;
let shop: Person;
let ann: Person;
let bob: Person;
let merchantId: string;
let payment: { id: string; depositTx: string; sweepTx: string };

const txIds = async (id: string) => {
  const [row] = await dashboard.world.db.query<Array<{ came: string; went: string }>>(
    `SELECT d.tx_id AS came, a.tx_id AS went FROM deposit d JOIN intent i ON i.payment_id = d.payment_id
       JOIN attempt a ON a.intent_id = i.id WHERE d.payment_id = $1 AND i.kind = 'sweep' AND a.status = 'final'`,
    [id],
  );
  return row!;
};

export const operators = (opened: () => Dashboard): void =>
  describe('the dashboard for operators', () => {
    beforeAll(async () => {
      dashboard = opened();
      shop = await anAdmin(dashboard, 'shop');
      const { db } = dashboard.world;
      await shop.openShop();
      const me = await shop.asks('GET', '/api/v1/auth/me');
      merchantId = me.merchantId;
      await db.query('UPDATE merchant SET name = $2 WHERE id = $1', [merchantId, hostile]);
      const made = await shop.asks('POST', '/api/v1/payments', {
        amount: 25,
        currency: 'ETH',
        merchantOrderId: `order ${hostile}`,
        ipnCallbackUrl: dashboard.world.callbackUrl,
      });
      await dashboard.world.payer.pay('ETH', made.depositAddress, String(made.amount));
      await dashboard.world.until(
        'the payment is settled',
        async () => {
          await dashboard.world.payer.mine('ETH');
          return (await shop.asks('GET', `/api/v1/payments/${made.paymentId}`)).status === 'SETTLED';
        },
        180_000,
      );
      const { came, went } = await txIds(made.paymentId);
      payment = { id: made.paymentId, depositTx: came, sweepTx: went };
      ann = await anOperator(dashboard, 'ann');
      bob = await anOperator(dashboard, 'bob');
    }, 300_000);
    afterAll(() => dashboard.everybodyLeaves());

    it('10: leads from a transaction to payment, workflow, journals and deliveries in one search', async () => {
      const { page } = ann;
      await ann.goTo('/');
      await ann.title('Platform');
      await ann.sees('Open incidents');
      const links = page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('link');
      expect(await links.allTextContents()).toEqual(['Platform', 'Account']);
      await ann.fill('Find anything', payment.depositTx);
      await ann.press('Find');
      const record = page.getByRole('region', { name: `Payment ${payment.id}` });
      await record.waitFor();
      for (const text of [
        payment.depositTx,
        payment.sweepTx,
        `payment/${payment.id}`,
        `sweep/${payment.id}`,
        `payment/${payment.id}/settle`,
        'payment.settled',
        'SETTLED',
      ])
        await record.getByText(text, { exact: false }).first().waitFor();
      const workflow = record.getByRole('link', { name: `payment/${payment.id}`, exact: true });
      expect(await workflow.getAttribute('href')).toContain(`/workflows/payment%2F${payment.id}`);
      await showsAsText(ann, `order ${hostile}`);
      await inspect(ann, 'operators-find');
      await ann.fill('Find anything', payment.sweepTx.replace('0x', '').toUpperCase());
      await ann.press('Find');
      await record.waitFor();
      await ann.fill('Find anything', shop.email);
      await ann.press('Find');
      await page.getByRole('region', { name: 'Users' }).getByText(shop.email).waitFor();
      await ann.fill('Find anything', `nothing ${hostile}`);
      await ann.press('Find');
      await ann.sees('Nothing is named so.');
      await showsAsText(ann, `Found for “nothing ${hostile}”`);
    }, 120_000);

    it('10: shows how the platform is doing', async () => {
      const { page } = ann;
      await ann.follow('Overview');
      const networks = page.getByRole('region', { name: 'Networks' });
      await networks.getByRole('cell', { name: 'ethereum' }).waitFor();
      await page.getByRole('region', { name: 'Treasury and exposure' }).getByRole('cell', { name: 'ETH' }).waitFor();
      const [{ settled }] = (await dashboard.world.db.query(
        `SELECT to_char(sum(fiat_amount), 'FM$999999990.00') AS settled FROM payment WHERE status = 'SETTLED'`,
      )) as [{ settled: string }];
      await page.getByRole('region', { name: 'Volumes' }).getByText(settled).first().waitFor();
      await inspect(ann, 'operators-overview');
    }, 90_000);

    it('10: resolves an incident with a reason and a factor, and says which ones two operators end', async () => {
      const { page } = ann;
      const { db } = dashboard.world;
      await openIncident(db, {
        kind: 'sweep-overdue',
        subject: { kind: 'payment', id: payment.id },
        details: { why: hostile },
      });
      await openIncident(db, {
        kind: 'wallet-frozen',
        subject: { kind: 'wallet', id: `ethereum/${hostile}` },
        details: {},
      });
      await ann.follow('Incidents');
      await page.getByRole('link', { name: 'sweep-overdue' }).waitFor();
      await inspect(ann, 'operators-incidents');
      await page.getByRole('link', { name: 'sweep-overdue' }).click();
      const runbook = page.getByRole('region', { name: 'Runbook' });
      await runbook.getByText('moving the money would cost all of it').waitFor();
      const inDocs = runbook.getByRole('link', { name: 'Open it in the documentation' });
      expect(await inDocs.getAttribute('href')).toMatch(/\/docs\/incidents\/#sweep-overdue$/);
      await showsAsText(ann, hostile);
      await ann.press('Resolve');
      const dialog = page.getByRole('dialog');
      const submit = dialog.getByRole('button', { name: 'Resolve', exact: true });
      expect(await submit.getAttribute('title')).toBe('Fill this in');
      await dialog.getByLabel('Reason').fill('It was swept by hand');
      await inspect(ann, 'operators-resolve');
      await submit.click();
      await page.getByLabel('Code from your authenticator').fill('000000');
      await ann.press('Confirm');
      await ann.sees('This code or passkey is wrong, was used already, or has expired.');
      await page.getByLabel('Code from your authenticator').fill(await ann.code());
      await ann.press('Confirm');
      await ann.sees('It was swept by hand');
      await ann.sees(ann.email);
      await ann.follow('All incidents');
      await page.getByRole('link', { name: 'wallet-frozen' }).click();
      await runbook.getByRole('link', { name: 'backup and restore' }).waitFor();
      const resolve = page.getByRole('button', { name: 'Resolve', exact: true });
      expect(await resolve.getAttribute('title')).toBe('The request unfreeze-wallet of two operators ends it.');
      await resolve.click({ force: true });
      expect(await page.getByRole('dialog').count()).toBe(0);
      await inspect(ann, 'operators-incident');
      await ann.press('Ask for it');
      expect(await dialog.getByLabel('Act', { exact: true }).inputValue()).toBe('unfreeze-wallet');
      expect(await dialog.getByLabel('Network').inputValue()).toBe('ethereum');
      expect(await dialog.getByLabel('Address').inputValue()).toBe(hostile);
      await inspect(ann, 'operators-incident-ask');
      await page.keyboard.press('Escape');
      const rows = await db.query(
        `SELECT kind, resolved_by FROM incident WHERE kind IN ('sweep-overdue', 'wallet-frozen') ORDER BY kind`,
      );
      expect(rows).toEqual([
        { kind: 'sweep-overdue', resolved_by: ann.email },
        { kind: 'wallet-frozen', resolved_by: null },
      ]);
    }, 120_000);

    it('10: freezes a currency, and lifts it by a request that two operators confirm', async () => {
      const { page } = ann;
      await ann.addsPasskey();
      await bob.addsPasskey();
      await ann.goTo('/operators/stops');
      await ann.sees('Nothing is frozen.');
      await ann.press('Freeze');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Currency').selectOption('ETH');
      await dialog.getByLabel('Reason').fill(hostile);
      await inspect(ann, 'operators-freeze');
      await dialog.getByRole('button', { name: 'Freeze', exact: true }).click();
      await page.getByRole('cell', { name: 'ETH', exact: true }).waitFor();
      await showsAsText(ann, hostile);
      await inspect(ann, 'operators-stops');
      await ann.follow('Ask to lift it');
      await ann.press('Ask for an act');
      await dialog.getByLabel('Currency').fill('ETH');
      await dialog.getByLabel('Reason').fill('The drill is over');
      await inspect(ann, 'operators-ask');
      await dialog.getByRole('button', { name: 'Ask for an act', exact: true }).click();
      const summary = `Lift the freeze of ETH: ${hostile}`;
      await ann.press(`Cancel: ${summary}`);
      await inspect(ann, 'operators-request-cancel');
      await page.keyboard.press('Escape');
      await ann.press(`Confirm: ${summary}`);
      await inspect(ann, 'operators-request-confirm');
      await dialog.getByRole('button', { name: 'Confirm', exact: true }).click();
      await ann.sees('1 of 2');
      const again = page.getByRole('button', { name: `Confirm: ${summary}` });
      expect(await again.getAttribute('title')).toContain('another operator');
      await inspect(ann, 'operators-requests');
      await bob.goTo('/operators/requests');
      await bob.press(`Confirm: ${summary}`);
      await bob.page.getByRole('dialog').getByRole('button', { name: 'Confirm', exact: true }).click();
      await bob.page.getByRole('status').getByText('Executed').waitFor();
      expect(await dashboard.world.db.query('SELECT FROM egress_freeze')).toEqual([]);
    }, 180_000);

    it('10: finds a merchant, changes its commission and its limits, suspends it and lifts it', async () => {
      const { page } = ann;
      const { db } = dashboard.world;
      await ann.goTo('/operators/merchants');
      await ann.fill('Name', hostile.slice(0, 8).toUpperCase());
      await page.getByRole('search').last().getByRole('button', { name: 'Find' }).click();
      await page.getByRole('link', { name: hostile }).waitFor();
      expect(page.url()).toContain('name=');
      await inspect(ann, 'operators-merchants');
      await page.getByRole('link', { name: hostile }).click();
      await page.getByRole('heading', { level: 2, name: hostile }).waitFor();
      await inspect(ann, 'operators-merchant');
      const dialog = page.getByRole('dialog');
      await ann.press('Change the commission');
      await dialog.getByLabel('Hundredths of a percent').fill('25.5');
      await dialog.getByText('A whole number from 1 to 5000').first().waitFor();
      await dialog.getByLabel('Hundredths of a percent').fill('25');
      await dialog.getByLabel('Reason').fill('A large shop');
      await inspect(ann, 'operators-fee');
      await dialog.getByRole('button', { name: 'Change the commission', exact: true }).click();
      await ann.sees('0.25%');
      await ann.press('Change the limits');
      await dialog.getByLabel('Dollars in 24 hours').fill('2500.50');
      await dialog.getByLabel('Reason').fill('Careful at first');
      await inspect(ann, 'operators-limits');
      await dialog.getByRole('button', { name: 'Change the limits', exact: true }).click();
      await ann.sees('$2,500.50');
      await ann.press('Suspend');
      await dialog.getByLabel('Reason').fill('Reported');
      await inspect(ann, 'operators-suspend');
      await dialog.getByRole('button', { name: 'Suspend', exact: true }).click();
      await ann.sees('Held: Reported');
      expect(await db.query('SELECT status, fee_bps FROM merchant WHERE id = $1', [merchantId])).toEqual([
        { status: 'suspended', fee_bps: 25 },
      ]);
      await shop.goTo('/payments');
      await shop.sees('Sign in');
      await ann.press('Lift the suspension');
      await dialog.getByLabel('Reason').fill('Cleared');
      await inspect(ann, 'operators-lift');
      await dialog.getByRole('button', { name: 'Lift the suspension', exact: true }).click();
      await dialog.first().waitFor({ state: 'hidden' });
      await page.getByRole('button', { name: 'Suspend', exact: true }).waitFor();
      await ann.sees('Held: Reported'); // two operators decide about the money
      expect(
        await db.query(`SELECT action FROM audit_log WHERE merchant_id = $1 AND action LIKE 'merchant.%' ORDER BY id`, [
          merchantId,
        ]),
      ).toEqual(['fee_changed', 'suspended', 'activated'].map((one) => ({ action: `merchant.${one}` })));
    }, 180_000);

    it('10: closes the registration, lets somebody in by a code, and decides about another', async () => {
      const { page } = ann;
      const dialog = page.getByRole('dialog');
      const turn = async (name: string) => {
        await ann.goTo('/operators/stops');
        await ann.press(name);
        await dialog.getByLabel('Reason').fill('Full');
        if (name.endsWith('merchants')) await inspect(ann, `operators-${name.split(':')[0]!.replace(' ', '-')}`);
        await dialog.getByRole('button', { name, exact: true }).click();
        await ann.press(name.replace(/Turn (on|off)/, (_, to) => `Turn ${to === 'on' ? 'off' : 'on'}`));
        await dialog.getByRole('button', { name: 'Cancel', exact: true }).click();
      };
      await turn('Turn off: Registration of merchants');
      await ann.follow('Registrations');
      await ann.press('Make an invitation code');
      await dialog.getByLabel('For whom').fill(hostile);
      await dialog.getByLabel('Uses at most').fill('0');
      await dialog.getByText('A whole number from 1 to 1000').waitFor();
      await dialog.getByLabel('Uses at most').fill('1');
      await inspect(ann, 'operators-invite');
      await dialog.getByRole('button', { name: 'Make an invitation code', exact: true }).click();
      const secret = page.getByRole('dialog', { name: 'Invitation code made' });
      const code = (await secret.getByText(/^inv_/).textContent())!;
      await inspect(ann, 'operators-code');
      await secret.getByLabel(/kept/).check();
      await secret.getByRole('button', { name: 'Continue', exact: true }).click();
      await showsAsText(ann, hostile);
      await ann.press(`Revoke the code for ${hostile}`);
      await inspect(ann, 'operators-code-revoke');
      await page.keyboard.press('Escape');

      await dashboard.forgetLimits();
      const guest = await Person.sitsDown(dashboard, 'guest');
      await guest.registers();
      await guest.sees('Registration is closed at the moment.');
      await guest.fill('Invitation code', `${code}x`);
      await guest.press('Create the account');
      await guest.sees('This invitation code is wrong, used up or expired.');
      await guest.fill('Invitation code', code);
      await dashboard.forgetLimits();
      await inspect(guest, 'register-code');
      await guest.press('Create the account');
      await guest.sees('Confirm your e-mail address');
      expect(await guest.holdings()).not.toContain(code);
      await page.reload();
      await ann.press(`Who came by the code for ${hostile}`);
      const registrations = page.getByRole('region', { name: 'Registrations', exact: true });
      await registrations.getByText(guest.email).waitFor();
      expect(page.url()).toContain('code=');
      await turn('Turn on: Registration of merchants');

      await turn('Turn off: Registration without approval');
      await dashboard.forgetLimits();
      const waiting = await Person.sitsDown(dashboard, 'waiting');
      const since = Date.now();
      await waiting.registers();
      const mailed = await waiting.mailed('Confirm your e-mail address', /\b(\d{6})\b/, since);
      await waiting.fill('Code from the e-mail', mailed);
      await waiting.press('Confirm');
      await waiting.fill('Password', password);
      await waiting.press('Sign in');
      await waiting.sees('Your registration waits for us to look at it.');
      await ann.goTo('/operators/registrations?state=waiting');
      await registrations.getByText(waiting.email).waitFor();
      await inspect(ann, 'operators-registrations');
      await ann.press('Refuse: Books');
      await inspect(ann, 'operators-refuse');
      await page.keyboard.press('Escape');
      await ann.press('Approve: Books');
      await dialog.getByLabel('Reason').fill('Known');
      await inspect(ann, 'operators-approve');
      await dialog.getByRole('button', { name: 'Approve', exact: true }).click();
      await ann.sees('No registration waits for you.');
      await waiting.mailed('Your registration is approved', /(http\S+\/sign-in)/, since);
      await waiting.press('Sign in');
      await waiting.page.getByAltText('QR code for your authenticator app').waitFor();
      await turn('Turn on: Registration without approval');
      for (const person of [guest, waiting]) {
        await person.context.close();
      }
    }, 240_000);

    it('10: lists screening hits and orders at swap providers, whose texts stay texts', async () => {
      const { page } = ann;
      const conversionId = newId();
      await unguarded(dashboard.world.db, async (tx) => {
        await tx.query(
          `INSERT INTO aml_screen (payment_id, cause, status, risk_score, risk_band, severity, categories, matches)
         VALUES ($1, 'credit', 'flagged', 80, 'severe', 'severe', ARRAY[$2], $3)`,
          [payment.id, hostile, JSON.stringify([{ category: hostile }])],
        );
        await tx.query(
          `INSERT INTO conversion (id, merchant_id, body_hash, status, execution_mode, from_currency, to_currency,
           from_amount) VALUES ($1, $2, 'x', 'failed', 'external', 'ETH', 'BTC', 1)`,
          [conversionId, merchantId],
        );
        await tx.query(
          `INSERT INTO swap_order (conversion_id, provider, payout_address, refund_address, amount, state, status)
         VALUES ($1, 'now', 'pay', 'back', 1, 'refused', $2)`,
          [conversionId, hostile],
        );
      });
      await ann.goTo('/operators/screenings');
      await page.getByRole('link', { name: payment.id }).waitFor();
      await page.getByText('Evidence').last().click();
      await showsAsText(ann, hostile);
      await inspect(ann, 'operators-screenings');
      await page.getByLabel('Result').selectOption('Not available');
      await page.getByRole('link', { name: payment.id }).waitFor({ state: 'hidden' });
      expect(page.url()).toContain('status=unavailable');
      await ann.follow('Swap orders');
      await ann.sees('No order is under way.');
      await page.getByLabel('Which').selectOption('All');
      await page.getByRole('link', { name: conversionId, exact: true }).waitFor();
      await showsAsText(ann, hostile);
      await inspect(ann, 'operators-swap-orders');
      await page.getByRole('link', { name: conversionId, exact: true }).click();
      await page.getByRole('region', { name: `Conversion ${conversionId}` }).waitFor();
    }, 120_000);

    it('10: shows who did what on the whole platform, by a filter, and as a file', async () => {
      const { page } = ann;
      await ann.goTo('/operators/audit');
      const log = page.getByRole('region', { name: 'Audit log of the platform' });
      await log.getByText('switch.set').first().waitFor();
      await inspect(ann, 'operators-audit');
      await page.getByLabel('What', { exact: true }).fill('merchant.suspended');
      await page.getByLabel('Merchant', { exact: true }).fill(merchantId);
      await page.getByRole('search').last().getByRole('button', { name: 'Find' }).click();
      await log.getByText('merchant.suspended').waitFor();
      expect(await log.locator('tbody tr').count()).toBe(1);
      await showsAsText(ann, hostile);
      expect(page.url()).toContain(`merchant=${merchantId}`);
      const [file] = await Promise.all([page.waitForEvent('download'), ann.press('Download as CSV')]);
      expect(file.suggestedFilename()).toMatch(/^platform-audit-log-.+\.csv$/);
      await page.getByLabel('What', { exact: true }).fill('audit_log.exported');
      await page.getByLabel('Merchant', { exact: true }).fill('');
      await page.getByRole('search').last().getByRole('button', { name: 'Find' }).click();
      await log.getByText('audit_log.exported').waitFor();
    }, 120_000);

    it('10: shows nothing of it to a merchant, whose page is forced to ask', async () => {
      const other = await anAdmin(dashboard, 'other');
      const links = other.page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('link');
      expect(await links.allTextContents()).not.toContain('Platform');
      await other.goTo('/operators/find?q=x');
      await other.sees('These pages are for operators of the platform.');
      await inspect(other, 'operators-none');
      const { origin } = new URL(dashboard.url);
      await dashboard.forgetLimits();
      const member = await aMember(other, 'member', ['audit:view', 'settings:manage']);
      for (const person of [other, member]) {
        for (const path of ['find?q=x', 'overview', 'audit-log', `merchants/${merchantId}`, 'operator-requests']) {
          const forced = await person.page.request.get(`${origin}/api/v1/platform/${path}`, { headers: { origin } });
          expect([path, forced.status()]).toEqual([path, 403]);
        }
        const write = await person.page.request.post(`${origin}/api/v1/platform/invite-codes`, {
          headers: { origin },
          data: { label: 'x' },
        });
        expect(write.status()).toBe(403);
        await person.context.close();
      }
    }, 120_000);
  });
