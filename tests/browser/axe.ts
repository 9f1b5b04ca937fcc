import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** What axe finds wrong on a page, by WCAG 2.2 AA and these further sets of rules: a rule and its elements each. */
export const violationsOf = (page: Page, ...more: readonly string[]): Promise<string[]> =>
  found(page, (axe) => axe.withTags([...rules, ...more]));

/** The same by the rules that judge colours. */
export const coloursOf = (page: Page): Promise<string[]> =>
  found(page, (axe) => axe.withRules(['color-contrast', 'link-in-text-block']));

async function found(page: Page, by: (axe: AxeBuilder) => AxeBuilder): Promise<string[]> {
  // Nothing is told in detail of what is right.
  const { violations } = await by(new AxeBuilder({ page }).options({ resultTypes: ['violations'] }))
    // One frame is looked at in its own page, three times as fast as by a page that gathers the results of many.
    .setLegacyMode(page.frames().length === 1)
    .analyze();
  return violations.map(({ id, nodes }) =>
    [id, ...nodes.map(({ html, target }) => `${String(target)} ${html}`)].join(' '),
  );
}
