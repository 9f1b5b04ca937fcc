import { useState, type ReactNode } from 'react';
import { useTexts } from '../texts/texts';
import { Button } from './button';
import css from './design.module.css';
import { Dialog } from './dialog';
import { Notice } from './feedback';
import { Copy } from './show';

/** A secret that is shown this once: its reader says that it is kept before it goes. */
export function SecretOnce(
  props: Readonly<{
    title: string;
    label: string;
    secret: string;
    /** What to do with it, where it is no secret of the reader's server. */
    why?: string;
    children?: ReactNode;
    onDone: () => void;
  }>,
) {
  const { title, label, secret, why, children, onDone } = props;
  const t = useTexts();
  const [isKept, setKept] = useState(false);
  return (
    <Dialog title={title} onClose={() => undefined}>
      <Notice tone="warn">{why ?? t.once.why}</Notice>
      <Copy value={secret} label={label} />
      {children}
      <label className={css.check}>
        <input type="checkbox" checked={isKept} onChange={(event) => setKept(event.target.checked)} />
        {t.once.kept}
      </label>
      <div>
        <Button look="primary" reason={isKept ? undefined : t.once.keepFirst} onClick={onDone}>
          {t.goOn}
        </Button>
      </div>
    </Dialog>
  );
}
