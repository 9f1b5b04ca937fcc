import { useEffect, type ReactNode } from 'react';
import css from '../design/design.module.css';
import { Choice } from '../design/field';
import { languageNames, languages, usePreferences } from '../texts/texts';
import page from './account.module.css';

/** A page for people without a session. */
export function GuestPage({ title, children }: Readonly<{ title: string; children: ReactNode }>) {
  const { texts: t, language, change } = usePreferences();
  useEffect(() => {
    document.title = `${title} · ${t.product}`;
  }, [title, t]);
  return (
    <main className={page.guest}>
      <div className={`${css.card} ${page.sheet}`}>
        <p className={css.soft}>{t.product}</p>
        <h1>{title}</h1>
        {children}
      </div>
      <div className={page.sheet}>
        <Choice
          label={t.preferences.language}
          value={language}
          options={languages.map((one) => [one, languageNames[one]])}
          onChange={(next) => change({ language: next })}
        />
      </div>
    </main>
  );
}
