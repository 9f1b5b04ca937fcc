import { useId, useLayoutEffect, useRef, type ReactNode } from 'react';
import { unturned } from '../../../domain/text';
import css from './design.module.css';

/** The browser's own dialog: it keeps the focus, closes on Escape and locks what is behind it without a style of its
 *  own. It is closed while it is on the page yet: only then the focus goes back to where it was. A name in its title
 *  does not turn around the words beside it. */
export function Dialog({
  title,
  onClose,
  children,
}: Readonly<{ title: string; onClose: () => void; children: ReactNode }>) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const shown = dialog.current!;
    if (!shown.open) shown.showModal();
    return () => shown.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className={css.dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div className={css.stack}>
        <h2 id={id}>{unturned(title)}</h2>
        {children}
      </div>
    </dialog>
  );
}
