import { useEffect, type ReactNode } from 'react';
import css from '../design/design.module.css';
import { useTexts } from '../texts/texts';

/** A page for signed-in people: its title, what one can do with all of it, and its parts. */
export function Page({ title, acts, children }: Readonly<{ title: string; acts?: ReactNode; children: ReactNode }>) {
  const t = useTexts();
  useEffect(() => {
    document.title = `${title} · ${t.product}`;
  }, [title, t]);
  return (
    <div className={css.stack}>
      <div className={`${css.row} ${css.between}`}>
        <h1 className={css.anywhere}>{title}</h1>
        {acts && <div className={css.row}>{acts}</div>}
      </div>
      {children}
    </div>
  );
}
