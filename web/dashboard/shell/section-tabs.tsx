import { Link, type LinkProps } from '@tanstack/react-router';
import css from '../design/design.module.css';

/** The pages of a section, each by its name in the reader's language. `label`: of the whole, for who cannot see it. */
export function SectionTabs<Name extends string>(
  props: Readonly<{
    label: string;
    pages: ReadonlyArray<Readonly<{ to: NonNullable<LinkProps['to']>; name: Name }>>;
    names: Readonly<Record<Name, string>>;
  }>,
) {
  const { label, pages, names } = props;
  /** A page above another one of the section is not open where that one is. */
  const isAbove = (to: string): boolean => pages.some((one) => one.to.startsWith(`${to}/`));
  return (
    <nav aria-label={label}>
      <ul className={css.tabs}>
        {pages.map(({ to, name }) => (
          <li key={to}>
            <Link
              to={to}
              className={css.tab!}
              activeOptions={{ includeSearch: false, exact: isAbove(to) }}
              activeProps={{ 'aria-current': 'page' }}
            >
              {names[name]}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
