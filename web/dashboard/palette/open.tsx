import { lazy, Suspense, useEffect, useState } from 'react';
import type { Me } from '../api/queries';
import { Button } from '../design/button';
import { useTexts } from '../texts/texts';

const Palette = lazy(() => import('./palette').then((module) => ({ default: module.Palette })));

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The page opens its form for a payment. */
    creates?: boolean;
  }
}

/** The button of the command palette, and its keys: Ctrl+K, or Command+K. Not over another dialog. */
export function PaletteButton({ me }: Readonly<{ me: Me }>) {
  const t = useTexts();
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      if (!document.querySelector('dialog[open]')) setOpen(true);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
  return (
    <>
      <Button look="link" onClick={() => setOpen(true)}>
        {t.nav.palette}
      </Button>
      {isOpen && (
        <Suspense>
          <Palette me={me} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
