import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { baseUnits } from '../../../domain/chains/assets';
import { add } from '../../../domain/money';
import { type Dashboard, inspect, type Person } from '../person';
import { aMember, anAdmin } from './kit';

/** What a payment's own page lets a merchant decide, in Chromium, with real money on its way there and back. */

export const decisions = (opened: () => Dashboard): void =>
  describe('decisions about a payment', () => {
    let dashboard: Dashboard;
    let eve: Person;
    let settled: string;
    beforeAll(async () => {
      dashboard = opened();
      eve = await anAdmin(dashboard, 'eve');
      await eve.openShop();
    }, 240_000);
    afterAll(() => dashboard.everybodyLeaves());

    /** A payment of 40 dollars in ether, to which a part of its amount was sent in `currency`. */
    async function paid(part: number, currency = 'ETH'): Promise<string> {
      const made = await eve.asks('POST', '/api/v1/payments', { amount: 40, currency: 'ETH', description: 'Two mugs' });
      const amount = currency === 'ETH' ? (made.amount * part).toFixed(8) : String(40 * part);
      await dashboard.world.payer.pay(currency, made.depositAddress as string, amount);
      return made.paymentId as string;
    }
    const opens = async (id: string, status: string): Promise<void> => {
      await eve.goTo(`/payments/${id}`);
      await shows(status);
    };
    const shows = (status: string): Promise<void> =>
      eve.page.locator('main').getByText(status, { exact: true }).first().waitFor({ timeout: 120_000 });
    const decides = async (name: string, picture: string): Promise<void> => {
      await eve.press(name);
      await eve.dialog(name).waitFor();
      await inspect(eve, picture);
      await eve.dialog(name).getByRole('button', { name, exact: true }).click();
    };
    const confirms = async (): Promise<void> => {
      await eve.fill('Code from your authenticator', await eve.code());
      await eve.press('Confirm');
    };
    const refundsOf = async (id: string): Promise<Array<Record<string, string>>> =>
      (await eve.asks('GET', `/api/v1/payments/${id}/refunds`)).items;

    it('take what arrived as enough', async () => {
      settled = await paid(0.5);
      await opens(settled, 'Partly paid');
      await eve.sees('Two mugs');
      await decides('Accept what arrived', 'payment-accept');
      await eve.sees('Accepted');
      await shows('Settled');
      await eve.sees(`By ${eve.email}`);
      await inspect(eve, 'payment-accepted');
    }, 180_000);

    it('take another coin, or refuse it, and say what happens of itself', async () => {
      const [taken, refused] = [await paid(1, 'USDT_ERC20'), await paid(1, 'USDT_ERC20')];
      await opens(taken, 'Other coin came');
      await eve.sees('Unless you accept it, the payment fails:');
      await decides('Accept the other coin', 'payment-other');
      await shows('Settled');
      await opens(refused, 'Other coin came');
      await decides('Reject the other coin', 'payment-other-rejected');
      await shows('Failed');
      const offered = eve.page.getByRole('button', { name: /the other coin$/ });
      await offered.first().waitFor({ state: 'detached' });
      await eve.sees(`By ${eve.email}`);
      await eve.goTo('/team/audit');
      for (const words of ['Accepted a part of a payment as enough', 'Accepted another coin for a payment'])
        await eve.row(words).getByText(eve.email).waitFor();
      await eve.row('Rejected another coin for a payment').getByText(refused).waitFor();
    }, 240_000);

    it('refund a part, with what it costs before, and keep the form on a wrong code', async () => {
      const address = `0x${randomBytes(20).toString('hex')}`;
      await opens(settled, 'Settled');
      await eve.press('Refund');
      const form = eve.dialog('Refund');
      await form.getByLabel('What to refund').selectOption('A part');
      await form.getByLabel('Amount in ETH').fill('999');
      await form.getByLabel('Address of the payer').fill(address);
      await form.getByLabel('Network fee').selectOption('Taken from the amount');
      await inspect(eve, 'refund');
      await form.getByRole('button', { name: 'Show what it comes to' }).click();
      await form.getByRole('alert').waitFor();
      expect(await form.getByLabel('Address of the payer').inputValue()).toBe(address);
      await form.getByLabel('Amount in ETH').fill('0.002');
      await form.getByRole('button', { name: 'Show what it comes to' }).click();
      await form.getByText('The payer gets').waitFor();
      await inspect(eve, 'refund-preview');
      const shown = async (name: string): Promise<string> => {
        const fact = form.locator('dt', { hasText: name }).locator('xpath=following-sibling::dd');
        return (await fact.textContent())!.split(' ')[0]!;
      };
      expect(add(await shown('The payer gets'), await shown('Network fee'))).toBe('0.002');
      await form.getByRole('button', { name: 'Refund', exact: true }).click();
      await eve.fill('Code from your authenticator', '000000');
      await eve.press('Confirm');
      await eve.sees('This code or passkey is wrong, was used already, or has expired.');
      await eve.fill('Code from your authenticator', await eve.code());
      await eve.page.getByRole('button', { name: 'Confirm', exact: true }).dblclick();
      await eve.sees('Refund created');
      await shows('Completed');
      // The fee is that of the moment at which it was created: the network's price may have moved since it was shown.
      const made = await refundsOf(settled);
      expect(made.map(({ netToDestination, networkFee }) => add(netToDestination!, networkFee!))).toEqual(['0.002']);
      expect(await dashboard.world.etherAt(address)).toBe(baseUnits('ETH', made[0]!['netToDestination']!));
      await inspect(eve, 'refund-completed');
    }, 180_000);

    it('approve what a key has asked for, refuse it, or cancel it', async () => {
      const { apiKey } = await eve.asks('POST', '/api/v1/api-keys', {
        ...{ name: 'Till', scopes: ['refunds:create'] },
        totpCode: await eve.code(),
      });
      const asks = async (amount: string, more: object = {}): Promise<void> => {
        const answer = await fetch(`${dashboard.world.stack.apiUrl}/api/v1/payments/${settled}/refunds`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            authorization: `Bearer ${apiKey}`,
            'idempotency-key': randomBytes(8).toString('hex'),
          },
          body: JSON.stringify({ type: 'partial', amount, feeBearer: 'merchant', ...more }),
        });
        expect([answer.status, await answer.text()]).toEqual([201, expect.any(String)]);
      };
      const address = `0x${randomBytes(20).toString('hex')}`;
      await asks('0.001', { address });
      await opens(settled, 'Waits for approval');
      await decides('Approve the refund', 'refund-approve');
      await confirms();
      await eve.sees('Refund approved');
      await dashboard.world.until(
        'the refund has arrived',
        async () => {
          return (await dashboard.world.etherAt(address)) === baseUnits('ETH', '0.001');
        },
        120_000,
      );

      await asks('0.0011', { address });
      await opens(settled, 'Waits for approval');
      await decides('Reject the refund', 'refund-reject');
      await confirms();
      await eve.sees('Refund rejected');
      await asks('0.0012');
      await opens(settled, 'Waits for an address');
      await eve.sees('Hand this link to the payer and to nobody else');
      await decides('Cancel the refund', 'refund-cancel');
      await eve.sees('Refund cancelled');
      const ended = ['0.001 completed', '0.0011 cancelled', '0.0012 cancelled', '0.002 completed'];
      // What has arrived is completed some blocks later.
      await dashboard.world.until('each refund has its end', async () => {
        const now = (await refundsOf(settled)).map(({ amount, status }) => `${amount} ${status}`).sort();
        return now.join() === ended.join();
      });
    }, 180_000);

    it('list all refunds by their status, each with its payment', async () => {
      const { page } = eve;
      await eve.opens('/payments', 'Payments');
      await page.getByRole('navigation', { name: 'Pages on payments' }).getByRole('link', { name: 'Refunds' }).click();
      await eve.title('Refunds');
      await page.locator('tbody tr').nth(3).waitFor();
      const tabs = page.getByRole('navigation', { name: 'Pages on payments' });
      expect(await tabs.locator('[aria-current]').allTextContents()).toEqual(['Refunds']);
      await inspect(eve, 'refunds');
      await page.getByRole('link', { name: 'Cancelled' }).click();
      await page.locator('tbody tr').nth(2).waitFor({ state: 'detached' });
      expect(new URL(page.url()).searchParams.get('status')).toBe('cancelled');
      expect(await page.locator('tbody tr').count()).toBe(2);
      await page.getByLabel('Currency').selectOption('BTC');
      await eve.sees('No refund fits these filters.');
      await eve.press('Clear all filters');
      await eve.press('Today');
      await page.reload();
      await page.locator('tbody tr').nth(3).waitFor();
      await page.getByRole('link', { name: settled }).first().click();
      await shows('Settled');
      const gina = await aMember(eve, 'gina', ['refunds:view']);
      await gina.follow('Payments');
      await gina.title('Refunds');
      await gina.sees(settled);
      expect(await gina.page.getByRole('link', { name: settled }).count()).toBe(0);
    }, 120_000);

    it('say why a member may not decide', async () => {
      const finn = await aMember(eve, 'finn', ['payments:view']);
      const id = await paid(0.5);
      await opens(id, 'Partly paid');
      await finn.goTo(`/payments/${id}`);
      await finn.sees('Accept what arrived');
      for (const name of ['Accept what arrived', 'Refund'])
        expect(await finn.reasonOf(name)).toMatch(/^You need the permission payments:manage/);
      await finn.page.getByRole('button', { name: 'Accept what arrived' }).click({ force: true });
      expect(await finn.page.getByRole('dialog').count()).toBe(0);
    }, 120_000);

    describe('events', () => {
      let server: Server;
      let status = 500;
      beforeAll(async () => {
        server = createServer((request, response) => {
          request.resume();
          request.on('end', () => response.writeHead(status).end());
        });
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      });
      afterAll(() => {
        server.closeAllConnections();
        server.close();
      });

      it('are sent again from the timeline', async () => {
        await eve.asks('POST', '/api/v1/webhook-endpoints', {
          url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
          enabledEvents: ['payment.created'],
        });
        const { paymentId } = await eve.asks('POST', '/api/v1/payments', { amount: 5, currency: 'ETH' });
        await dashboard.world.until('the shop has refused the event', async () => {
          const { items } = await eve.asks('GET', `/api/v1/payments/${paymentId}/timeline`);
          return items.some(
            ({ kind, statusCode }: Record<string, unknown>) => kind === 'delivery' && statusCode === 500,
          );
        });
        status = 204;
        await eve.goTo(`/payments/${paymentId}`);
        await eve.sees('Not delivered');
        await eve.page.getByRole('button', { name: 'Send again' }).first().click();
        await eve.sees('Sent again');
        await eve.page.locator('main').getByText('Delivered', { exact: true }).first().waitFor({ timeout: 60_000 });
        await inspect(eve, 'payment-deliveries');
      }, 120_000);
    });
  });
