import { useEffect, useRef, useState, type ReactNode } from 'react';
import css from './design.module.css';

/** Choices behind a button. Opens and closes by it, and closes by Escape and by going elsewhere. */
export function Menu({ name, children }: Readonly<{ name: string; children: ReactNode }>) {
  const menu = useRef<HTMLDetailsElement>(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (!isOpen) return undefined;
    const leave = (event: Event): void => {
      if (!menu.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', leave);
    document.addEventListener('focusin', leave);
    return () => {
      document.removeEventListener('pointerdown', leave);
      document.removeEventListener('focusin', leave);
    };
  }, [isOpen]);
  return (
    <details
      ref={menu}
      className={css.menu}
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return;
        setOpen(false);
        menu.current?.querySelector('summary')?.focus();
      }}
    >
      <summary>{name}</summary>
      {isOpen && <div className={css.choices}>{children}</div>}
    </details>
  );
}
