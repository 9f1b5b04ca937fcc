import type { Locator } from 'playwright-core';
import type { Person } from '../person';

const painted = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`;

const whole = (text: string): RegExp => new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);

/** Presses each button of a page, and hands over every dialog that opens. What the page wants to write meanwhile is
 *  refused: nothing changes. Returns the titles of the dialogs. */
export async function throughDialogs(person: Person, url: string, look: () => Promise<void>): Promise<string[]> {
  const { page } = person;
  const titles: string[] = [];
  await page.route('**/api/v1/**', (route) =>
    route.request().method() === 'GET'
      ? route.fallback()
      : route.fulfill({ status: 403, json: { error: 'Forbidden' } }),
  );
  const open = page.locator('dialog[open]');
  // The frame around all pages is the same: one of them is enough.
  const places = url.endsWith('/account') ? ['main', 'header'] : ['main'];
  const buttons = page.locator(places.map((one) => `${one} button:not([aria-disabled=true], [type=submit])`).join());
  const named = (name: string): Locator => buttons.filter({ hasText: whole(name) }).first();
  /** Looks at the dialog that is open, if one is, and closes it. */
  const meet = async (): Promise<void> => {
    if (!(await open.count())) return;
    await person.rests();
    titles.push((await open.last().locator('h2').first().textContent())!);
    await look();
    await page.keyboard.press('Escape');
    await page.evaluate(painted);
  };
  /** A dialog of the button before may have opened late: it is met first. */
  const press = async (button: Locator): Promise<void> => {
    try {
      await button.click({ timeout: 5000 });
    } catch (error) {
      if (!(await open.count())) throw error;
      await meet();
      await button.click();
    }
  };
  // By their words: a row's button stands for those of all rows.
  for (const name of new Set(await buttons.allTextContents())) {
    if (!name.trim() || !(await named(name).isVisible())) continue;
    await press(named(name));
    await page.evaluate(painted);
    await meet();
    // Some buttons lead to another page, and some dialogs stay until they are answered.
    if (page.url() !== url || (await open.count())) {
      await page.goto(url);
      await buttons.first().waitFor();
      await person.rests();
    }
  }
  await page.unroute('**/api/v1/**');
  return titles;
}
