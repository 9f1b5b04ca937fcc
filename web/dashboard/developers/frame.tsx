import { useSuspenseQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { apiUrl } from '../api/places';
import { meQuery } from '../api/queries';
import css from '../design/design.module.css';
import { Notice } from '../design/feedback';
import { Page } from '../shell/page';
import { SectionTabs } from '../shell/section-tabs';
import { pagesFor } from './pages';
import { useDeveloperTexts } from './texts/use';

/** The frame of every page for developers: its neighbours, and the reference. */
export function DevelopersFrame(props: Readonly<{ acts?: ReactNode; title?: string; children: ReactNode }>) {
  const t = useDeveloperTexts();
  const { data: me } = useSuspenseQuery(meQuery);
  const shown = me ? pagesFor(me) : [];
  return (
    <Page title={props.title ?? t.title} acts={props.acts}>
      <div className={`${css.row} ${css.between}`}>
        <SectionTabs label={t.label} pages={shown} names={t.tabs} />
        <a href={`${apiUrl}/docs`} target="_blank" rel="noreferrer">
          {t.reference}
        </a>
      </div>
      {props.children}
    </Page>
  );
}

/** Where the section begins for a person who may see none of its pages. */
export function NoDeveloperPage() {
  const t = useDeveloperTexts();
  return (
    <Page title={t.title}>
      <Notice tone="warn">{t.nothing}</Notice>
    </Page>
  );
}
