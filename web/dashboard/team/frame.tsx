import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { meQuery } from '../api/queries';
import css from '../design/design.module.css';
import { Notice } from '../design/feedback';
import { Page } from '../shell/page';
import { teamPagesFor } from './pages';
import { useTeamTexts } from './texts/use';

/** The frame of every page for the team, with its neighbours. */
export function TeamFrame({ acts, children }: Readonly<{ acts?: ReactNode; children: ReactNode }>) {
  const t = useTeamTexts();
  const { data: me } = useSuspenseQuery(meQuery);
  return (
    <Page title={t.title} acts={acts}>
      <nav aria-label={t.label}>
        <ul className={css.tabs}>
          {me &&
            teamPagesFor(me).map(({ to, name }) => (
              <li key={to}>
                <Link
                  to={to}
                  className={css.tab!}
                  activeOptions={{ includeSearch: false }}
                  activeProps={{ 'aria-current': 'page' }}
                >
                  {t.tabs[name]}
                </Link>
              </li>
            ))}
        </ul>
      </nav>
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
