import { Link, type LinkProps } from '@tanstack/react-router';
import { useId, type ReactNode } from 'react';
import css from './design.module.css';

type Look = 'plain' | 'primary' | 'danger' | 'link';
const looks: Readonly<Record<Look, string | undefined>> = {
  plain: '',
  primary: css.primary,
  danger: css.danger,
  link: css.link,
};

/** A button that says why it does nothing: `reason` where it may not be used, `busy` while its act is under way. It
 *  keeps its focus. */
export function Button(
  props: Readonly<{
    children: ReactNode;
    look?: Look;
    type?: 'button' | 'submit';
    busy?: boolean;
    reason?: string | undefined;
    onClick?: () => void;
    pressed?: boolean;
    label?: string;
  }>,
) {
  const { children, look = 'plain', type = 'button', busy = false, reason, onClick, pressed, label } = props;
  const isIdle = busy || reason !== undefined;
  const id = useId();
  return (
    <>
      <button
        type={type}
        className={`${css.button} ${looks[look]}`}
        aria-disabled={isIdle || undefined}
        aria-busy={busy || undefined}
        aria-pressed={pressed}
        aria-label={label}
        aria-describedby={reason === undefined ? undefined : id}
        title={reason}
        onClick={(event) => {
          if (isIdle) event.preventDefault();
          else onClick?.();
        }}
      >
        {children}
      </button>
      {reason !== undefined && (
        <span id={id} className={css.hidden}>
          {reason}
        </span>
      )}
    </>
  );
}

/** A link to another page that looks like a button. */
export function ButtonLink({ look = 'plain', ...props }: LinkProps & { look?: Look; children: ReactNode }) {
  return <Link {...props} className={`${css.button} ${looks[look]}`} />;
}
