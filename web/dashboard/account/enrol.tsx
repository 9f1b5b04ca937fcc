import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client, payload } from '../api/client';
import { ApiError } from '../api/errors';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, Skeleton } from '../design/feedback';
import { Field } from '../design/field';
import { Copy } from '../design/show';
import { useTexts } from '../texts/texts';
import { BackupCodes } from './backup-codes';

/** The first login: an authenticator is enrolled, and its backup codes are shown this once. */
export function Enrol(
  props: Readonly<{ setupToken: string; onDone: () => void | Promise<void>; onExpired: () => void }>,
) {
  const { setupToken, onDone, onExpired } = props;
  const t = useTexts();
  const [code, setCode] = useState('');
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  // The setup token serves once: what it gave is kept while this step is shown.
  const setup = useQuery({
    queryKey: ['2fa-setup', setupToken],
    queryFn: () => payload(client.POST('/api/v1/auth/2fa/setup', { body: { setupToken } })),
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
  });
  const clean = code.replaceAll(/\s/g, '');
  const isComplete = /^\d{6}$/.test(clean);
  const act = useAct(async () => {
    const confirmToken = setup.data!.confirmToken;
    try {
      const user = await payload(client.POST('/api/v1/auth/2fa/verify-setup', { body: { confirmToken, code: clean } }));
      setCodes(user.backupCodes);
    } catch (error) {
      if (!(error instanceof ApiError && error.message === 'Invalid or expired token')) throw error;
      onExpired();
    }
  });
  if (codes) return <BackupCodes codes={codes} onDone={() => void onDone()} />;
  if (setup.isError)
    return (
      <div className={css.stack}>
        <ErrorNotice error={setup.error} />
        <Button onClick={onExpired}>{t.signIn.again}</Button>
      </div>
    );
  if (!setup.data) return <Skeleton />;
  return (
    <form
      className={css.stack}
      onSubmit={(event) => {
        event.preventDefault();
        if (isComplete) void act.run();
      }}
    >
      <h2>{t.enrol.title}</h2>
      <p>{t.enrol.why}</p>
      <img className={css.qr} src={setup.data.qrCode} alt={t.enrol.qr} />
      <div>
        <p className={css.soft}>{t.enrol.manual}</p>
        <Copy value={setup.data.manualKey} label={t.enrol.key} />
      </div>
      <ErrorNotice error={act.error} />
      <Field
        label={t.stepUp.totpCode}
        hint={t.enrol.codeHint}
        value={code}
        onChange={(event) => setCode(event.target.value)}
        inputMode="numeric"
        autoComplete="one-time-code"
        isCode
      />
      <Button type="submit" look="primary" busy={act.isBusy} reason={isComplete ? undefined : t.stepUp.sixDigits}>
        {t.enrol.submit}
      </Button>
    </form>
  );
}
