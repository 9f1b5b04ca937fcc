import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { root } from '../../sandbox/paths';

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** What axe finds wrong on a page, by WCAG 2.2 AA and these further sets of rules: a rule and its elements each. */
export async function violationsOf(page: Page, ...more: readonly string[]): Promise<string[]> {
  // Looks are compared within one document.
  if (page.frames().length > 1) return found(page, { runOnly: { type: 'tag', values: [...rules, ...more] } });
  return [...(await violationsButOfColours(page, ...more)), ...(await faintTextOf(page))];
}

const ofColours = ['color-contrast', 'link-in-text-block'];
/** The same without the rules of colours, which take most of the time on a long page: `faintTextOf` has them. */
export const violationsButOfColours = (page: Page, ...more: readonly string[]): Promise<string[]> =>
  found(page, butOfColours(more));
/** The same beside a part, by its selector, which is as on a page that was checked. */
export const violationsBeside = (part: string, page: Page, ...more: readonly string[]): Promise<string[]> =>
  found(page, butOfColours(more), { exclude: [[part]] });
const butOfColours = (more: readonly string[]): RunOptions => ({
  runOnly: { type: 'tag', values: [...rules, ...more] },
  rules: Object.fromEntries(ofColours.map((rule) => [rule, { enabled: false }])),
});

/** Marks one text of each look that is not in `known`, and answers the new looks. A look is all that the rules of
 *  colours look at: colour, size, weight, kind of element, what it stands in, and the colours behind it. */
const markLooks = (known: readonly string[]): string => `((known) => {
  const seen = new Set(known);
  const nothing = ['rgba(0, 0, 0, 0)', 'none', '1'];
  const grounds = new Map();
  const groundOf = (one) => {
    if (!one) return '';
    if (!grounds.has(one)) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(one);
      const own = [backgroundColor, backgroundImage, opacity].filter((value) => !nothing.includes(value));
      grounds.set(one, [...own, groundOf(one.parentElement)].join());
    }
    return grounds.get(one);
  };
  for (const one of document.querySelectorAll('body *')) {
    one.removeAttribute('data-look');
    const isField = one.matches('input, select, textarea');
    if (!isField && ![...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    if (!one.checkVisibility({ visibilityProperty: true })) continue;
    const { color, fontSize, fontWeight, textDecorationLine } = getComputedStyle(one);
    const around = one.parentElement;
    const look = [color, fontSize, fontWeight, one.localName, textDecorationLine];
    look.push(around.localName, getComputedStyle(around).color);
    if (one.closest('[disabled], [aria-disabled=true]')) look.push('disabled'); // of which nothing is asked
    look.push(groundOf(one));
    const name = look.join();
    if (!seen.has(name)) one.setAttribute('data-look', '');
    seen.add(name);
  }
  return [...seen].slice(known.length);
})(${JSON.stringify(known)})`;
/** Looks that the rules found nothing wrong with, on any page of this test file. */
const checked = new Set<string>();
/** What the rules of colours find in the theme of now, in one text of each look that was not checked before. Looks
 *  again at a page that was renewed meanwhile. */
export async function faintTextOf(page: Page): Promise<string[]> {
  const fresh = await page.evaluate<string[]>(markLooks([...checked]));
  if (!fresh.length) return [];
  const options: RunOptions = { runOnly: { type: 'rule', values: [...ofColours] } };
  const faint = await found(page, options, { include: [['[data-look]']] }).catch((error: Error) => {
    if (error.message.includes('No elements found for include')) return null;
    throw error;
  });
  if (!faint) return faintTextOf(page);
  if (!faint.length) for (const look of fresh) checked.add(look);
  return faint;
}

/** Which part of a page is looked at, by selectors; all of it unless told. */
type Place = Readonly<{ include?: Array<[selector: string]>; exclude?: Array<[selector: string]> }>;

async function found(page: Page, options: RunOptions, place: Place = {}): Promise<string[]> {
  // Nothing is told in detail of what is right.
  const asked: RunOptions = { ...options, resultTypes: ['violations'] };
  return page.frames().length > 1 ? inFrames(page, asked, place) : inOne(page, asked, place);
}

const source = readFileSync(join(root, 'node_modules', 'axe-core', 'axe.min.js'), 'utf8');
/** A page without frames. The library that gathers the results of frames takes longer than the look itself. */
async function inOne(page: Page, options: RunOptions, place: Place): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(source);
  const told = await page.evaluate<Violation[]>(
    `axe.run(${JSON.stringify({ include: [['html']], ...place })}, ${JSON.stringify(options)}).then(({ violations }) =>
       violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, target }) => ({ html, target })) })))`,
  );
  return told.map(asText);
}

async function inFrames(page: Page, options: RunOptions, { include = [], exclude = [] }: Place): Promise<string[]> {
  const builder = new AxeBuilder({ page }).options(options);
  for (const [selector] of include) builder.include(selector);
  for (const [selector] of exclude) builder.exclude(selector);
  const { violations } = await builder.analyze();
  return violations.map(asText);
}

type Violation = Readonly<{ id: string; nodes: ReadonlyArray<Readonly<{ html: string; target: unknown }>> }>;
const asText = ({ id, nodes }: Violation): string =>
  [id, ...nodes.map(({ html, target }) => `${String(target)} ${html}`)].join(' ');
