import { aMember, anAdmin, hostile, showsAsText } from './kit';
import { type Dashboard, inspect, type Person } from '../person';

/** The pages for widgets in Chromium, against the running service and its checkout, whose origin the preview is of. */

let dashboard: Dashboard;
let ann: Person;

export const widgets = (opened: () => Dashboard): void =>
  describe('the dashboard for widgets', () => {
    beforeAll(async () => {
      dashboard = opened();
      ann = await anAdmin(dashboard, 'ann');
    }, 240_000);
    afterAll(() => dashboard.everybodyLeaves());

    const button = () => ann.page.frameLocator('iframe[title="Preview"]').locator('crypto-pay-button');

    it('makes a widget whose button changes as its form does, once by a double click', async () => {
      const { page } = ann;
      await ann.follow('Widgets');
      await ann.sees('No widget yet.');
      await inspect(ann, 'widgets-none');
      await ann.press('Create a widget');
      await button().getByText('Pay with crypto').waitFor();
      await page.getByLabel('Type', { exact: true }).selectOption('Donation form');
      await button().getByText('Donate crypto').waitFor();
      await page.getByLabel('Text of the button').fill(hostile);
      await button().getByText(hostile).waitFor();
      await page.getByLabel('Text of the button').fill('Buy me a book');
      await page.getByLabel('Second line').fill('Thanks');
      await page.getByLabel('Colour').fill('#0a7cf');
      await ann.sees('Enter a colour like #0a7cff.');
      await page.getByLabel('Colour').fill('#0a7cff');
      await button().getByText('Thanks').waitFor();
      const create = page.getByRole('button', { name: 'Create a widget' });
      expect(await create.getAttribute('title')).toBe('Name: Fill this in');
      await page.getByLabel('Name', { exact: true }).first().fill(hostile);
      await page.getByLabel('Price in USD').fill('nonsense');
      await create.click();
      await page
        .getByRole('alert')
        .getByText(/fixedAmount/)
        .waitFor();
      expect(await page.getByLabel('Text of the button').inputValue()).toBe('Buy me a book');
      await page.getByLabel('Price in USD').fill('12.50');
      await page.getByLabel('Checkout', { exact: true }).selectOption('In a frame over your page');
      expect(await create.getAttribute('title')).toBe('A checkout in a frame needs your pages to be named.');
      await page.getByLabel('Your pages').fill('https://shop.example/donate\nblog.example');
      await inspect(ann, 'widgets-editor');
      // The preview opens no checkout.
      await button().getByRole('button').click();
      await button().getByText('That did not work. Try again').waitFor();
      await create.dblclick();
      await ann.sees('Put this into your page where the button belongs.');
      await showsAsText(ann, hostile);
      expect(
        await ann.rowsOf('SELECT name, allowed_origins, fixed_amount::float FROM widget WHERE merchant_id = $1'),
      ).toEqual([{ name: hostile, allowed_origins: ['shop.example', 'blog.example'], fixed_amount: 12.5 }]);
      expect(await ann.rowsOf('SELECT id FROM payment WHERE merchant_id = $1')).toEqual([]);
      await ann.sees('<crypto-pay-button widget=');
      await button().getByText('Buy me a book').waitFor();
      await inspect(ann, 'widgets-one');
    }, 120_000);

    it('changes it, switches it off, shows its figures in the list, and deletes it', async () => {
      const { page } = ann;
      await page.getByLabel('Checkouts can be opened').uncheck();
      await ann.press('Save');
      await ann.sees('Saved');
      await button().getByText('Not available at present').waitFor();
      await ann.follow('All widgets');
      await page.getByRole('row', { name: hostile }).getByText('Off', { exact: true }).waitFor();
      await ann.sees('$0.00');
      await inspect(ann, 'widgets');
      await page.getByRole('link', { name: hostile }).click();
      await ann.press('Delete');
      await inspect(ann, 'widgets-delete');
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await ann.sees('No widget yet.');
    }, 90_000);

    it('tells a member who may only look what is missing', async () => {
      const bob = await aMember(ann, 'bob', ['widgets:view']);
      await bob.follow('Widgets');
      const create = bob.page.getByRole('button', { name: 'Create a widget' });
      expect(await create.getAttribute('title')).toContain('You need the permission widgets:manage.');
      await bob.goTo('/widgets/new');
      await bob.sees('You need the permission widgets:manage.');
      expect(await bob.page.getByRole('textbox').count()).toBe(0);
      await bob.opens('/developers', 'Developers');
      await inspect(bob, 'developers-none');
      await bob.context.close();
    }, 90_000);

    it('lets only the dashboard frame the preview', async () => {
      const answer = await fetch(`${dashboard.world.stack.checkoutUrl}/preview`);
      expect(answer.headers.get('content-security-policy')).toContain(
        `frame-ancestors ${new URL(dashboard.url).origin}`,
      );
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    });
  });
