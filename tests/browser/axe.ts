import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** What axe finds wrong on a page, by WCAG 2.2 AA and these further sets of rules: a rule and its elements each. */
export async function violationsOf(page: Page, ...more: readonly string[]): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page })
    .options({ resultTypes: ['violations'] }) // nothing is told in detail of what is right
    .withTags([...rules, ...more])
    // One frame is looked at in its own page, three times as fast as by a page that gathers the results of many.
    .setLegacyMode(page.frames().length === 1)
    .analyze();
  return violations.map(({ id, nodes }) =>
    [id, ...nodes.map(({ html, target }) => `${String(target)} ${html}`)].join(' '),
  );
}
