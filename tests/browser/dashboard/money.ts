import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Download, Locator } from 'playwright-core';
import { baseUnits } from '../../../domain/chains/assets';
import { type Dashboard, inspect, Person } from '../person';
import { wrongGuesses } from './kit';

/** The dashboard's section on money in Chromium, against the running service and real chains. */

const mischief = '<img src=x onerror=alert(1)>';

export const money = (opened: () => Dashboard): void =>
  describe('the section on money', () => {
    let dashboard: Dashboard;
    let ann: Person;
    let ben: Person; // may look
    let cat: Person; // may send
    beforeAll(async () => {
      dashboard = opened();
      ann = await Person.sitsDown(dashboard, 'ann');
      await ann.hasJoined();
      ben = await Person.sitsDown(dashboard, 'ben');
      cat = await Person.sitsDown(dashboard, 'cat');
    }, 240_000);
    afterAll(() => dashboard.everybodyLeaves());

    describe('Balances and the ledger', () => {
      it('say what to do next while there is nothing', async () => {
        await ann.follow('Money');
        await ann.title('Balances');
        await ann.sees('No balance yet. It grows when the first payment settles.');
        await inspect(ann, 'balances-empty');
        await ann.openShop();
      });

      it('show exact amounts, what they are worth, and every change with the balance after it', async () => {
        await ann.earns('ETH', 400);
        const { available, fiatAmount } = await ann.balance('ETH');
        await ann.opens('/money', 'Balances');
        await ann.row('ETH').getByText(`${available} ETH`).waitFor();
        await ann.row('ETH').getByText(`$${fiatAmount}`).waitFor();
        await inspect(ann, 'balances');
        await ann.follow('ETH');
        await ann.title('Ledger of ETH');
        await ann.row('Payment credited').getByText(`+${available} ETH`).waitFor();
        await ann
          .row('Payment credited')
          .getByRole('cell', { name: `${available} ETH`, exact: true })
          .waitFor();
        await inspect(ann, 'ledger');
      });

      it('keep their filters in the address', async () => {
        await ann.page.getByLabel('What').selectOption('Refund final');
        await ann.sees('No entry fits these filters.');
        expect(ann.page.url()).toBe(`${dashboard.url}/money/balances/ETH?type=refund`);
        await ann.page.getByLabel('What').selectOption('Payment credited');
        await ann.row('Payment credited').waitFor();
        await ann.page.reload();
        await ann.row('Payment credited').waitFor();
        expect(await ann.page.getByLabel('What').inputValue()).toBe('payment_credit');
        await ann.press('Clear all filters');
        await ann.page.waitForURL(`${dashboard.url}/money/balances/ETH`);
      });

      it('can be had as a spreadsheet and as a statement', async () => {
        const takes = async (name: string): Promise<Download> => {
          const [file] = await Promise.all([ann.page.waitForEvent('download'), ann.press(name)]);
          return file;
        };
        const { available } = await ann.balance('ETH');
        const csv = await takes('Download as CSV');
        expect(csv.suggestedFilename()).toMatch(/^ledger-ETH-\d{4}-\d\d-\d\d\.csv$/);
        expect(readFileSync(await csv.path(), 'utf8')).toContain(`payment_credit,${available},${available},`);
        const pdf = await takes('Statement as PDF');
        expect(pdf.suggestedFilename()).toMatch(/^statement-ETH-.*\.pdf$/);
        expect(readFileSync(await pdf.path(), 'latin1')).toMatch(/^%PDF-/);
      });

      it('take an address that means nothing as text, and say what is wrong with it', async () => {
        await ann.opens(`/money/balances/${encodeURIComponent(mischief)}`, `Ledger of ${mischief}`);
        await ann.sees('Something in this form does not fit.');
        await ann.opens('/money/balances/ETH?type=nonsense&from=yesterday&before=-1', 'Ledger of ETH');
        await ann.row('Payment credited').waitFor();
        await ann.opens('/payments?status=nonsense&page=none', 'Payments');
        await ann.row('Settled').waitFor();
      });

      it('say why a member without the permission sees nothing', async () => {
        await ben.joinsTeamOf(ann, [
          ...['withdrawals:view', 'whitelist:view', 'wallets:view', 'settings:view'],
          ...['conversions:view', 'mass-payouts:view'],
        ]);
        await ben.goTo('/money/balances');
        await ben.sees('You need the permission balances:view.');
        expect(await ben.page.getByRole('link', { name: 'Balances' }).count()).toBe(0);
        await inspect(ben, 'balances-refused');
      });
    });

    describe('Withdrawals', () => {
      const address = `0x${randomBytes(20).toString('hex')}`;
      const fills = async (amount: string, note: string): Promise<Locator> => {
        await ann.opens('/money/withdrawals', 'Withdrawals');
        await ann.press('Withdraw');
        const form = ann.dialog('Withdraw');
        await form.getByLabel('Currency').selectOption('ETH');
        await form.getByLabel('To', { exact: true }).selectOption({ index: 1 });
        await form.getByLabel('Amount in ETH').fill(amount);
        await form.getByLabel('Note').fill(note);
        return form;
      };

      it('say what to do first, and what is wrong with an amount as it is typed', async () => {
        await ann.opens('/money/withdrawals', 'Withdrawals');
        await ann.sees('No withdrawal yet.');
        await ann.press('Withdraw');
        const form = ann.dialog('Withdraw');
        await form.getByLabel('Currency').selectOption('ETH');
        await ann.sees('No address for ETH on the whitelist counts yet.');
        await form.getByLabel('Amount in ETH').fill('0,5');
        await ann.sees('Enter an amount like 0.25.');
        await form.getByLabel('Amount in ETH').fill('0.0000001');
        await ann.sees('The amount is below the minimum of this network.');
        await form.getByLabel('Amount in ETH').fill('99');
        await ann.sees('Your balance does not cover this.');
        await inspect(ann, 'withdraw-refused');
        await ann.asks('POST', '/api/v1/whitelist/wallet', {
          ...{ currency: 'ETH', address, label: mischief },
          emailCode: await ann.mailedCode('/api/v1/whitelist/send-email-code'),
        });
      });

      it('go once, however often one clicks, and keep the form on a wrong code', async () => {
        const form = await fills('0.02', mischief);
        await form.getByText('The address gets').waitFor();
        await inspect(ann, 'withdraw');
        await form.getByRole('button', { name: 'Withdraw', exact: true }).click();
        await ann.fill('Code from your authenticator', '000000');
        await ann.page.getByRole('button', { name: 'Confirm', exact: true }).dblclick();
        await ann.sees('This code or passkey is wrong, was used already, or has expired.');
        expect(await form.getByLabel('Amount in ETH').inputValue()).toBe('0.02');
        expect(await form.getByLabel('Note').inputValue()).toBe(mischief);
        await ann.fill('Code from your authenticator', await ann.code());
        await ann.page.getByRole('button', { name: 'Confirm', exact: true }).dblclick();
        await ann.title('Withdrawal');
        await ann.page.locator('main').getByText('Completed').first().waitFor({ timeout: 120_000 });
        await ann.sees(mischief);
        await inspect(ann, 'withdrawal');
        const [net] = (await ann.fact('The address gets').textContent())!.split(' ');
        expect(await dashboard.world.etherAt(address)).toBe(baseUnits('ETH', net!));
        expect((await ann.asks('GET', '/api/v1/withdrawals')).total).toBe(1);
        expect(await wrongGuesses(ann)).toBe(1);
      });

      it('wait for a second person, who is neither the first nor new', async () => {
        const emailCode = await ann.mailedCode('/api/v1/auth/mfa/send-email-code', { action: 'egress_limits' });
        await ann.asks('PATCH', '/api/v1/settings/egress-limits', { approvalUsd: '10', emailCode });
        await cat.joinsTeamOf(ann, ['withdrawals:manage', 'whitelist:view', 'wallets:manage']);
        await cat.addsPasskey();
        await ann.addsPasskey();
        const form = await fills('0.01', 'second');
        await form.getByRole('button', { name: 'Withdraw', exact: true }).click(); // a passkey asks by itself
        await ann.sees('A second person of your team must approve it.');
        expect(await ann.reasonOf('Approve')).toBe('You have asked for it: somebody else must approve it.');
        await inspect(ann, 'withdrawal-waits');
        const path = new URL(ann.page.url()).pathname.replace('/dashboard', '');

        await ben.goTo(path);
        await ben.sees('A second person of your team must approve it.');
        for (const name of ['Approve', 'Reject', 'Cancel the withdrawal'])
          expect(await ben.reasonOf(name)).toMatch(/^You need the permission withdrawals:manage/);
        await ben.follow('All withdrawals');
        expect(await ben.reasonOf('Withdraw')).toMatch(/^You need the permission withdrawals:manage/);

        await cat.goTo(path);
        await cat.press('Approve');
        const approval = cat.page.getByRole('dialog', { name: 'Approve', exact: true });
        await approval.getByText(address).waitFor({ state: 'attached' });
        await inspect(cat, 'withdrawal-approve');
        await approval.getByRole('button', { name: 'Approve' }).click();
        await cat.sees('Your right to approve is too new');
        await dashboard.world.db.query(`UPDATE user_right SET since = clock_timestamp() - interval '25 hours'`);
        await approval.getByRole('button', { name: 'Approve' }).click();
        await cat.sees('Withdrawal approved');
        await cat.page.locator('main').getByText('Completed').first().waitFor({ timeout: 120_000 });
        expect(await cat.fact('Approved by').textContent()).toBe(cat.email);
      });

      it('can be cancelled by who asked, and rejected by who would approve', async () => {
        const { available } = await ann.balance('ETH');
        const form = await fills('0.01', 'third');
        await form.getByRole('button', { name: 'Withdraw', exact: true }).click();
        await ann.sees('A second person of your team must approve it.');
        expect((await ann.balance('ETH'))['reserved']).toBe('0.01');
        await ann.press('Cancel the withdrawal');
        await inspect(ann, 'withdrawal-cancel');
        await ann.dialog('Cancel the withdrawal').getByRole('button', { name: 'Cancel the withdrawal' }).click();
        await ann.sees('Withdrawal cancelled');
        expect((await ann.balance('ETH'))['available']).toBe(available);

        const again = await fills('0.01', 'fourth');
        await again.getByRole('button', { name: 'Withdraw', exact: true }).click();
        await ann.sees('A second person of your team must approve it.');
        await cat.goTo(new URL(ann.page.url()).pathname.replace('/dashboard', ''));
        await cat.press('Reject');
        await inspect(cat, 'withdrawal-reject');
        await cat.page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
        await cat.sees('Withdrawal rejected');
        await ann.page.locator('main').getByText('Cancelled', { exact: true }).waitFor();
      });

      it('are listed with their notes as text, and filtered by status', async () => {
        await ann.follow('Withdrawals');
        await ann.title('Withdrawals');
        await ann.row(mischief).waitFor();
        await inspect(ann, 'withdrawals');
        await ann.page.getByLabel('Status').selectOption('Cancelled');
        await ann.row('third').waitFor();
        await ann.row(mischief).waitFor({ state: 'detached' });
        expect(ann.page.url()).toBe(`${dashboard.url}/money/withdrawals?status=cancelled`);
        await ann.opens('/money/withdrawals/000000000000000000000000', 'Withdrawal');
        await ann.sees('There is no such withdrawal.');
      });
    });

    describe('The whitelist', () => {
      const address = `0x${randomBytes(20).toString('hex')}`;
      const label = `Vault ${mischief}`;

      it('keeps the form on a refusal, and says from when on an address counts', async () => {
        await ann.asks('PATCH', '/api/v1/settings', { whitelistDelayHours: 24 });
        await ann.opens('/money/whitelist', 'Whitelist');
        await ann.row(mischief).getByText('Active').waitFor();
        await ann.press('Add an address');
        const form = ann.dialog('Add an address');
        await form.getByLabel('Currency').selectOption('ETH');
        await form.getByLabel('Address', { exact: true }).fill('0x1234');
        await form.getByLabel('Name').fill(label);
        await form.getByRole('button', { name: 'Add an address' }).click();
        await ann.sees('This address cannot be used here.');
        expect(await form.getByLabel('Name').inputValue()).toBe(label);
        await inspect(ann, 'whitelist-add');
        await form.getByLabel('Address', { exact: true }).fill(address);
        await form.getByRole('button', { name: 'Add an address' }).click();
        await form.getByText('It counts from').waitFor();
        await inspect(ann, 'whitelist-added');
        await ann.press('Understood');
        await ann.row('Vault').getByText('Cooling off').waitFor();
        await inspect(ann, 'whitelist');
        await ann.opens('/money/withdrawals', 'Withdrawals');
        await ann.press('Withdraw');
        await ann.dialog('Withdraw').getByLabel('Currency').selectOption('ETH');
        await ann.sees('One more address is in its cooling-off.');
      });

      it('warns who would shut himself out, and forgets what is removed', async () => {
        await ann.opens('/money/whitelist', 'Whitelist');
        await ann.press('Add an IP address');
        const form = ann.dialog('Add an IP address');
        await inspect(ann, 'whitelist-add-ip');
        await form.getByLabel('IP address').fill('nowhere');
        await form.getByRole('button', { name: 'Add an IP address' }).click();
        await ann.sees('This is no IP address and no range.');
        await form.getByLabel('IP address').fill('203.0.113.0/24');
        await form.getByLabel('Name').fill('Office');
        await form.getByRole('button', { name: 'Add an IP address' }).click();
        await ann.sees('Your own IP address is not listed');
        await ann.press('Understood');
        for (const name of ['Office', label]) {
          await ann.press(`Remove ${name}`);
          if (name === label) await inspect(ann, 'whitelist-remove');
          await ann.dialog(`Remove ${name}`).getByRole('button', { name: 'Remove' }).click();
          await ann.row(name).waitFor({ state: 'detached' });
        }
        await ann.asks('PATCH', '/api/v1/settings', { whitelistDelayHours: 0 });
      });

      it('of many entries offers a few to a withdrawal, and finds the others', async () => {
        await ann.rowsOf(`
          INSERT INTO whitelist_entry (id, merchant_id, type, currency, address, label, created_by, created_by_id,
                                       active_at)
          SELECT 'b' || lpad(to_hex(n), 23, '0'), $1, 'wallet', 'ETH', '0x' || lpad(to_hex(n), 40, '0'),
                 'Supplier ' || n, 'ann', $1, now()
            FROM generate_series(100, 139) n`);
        await ann.opens('/money/withdrawals', 'Withdrawals');
        await ann.press('Withdraw');
        const form = ann.dialog('Withdraw');
        await form.getByLabel('Currency').selectOption('ETH');
        await form.getByText('25 of 41: find the others by a part of them.').waitFor();
        const to = form.getByLabel('To', { exact: true });
        expect(await to.getByRole('option').count()).toBe(26);
        await inspect(ann, 'withdraw-many');
        await form.getByLabel('Find by name, address or IP').fill('supplier 139');
        await to.getByRole('option', { name: /^Supplier 139: 0x0+8b$/ }).waitFor({ state: 'attached' });
        expect(await to.getByRole('option').count()).toBe(2);
        await to.selectOption({ index: 1 });
        await form.getByLabel('Find by name, address or IP').fill('supplier 1');
        expect(await to.getByRole('option', { selected: true }).textContent()).toMatch(/^Supplier 139/);
        await ann.rowsOf(`DELETE FROM whitelist_entry WHERE merchant_id = $1 AND label LIKE 'Supplier %'`);
      });

      it('says why a member may not change it', async () => {
        await ben.goTo('/money/whitelist');
        await ben.sees(mischief);
        for (const name of ['Add an address', 'Add an IP address', `Remove ${mischief}`])
          expect(await ben.reasonOf(name)).toMatch(/^You need the permission whitelist:manage/);
        await ben.page.getByRole('button', { name: 'Add an address' }).click({ force: true });
        expect(await ben.page.getByRole('dialog').count()).toBe(0);
      });
    });

    describe('Wallets and limits', () => {
      it('show where settled money goes, and change it with a second person', async () => {
        await ann.opens('/money/wallets', 'Wallets');
        await ann.page.getByRole('heading', { level: 2, name: 'ETH' }).waitFor();
        expect(await ann.reasonOf('Add a wallet')).toBe('There is an active wallet for every currency.');
        await ann.press('Change the settlement address of ETH');
        const form = ann.dialog('Change the settlement address of ETH');
        await inspect(ann, 'wallet-repoint');
        await form.getByLabel('Your own address').fill('0x99');
        await form.getByRole('button', { name: 'Change the settlement address of ETH' }).click();
        await ann.sees('This address cannot be used here.');
        await form.getByLabel('Your own address').fill(`0x${randomBytes(20).toString('hex')}`);
        await form.getByRole('button', { name: 'Change the settlement address of ETH' }).click();
        await ann.sees('A second person must approve it.');
        expect(await ann.reasonOf('Approve the address')).toBe('You have asked for it: somebody else must approve it.');
        await inspect(ann, 'wallets');
        await ben.goTo('/money/wallets');
        await ben.sees('A second person must approve it.');
        for (const name of ['Approve the address', 'Reject the address', 'Deactivate the wallet of ETH'])
          expect(await ben.reasonOf(name)).toMatch(/^You need the permission wallets:manage/);
        await cat.goTo('/money/wallets');
        await cat.press('Approve the address');
        await inspect(cat, 'wallet-approve');
        await cat.dialog('Approve the address').getByRole('button', { name: 'Back' }).click();
        await ann.press('Reject the address');
        await inspect(ann, 'wallet-reject');
        await ann.dialog('Reject the address').getByRole('button', { name: 'Reject the address' }).click();
        await ann.sees('Address rejected');
      });

      it('deactivate a wallet and add another', async () => {
        await ann.press('Deactivate the wallet of BTC');
        await inspect(ann, 'wallet-deactivate');
        await ann.dialog('Deactivate the wallet of BTC').getByRole('button', { name: 'Deactivate' }).click();
        await ann.page.getByRole('heading', { level: 2, name: 'Deactivated wallets' }).waitFor();
        await ann.press('Add a wallet');
        await inspect(ann, 'wallet-add');
        await ann.dialog('Add a wallet').getByRole('button', { name: 'Add a wallet' }).click();
        await ann.sees('Wallet added');
        await ann.page.getByRole('heading', { level: 2, name: 'BTC' }).waitFor();
      });

      it('tighten at once, and loosen after a day', async () => {
        await ann.opens('/money/limits', 'Limits');
        const now = ann.page.getByRole('region', { name: 'What counts now' });
        await now.getByText('$10.00').waitFor();
        await ann.fill('Sent within an hour', 'many');
        await ann.sees('Enter a whole number, or nothing.');
        expect(await ann.reasonOf('Save')).toBe('One of the limits is no number.');
        await ann.fill('Sent within an hour', '100');
        await ann.fill('Second person above, in US dollars', '');
        await ann.press('Save');
        await ann.sees('What is looser than before counts from');
        await now.getByText(/used · 100$/).waitFor();
        await now.getByText('$10.00').waitFor();
        await inspect(ann, 'limits');
        await ben.goTo('/money/limits');
        await ben.title('Limits');
        await ben.sees('$10.00');
        expect(await ben.reasonOf('Save')).toMatch(/^You need the permission settings:manage/);
      });
    });
  });
