import { useState } from 'react';
import { client, payload } from '../api/client';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, Notice } from '../design/feedback';
import { Field } from '../design/field';
import { useTexts } from '../texts/texts';

/** The code that was mailed after a registration. `isMailed`: one has just been sent. */
export function VerifyEmail(props: Readonly<{ email: string; isMailed: boolean; onDone: () => void }>) {
  const { email, onDone } = props;
  const t = useTexts();
  const [code, setCode] = useState('');
  const [isSent, setSent] = useState(props.isMailed);
  const clean = code.replaceAll(/\s/g, '');
  const isComplete = /^\d{6}$/.test(clean);
  const act = useAct(async () => {
    await payload(client.POST('/api/v1/auth/verify-email', { body: { email, code: clean } }));
    onDone();
  });
  const sending = useAct(async () => {
    await payload(client.POST('/api/v1/auth/resend-verification', { body: { email } }));
    setSent(true);
  });
  return (
    <form
      className={css.stack}
      onSubmit={(event) => {
        event.preventDefault();
        if (isComplete) void act.run();
      }}
    >
      <h2>{t.verify.title}</h2>
      <p>{isSent ? t.verify.sent(email) : t.verify.needed(email)}</p>
      <ErrorNotice error={act.error ?? sending.error} />
      {isSent && !props.isMailed && <Notice tone="good">{t.verify.again}</Notice>}
      <Field
        label={t.verify.code}
        value={code}
        onChange={(event) => setCode(event.target.value)}
        inputMode="numeric"
        autoComplete="one-time-code"
        isCode
      />
      <Button type="submit" look="primary" busy={act.isBusy} reason={isComplete ? undefined : t.stepUp.sixDigits}>
        {t.verify.submit}
      </Button>
      <Button look="link" busy={sending.isBusy} onClick={() => void sending.run()}>
        {t.verify.resend}
      </Button>
    </form>
  );
}
