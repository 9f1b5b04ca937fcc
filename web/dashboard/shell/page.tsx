import { useEffect, type ReactNode } from 'react';
import { unturned } from '../../../domain/text';
import css from '../design/design.module.css';
import { useTexts } from '../texts/texts';

/** A page for signed-in people: its title, what one can do with all of it, and its parts. A name in the title does not
 *  turn around the words beside it. */
export function Page(props: Readonly<{ title: string; acts?: ReactNode; children: ReactNode }>) {
  const { acts, children } = props;
  const title = unturned(props.title);
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
