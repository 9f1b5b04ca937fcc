import type { ReactNode } from 'react';
import { useTexts } from '../texts/texts';
import { useAct } from './act';
import { Button } from './button';
import css from './design.module.css';
import { Dialog } from './dialog';
import { ErrorNotice, Notice } from './feedback';

/** An act that is done only after a second look. `act` resolves to false where the person changed their mind on the
 *  way: then the dialog stays, as after a refusal. */
export function ConfirmDialog(
  props: Readonly<{
    title: string;
    sure: ReactNode;
    submit?: string;
    look?: 'primary' | 'danger';
    act: () => Promise<boolean>;
    onEnd: () => void;
    children?: ReactNode;
  }>,
) {
  const { title, sure, submit = title, look = 'primary', onEnd, children } = props;
  const t = useTexts();
  const act = useAct(async () => {
    if (await props.act()) onEnd();
  });
  return (
    <Dialog title={title} onClose={() => !act.isBusy && onEnd()}>
      <form
        className={css.stack}
        onSubmit={(event) => {
          event.preventDefault();
          void act.run();
        }}
      >
        <Notice tone="warn">{sure}</Notice>
        <ErrorNotice error={act.error} />
        {children}
        <div className={css.row}>
          <Button type="submit" look={look} busy={act.isBusy}>
            {submit}
          </Button>
          <Button onClick={() => !act.isBusy && onEnd()}>{t.back}</Button>
        </div>
      </form>
    </Dialog>
  );
}
