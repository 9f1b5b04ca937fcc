import type { ReactNode } from 'react';
import { useTexts } from '../texts/texts';
import { Button } from './button';
import css from './design.module.css';
import { Dialog } from './dialog';
import { ErrorNotice } from './feedback';

type Act = Readonly<{ run: () => Promise<void>; isBusy: boolean; error: unknown }>;

/** A question in a dialog: what is asked, the act that answers it, and a way out. It stays open on a refusal. */
export function FormDialog(
  props: Readonly<{
    title: string;
    submit: string;
    act: Act;
    onEnd: () => void;
    children: ReactNode;
    isDanger?: boolean;
    /** Why the act cannot be done yet. */
    reason?: string | undefined;
  }>,
) {
  const { title, submit, act, onEnd, children, isDanger = false, reason } = props;
  const t = useTexts();
  const leave = (): void => {
    if (!act.isBusy) onEnd();
  };
  return (
    <Dialog title={title} onClose={leave}>
      <form
        className={css.stack}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (reason === undefined) void act.run();
        }}
      >
        {children}
        <ErrorNotice error={act.error} />
        <div className={css.row}>
          <Button type="submit" look={isDanger ? 'danger' : 'primary'} busy={act.isBusy} reason={reason}>
            {submit}
          </Button>
          <Button onClick={leave}>{t.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
