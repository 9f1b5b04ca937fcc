import type { Page } from 'playwright-core';
import { pages } from '../pages';

/** The page of an address as the router names it: the one with the fewest gaps. */
function pageAt(path: string): string {
  const fits = pages.filter((page) => new RegExp(`^${page.replaceAll(/\$\w+/g, '[^/]+')}$`).test(path));
  return fits.toSorted((a, b) => a.split('$').length - b.split('$').length)[0] ?? 'no page';
}

const looks = `(() => {
  const dialog = [...document.querySelectorAll('dialog[open]')].at(-1);
  const chosen = dialog?.querySelector('[role=group] [aria-pressed=true]')?.textContent;
  const path = location.pathname.replace(/^\\/dashboard(?=\\/|$)/, '') || '/';
  const title = dialog?.querySelector('h2').textContent;
  const headings = [...document.querySelectorAll('h1, h2')].map((one) => one.textContent);
  return { path, titles: dialog ? [chosen ? title + ': ' + chosen : title] : ['', ...headings] };
})()`;

/** What is open, by its names: a page, and the page with each of its headings; or the dialog over it, and which of its
 *  ways was chosen. */
export async function viewsOn(page: Page): Promise<string[]> {
  const { path, titles } = await page.evaluate<{ path: string; titles: string[] }>(looks);
  const name = pageAt(path);
  return titles.map((title) => (title ? `${name}: ${title}` : name));
}
