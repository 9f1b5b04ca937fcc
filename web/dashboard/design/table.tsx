import { useLayoutEffect, useRef, type ReactNode } from 'react';
import { useTexts } from '../texts/texts';
import css from './design.module.css';

/** A column by its name; an amount's ends at its right edge, a hidden name is read aloud alone. */
export type Column = Readonly<{ name: string; isAmount?: boolean; isHidden?: boolean }>;

/** Rows below their heads. On a narrow screen each cell stands beside the name of its column. What is wider all the same
 *  scrolls by itself, with the keyboard too. */
export function Table(props: Readonly<{ label: string; columns: readonly Column[]; children: ReactNode }>) {
  const { label, columns, children } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  useLayoutEffect(() => {
    for (const { cells } of body.current?.rows ?? [])
      for (const [index, { name, isHidden }] of columns.entries()) {
        const cell = cells[index];
        if (cell) cell.dataset['column'] = isHidden ? '' : name;
      }
  });
  return (
    <div className={css.scroll} role="group" aria-label={label} tabIndex={0}>
      <table className={css.table}>
        <thead>
          <tr>
            {columns.map(({ name, isAmount, isHidden }) => (
              <th key={name} scope="col" className={isAmount ? css.end : undefined}>
                {isHidden ? <span className={css.hidden}>{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>{children}</tbody>
      </table>
    </div>
  );
}

/** The way through a list by pages; `link` makes the link to one of them. */
export function Pages(
  props: Readonly<{ page: number; total: number; perPage: number; link: (page: number, text: string) => ReactNode }>,
) {
  const { page, total, perPage, link } = props;
  const t = useTexts();
  const last = Math.max(1, Math.ceil(total / perPage));
  if (last === 1) return null;
  return (
    <nav className={`${css.row} ${css.between}`} aria-label={t.payments.pages}>
      {page > 1 ? link(page - 1, t.payments.newer) : <span />}
      <span>{t.payments.pageOf(page, last)}</span>
      {page < last ? link(page + 1, t.payments.older) : <span />}
    </nav>
  );
}
