import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { meQuery } from '../api/queries';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Notice } from '../design/feedback';
import { Field } from '../design/field';
import { Page } from '../shell/page';
import { SectionTabs } from '../shell/section-tabs';
import { isOperator, operatorPages } from './pages';
import { useOperatorTexts } from './texts/use';

/** The frame of every page for operators: the search over everything, and the neighbours. */
export function OperatorsFrame(
  props: Readonly<{ title?: string; query?: string; acts?: ReactNode; children: ReactNode }>,
) {
  const { title, query = '', acts, children } = props;
  const t = useOperatorTexts();
  const { data: me } = useSuspenseQuery(meQuery);
  if (!me || !isOperator(me))
    return (
      <Page title={t.title}>
        <Notice tone="warn">{t.notYours}</Notice>
      </Page>
    );
  return (
    <Page title={title ?? t.title} acts={acts}>
      <FindBox key={query} query={query} />
      <SectionTabs label={t.label} pages={operatorPages} names={t.tabs} />
      {children}
    </Page>
  );
}

function FindBox({ query }: Readonly<{ query: string }>) {
  const t = useOperatorTexts();
  const navigate = useNavigate();
  const [typed, setTyped] = useState(query);
  return (
    <form
      role="search"
      aria-label={t.find.form}
      className={css.row}
      onSubmit={(event) => {
        event.preventDefault();
        const q = typed.trim();
        if (q) void navigate({ to: '/operators/find', search: { q } });
      }}
    >
      <Field
        label={t.find.label}
        hint={t.find.hint}
        type="search"
        maxLength={256}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      <div className={css.ending}>
        <Button type="submit" look="primary">
          {t.find.submit}
        </Button>
      </div>
    </form>
  );
}
