import { useSuspenseQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { meQuery } from '../api/queries';
import { Notice } from '../design/feedback';
import { Page } from '../shell/page';
import { SectionTabs } from '../shell/section-tabs';
import { teamPagesFor } from './pages';
import { useTeamTexts } from './texts/use';

/** The frame of every page for the team, with its neighbours. */
export function TeamFrame({ acts, children }: Readonly<{ acts?: ReactNode; children: ReactNode }>) {
  const t = useTeamTexts();
  const { data: me } = useSuspenseQuery(meQuery);
  return (
    <Page title={t.title} acts={acts}>
      <SectionTabs label={t.label} pages={me ? teamPagesFor(me) : []} names={t.tabs} />
      {children}
    </Page>
  );
}

/** Where the section begins for a person who may see none of its pages. */
export function NoTeamPage() {
  const t = useTeamTexts();
  return (
    <Page title={t.title}>
      <Notice tone="warn">{t.nothing}</Notice>
    </Page>
  );
}
