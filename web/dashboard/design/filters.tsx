import { useEffect, useState, type ReactNode } from 'react';
import { useTexts } from '../texts/texts';
import { Button } from './button';
import css from './design.module.css';

const wide = window.matchMedia('(min-width: 60rem)');

/** The filters of a list, those that are typed with a button that finds: folded away on narrow screens, so that the list is what one sees. */
export function Filters(
  props: Readonly<{ isSet: boolean; onFind?: () => void; onClear: () => void; children: ReactNode }>,
) {
  const { isSet, onFind, onClear, children } = props;
  const t = useTexts();
  const [isOpen, setOpen] = useState(wide.matches);
  useEffect(() => {
    const follow = (): void => setOpen(wide.matches);
    wide.addEventListener('change', follow);
    return () => wide.removeEventListener('change', follow);
  }, []);
  return (
    <details className={css.stack} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t.payments.filters}</summary>
      <form
        className={css.grid}
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          onFind?.();
        }}
      >
        {children}
        <div className={`${css.row} ${css.ending}`}>
          {onFind && <Button type="submit">{t.payments.find}</Button>}
          {isSet && (
            <Button look="link" onClick={onClear}>
              {t.payments.clear}
            </Button>
          )}
        </div>
      </form>
    </details>
  );
}
