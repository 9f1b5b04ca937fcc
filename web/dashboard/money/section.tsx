import { useSuspenseQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { holds, type Permission } from '../../../domain/access/access';
import { meQuery, type Me } from '../api/queries';
import { Notice } from '../design/feedback';
import { Page } from '../shell/page';
import { SectionTabs } from '../shell/section-tabs';
import { useTexts, useTextsOf } from '../texts/texts';
import { tabsOf } from './tabs';
import { de } from './texts/de';
import { en } from './texts/en';

/** The words of the section on money. */
export const useMoneyTexts = () => useTextsOf({ en, de });

/** A page of the section on money, below its tabs. Who lacks its permission is told so. */
export function MoneyPage(
  props: Readonly<{
    title: string;
    permission: Permission;
    acts?: (me: Me) => ReactNode;
    children: (me: Me) => ReactNode;
  }>,
) {
  const { title, permission, acts, children } = props;
  const t = useTexts();
  const words = useMoneyTexts();
  const { data: me } = useSuspenseQuery(meQuery);
  if (!me) return null;
  const isAllowed = holds(me, permission);
  return (
    <Page title={title} acts={isAllowed ? acts?.(me) : undefined}>
      <SectionTabs label={words.tabs.label} pages={tabsOf(me)} names={words.tabs} />
      {isAllowed ? children(me) : <Notice tone="warn">{t.needs(permission)}</Notice>}
    </Page>
  );
}
