import { readFile } from 'node:fs/promises';
import { type Dashboard, inspect, type Person } from '../person';
import { aMember, anAdmin } from './kit';

/** Acts on several payments of the list at once, in Chromium. */

let dashboard: Dashboard;
let ida: Person;

type Made = Readonly<{ paymentId: string; slug: string }>;
const makes = async (order: string): Promise<Made> => {
  const { paymentId } = await ida.asks('POST', '/api/v1/payments', {
    ...{ amount: 20, currency: 'ETH', merchantOrderId: order },
  });
  const { shortSlug } = await ida.asks('GET', `/api/v1/payments/${paymentId}`);
  return { paymentId, slug: shortSlug };
};
const choice = ({ slug }: Made) => ida.page.getByRole('checkbox', { name: `Choose payment ${slug}` });
const statusOf = async ({ paymentId }: Made): Promise<string> =>
  (await ida.asks('GET', `/api/v1/payments/${paymentId}`)).status;
const cancelled = (made: Made): Promise<unknown> => ida.asks('POST', `/api/v1/payments/${made.paymentId}/cancel`, {});

/** The text of the file that this button downloads. */
async function fileOf(button: string): Promise<string> {
  const download = ida.page.waitForEvent('download');
  await ida.press(button);
  return readFile(await (await download).path(), 'utf8');
}

export const bulk = (opened: () => Dashboard): void =>
  describe('several payments at once', () => {
    beforeAll(async () => {
      dashboard = opened();
      ida = await anAdmin(dashboard, 'ida');
      await ida.openShop();
    }, 240_000);
    afterAll(() => dashboard.everybodyLeaves());

    it('are cancelled, with the keyboard alone, and a refused one stays chosen and says why', async () => {
      const [first, second, third] = [await makes('b-1'), await makes('b-2'), await makes('b-3')];
      await cancelled(third);
      await ida.opens('/payments', 'Payments');
      expect(await ida.page.getByRole('button', { name: 'Cancel the unpaid ones' }).count()).toBe(0);
      await choice(third).press('Space');
      await ida.sees('1 payment chosen');
      expect(await ida.reasonOf('Cancel the unpaid ones')).toBe('None of the chosen payments is unpaid.');
      await choice(first).press('Space');
      await choice(second).press('Space');
      await ida.sees('3 payments chosen');
      await inspect(ida, 'payments-chosen');
      await ida.page.getByRole('button', { name: 'Cancel the unpaid ones' }).press('Enter');
      const dialog = ida.dialog('Cancel the unpaid ones');
      await dialog.getByText('1 more is chosen, but is no longer unpaid').waitFor();
      await inspect(ida, 'payments-cancel');
      await cancelled(second); // meanwhile, by somebody else
      await dialog.getByLabel('Reason').press('Enter');
      await ida.sees('1 payment cancelled');
      await dialog.locator('li', { hasText: first.slug }).getByText('Cancelled').waitFor();
      await dialog
        .locator('li', { hasText: second.slug })
        .getByText('This payment cannot be cancelled any more.')
        .waitFor();
      expect(await dialog.getByRole('button', { name: /^Cancel \d/ }).count()).toBe(0);
      await inspect(ida, 'payments-cancelled');
      await ida.page.keyboard.press('Escape');
      await ida.sees('2 payments chosen');
      expect(await Promise.all([first, second, third].map((made) => choice(made).isChecked()))).toEqual([
        ...[false, true, true],
      ]);
      expect(await Promise.all([first, second].map(statusOf))).toEqual(['CANCELLED', 'CANCELLED']);
      await ida.press('Choose none');
      expect(await choice(second).isChecked()).toBe(false);
    }, 120_000);

    it('are all of a page, and close the dialog where none was refused', async () => {
      const made = [await makes('b-4'), await makes('b-5')];
      await ida.opens('/payments?status=WAITING', 'Payments');
      await ida.page.getByRole('checkbox', { name: 'All of this page' }).check();
      await ida.sees('2 payments chosen');
      await ida.press('Cancel the unpaid ones');
      await ida.dialog('Cancel the unpaid ones').getByLabel('Reason').fill('Out of stock');
      await ida.press('Cancel 2 payments');
      await ida.sees('2 payments cancelled');
      await ida.dialog('Cancel the unpaid ones').waitFor({ state: 'detached' });
      await ida.sees('No payment fits these filters.');
      expect(await Promise.all(made.map(statusOf))).toEqual(['CANCELLED', 'CANCELLED']);
      const { items } = await ida.asks('GET', `/api/v1/payments/${made[0]!.paymentId}/timeline`);
      expect(JSON.stringify(items)).toContain('Out of stock');
    }, 60_000);

    it('are files of their own, whose lines are those of the whole list', async () => {
      const [first, second] = [await makes('b-6, "quoted"'), await makes('b-7')];
      await ida.opens('/payments', 'Payments');
      const whole = await fileOf('Download as CSV');
      const wholeJson = JSON.parse(await fileOf('Download as JSON')) as { items: Array<{ _id: string }> };
      await choice(second).check();
      await choice(first).check();
      const lines = whole.split('\n');
      const lineOf = ({ paymentId }: Made): string => lines.find((line) => line.startsWith(paymentId))!;
      expect(await fileOf('Chosen as CSV')).toBe([lines[0], lineOf(second), lineOf(first), ''].join('\n'));
      expect(JSON.parse(await fileOf('Chosen as JSON'))).toEqual({
        items: [second, first].map(({ paymentId }) => wholeJson.items.find(({ _id }) => _id === paymentId)),
      });
    }, 60_000);

    it('are not for a member to cancel who may only see them', async () => {
      const made = await makes('b-8');
      const tom = await aMember(ida, 'tom', ['payments:view']);
      await tom.opens('/payments', 'Payments');
      await tom.page.getByRole('checkbox', { name: `Choose payment ${made.slug}` }).check();
      expect(await tom.reasonOf('Cancel the unpaid ones')).toMatch(/^You need the permission payments:manage/);
      await tom.page.getByRole('button', { name: 'Cancel the unpaid ones' }).click({ force: true });
      expect(await tom.page.getByRole('dialog').count()).toBe(0);
      expect(await statusOf(made)).toBe('WAITING');
    }, 60_000);
  });
