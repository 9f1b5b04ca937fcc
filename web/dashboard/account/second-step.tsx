import { useEffect, useState } from 'react';
import { client, payload } from '../api/client';
import { ApiError } from '../api/errors';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, Notice } from '../design/feedback';
import { Field } from '../design/field';
import { answerPasskey, canUsePasskeys, PasskeyDeclined } from '../step-up/passkeys';
import { useTexts } from '../texts/texts';
import { codeNow, type Demo } from './demo';

/** The second step of a login: a passkey, an authenticator's code, or a backup code. */
export function SecondStep(
  props: Readonly<{
    totpToken: string;
    methods: readonly string[];
    demo: Demo | null;
    onDone: () => void | Promise<void>;
    onExpired: () => void;
  }>,
) {
  const { totpToken, methods, demo, onDone, onExpired } = props;
  const secret = demo?.totpSecret;
  const t = useTexts();
  const [isBackup, setBackup] = useState(false);
  const [code, setCode] = useState('');
  useEffect(() => {
    if (secret) void codeNow(secret).then(setCode);
  }, [secret]);
  const guarded = async (act: () => Promise<unknown>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof ApiError && error.message === 'Invalid or expired token')) throw error;
      onExpired();
      return;
    }
    await onDone();
  };
  const clean = code.replaceAll(/\s/g, '');
  const isComplete = isBackup ? /^[0-9a-f]{16}$/i.test(clean) : /^\d{6}$/.test(clean);
  const byCode = useAct(() =>
    guarded(() => payload(client.POST('/api/v1/auth/2fa/validate', { body: { totpToken, code: clean } }))),
  );
  const hasPasskey = methods.includes('passkey') && canUsePasskeys();
  return (
    <div className={css.stack}>
      <p>{isBackup ? t.secondStep.backupWhy : t.secondStep.why}</p>
      {hasPasskey && <ByPasskey totpToken={totpToken} guarded={guarded} />}
      <form
        className={css.stack}
        onSubmit={(event) => {
          event.preventDefault();
          if (isComplete) void byCode.run();
        }}
      >
        <ErrorNotice error={byCode.error} />
        <Field
          key={isBackup ? 'backup' : 'totp'}
          label={isBackup ? t.secondStep.backupCode : t.stepUp.totpCode}
          hint={isBackup ? t.secondStep.backupHint : t.stepUp.totpHint}
          value={code}
          onChange={(event) => setCode(event.target.value)}
          inputMode={isBackup ? 'text' : 'numeric'}
          autoComplete="one-time-code"
          autoFocus
          isCode
        />
        <Button
          type="submit"
          look={hasPasskey ? 'plain' : 'primary'}
          busy={byCode.isBusy}
          reason={isComplete ? undefined : isBackup ? t.secondStep.sixteen : t.stepUp.sixDigits}
        >
          {t.signIn.submit}
        </Button>
      </form>
      <Button
        look="link"
        onClick={() => {
          setCode('');
          byCode.clear();
          setBackup(!isBackup);
        }}
      >
        {isBackup ? t.secondStep.useTotp : t.secondStep.useBackup}
      </Button>
    </div>
  );
}

type Guarded = (act: () => Promise<unknown>) => Promise<void>;

function ByPasskey({ totpToken, guarded }: Readonly<{ totpToken: string; guarded: Guarded }>) {
  const t = useTexts();
  const act = useAct(() =>
    guarded(async () => {
      const challenge = await payload(client.POST('/api/v1/auth/passkey/login-options', { body: {} }));
      const answer = await answerPasskey(challenge);
      await payload(client.POST('/api/v1/auth/2fa/validate-passkey', { body: { totpToken, ...answer } }));
    }),
  );
  return (
    <>
      {act.error instanceof PasskeyDeclined ? (
        <Notice tone="warn">{t.stepUp.declined}</Notice>
      ) : (
        <ErrorNotice error={act.error} />
      )}
      <Button look="primary" busy={act.isBusy} onClick={() => void act.run()}>
        {t.stepUp.usePasskey}
      </Button>
    </>
  );
}
