import { useQuery } from '@tanstack/react-query';
import { createContext, useCallback, useContext, useEffect, useRef, useState, type ReactNode } from 'react';
import { client, payload } from '../api/client';
import { ApiError } from '../api/errors';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Dialog } from '../design/dialog';
import { ErrorNotice, Notice, Skeleton } from '../design/feedback';
import { Field } from '../design/field';
import { useTexts } from '../texts/texts';
import type { FactorAction } from '../../../domain/access/access';
import { answerPasskey, canUsePasskeys, PasskeyDeclined } from './passkeys';

/** The second factor that an act needs, asked for in one place. A wrong code keeps the dialog and the form behind it. */

type Factor = Readonly<{
  totpCode?: string;
  emailCode?: string;
  passkeyResponse?: Record<string, never>;
  challengeKey?: string;
}>;
type Method = 'passkey' | 'totp' | 'email';
type Ask = Readonly<{
  action: FactorAction;
  act: (factor: Factor) => Promise<unknown>;
  done: (result: { value: unknown } | null) => void;
  failed: (error: unknown) => void;
}>;
type Confirm = <T>(action: FactorAction, act: (factor: Factor) => Promise<T>) => Promise<{ value: T } | null>;

const Context = createContext<Confirm | null>(null);

/** Does an act with a factor that the person brings; null where they changed their mind. Throws what the act refuses
 *  for another reason. */
export function useStepUp(): Confirm {
  const confirm = useContext(Context);
  if (!confirm) throw new Error('No StepUpProvider around this component');
  return confirm;
}

export function StepUpProvider({ children }: Readonly<{ children: ReactNode }>) {
  const [ask, setAsk] = useState<Ask | null>(null);
  const confirm: Confirm = useCallback(
    (action, act) =>
      new Promise((resolve, reject) => {
        const end =
          <A,>(settle: (outcome: A) => void) =>
          (outcome: A): void => {
            setAsk(null);
            settle(outcome);
          };
        setAsk({ action, act, done: end(resolve) as Ask['done'], failed: end(reject) });
      }),
    [],
  );
  return (
    <Context value={confirm}>
      {children}
      {ask && <StepUp ask={ask} />}
    </Context>
  );
}

/** What a conversion says of a factor, which it tells in a sentence. */
const conversionSentences = [
  'The OTP or passkey is wrong, used or expired',
  'No authenticator is enrolled for this account',
  'Too many wrong codes; wait',
];
const isAboutFactor = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 'VERIFICATION_FAILED' || conversionSentences.includes(error.message));

function StepUp({ ask }: Readonly<{ ask: Ask }>) {
  const t = useTexts();
  const options = useQuery({
    queryKey: ['mfa-options'],
    queryFn: () => payload(client.GET('/api/v1/auth/mfa-options')),
    // Asked anew each time: a passkey that was just added or removed changes the answer.
    gcTime: 0,
    staleTime: 0,
  });
  const offered = (options.data?.methods ?? []) as Method[];
  const methods = (['passkey', 'totp', 'email'] as const).filter(
    (method) =>
      offered.includes(method) &&
      (method !== 'passkey' || canUsePasskeys()) &&
      (method !== 'email' || ask.action !== 'conversion'), // a conversion takes no mailed code
  );
  const [chosen, setChosen] = useState<Method | null>(null);
  const method = chosen ?? methods[0];
  const attempt = useAct(async (factor: Factor) => {
    try {
      ask.done({ value: await ask.act(factor) });
    } catch (error) {
      if (isAboutFactor(error)) throw error;
      ask.failed(error);
    }
  });
  const wait = useLockout(attempt.error);
  return (
    <Dialog title={t.stepUp.title} onClose={() => !attempt.isBusy && ask.done(null)}>
      <p className={css.soft}>{t.stepUp.why}</p>
      {options.isPending && <Skeleton lines={2} />}
      {options.isError && <ErrorNotice error={options.error} onRetry={() => void options.refetch()} />}
      {wait > 0 ? <Notice tone="bad">{t.stepUp.locked(wait)}</Notice> : <ErrorNotice error={attempt.error} />}
      {method && (
        <>
          {methods.length > 1 && (
            <div className={css.tabs} role="group" aria-label={t.stepUp.method}>
              {methods.map((one) => (
                <button
                  key={one}
                  type="button"
                  className={css.tab}
                  aria-pressed={one === method}
                  onClick={() => setChosen(one)}
                >
                  {t.stepUp.methods[one]}
                </button>
              ))}
            </div>
          )}
          {method === 'passkey' ? (
            <ByPasskey action={ask.action} isWaiting={wait > 0} attempt={attempt} isFirst={chosen === null} />
          ) : (
            <ByCode key={method} method={method} action={ask.action} isWaiting={wait > 0} attempt={attempt} />
          )}
        </>
      )}
      <div>
        <Button look="link" onClick={() => !attempt.isBusy && ask.done(null)}>
          {t.cancel}
        </Button>
      </div>
    </Dialog>
  );
}

/** Seconds until another factor is looked at; counts down. */
function useLockout(error: unknown): number {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    const seconds = error instanceof ApiError && error.status === 429 ? (error.retryAfterSeconds ?? 0) : 0;
    const end = Date.now() + seconds * 1000;
    setLeft(seconds > 1 ? seconds : 0);
    if (seconds <= 1) return undefined;
    const timer = setInterval(() => setLeft(Math.max(0, Math.ceil((end - Date.now()) / 1000))), 1000);
    return () => clearInterval(timer);
  }, [error]);
  return left;
}

type Attempt = Readonly<{ run: (factor: Factor) => Promise<void>; isBusy: boolean }>;
type Way = Readonly<{ action: FactorAction; isWaiting: boolean; attempt: Attempt }>;

function ByPasskey({ action, isWaiting, attempt, isFirst }: Way & Readonly<{ isFirst: boolean }>) {
  const t = useTexts();
  const asking = useAct(async () => {
    const challenge = await payload(client.POST('/api/v1/auth/mfa/passkey-options', { body: { action } }));
    await attempt.run(await answerPasskey(challenge));
  });
  const hasAsked = useRef(false);
  const { run } = asking;
  useEffect(() => {
    if (!isFirst || hasAsked.current) return;
    hasAsked.current = true;
    void run();
  }, [isFirst, run]);
  const isDeclined = asking.error instanceof PasskeyDeclined;
  return (
    <div className={css.stack}>
      {isDeclined ? <Notice tone="warn">{t.stepUp.declined}</Notice> : <ErrorNotice error={asking.error} />}
      <Button
        look="primary"
        busy={asking.isBusy || attempt.isBusy}
        reason={isWaiting ? t.stepUp.isLocked : undefined}
        onClick={() => void asking.run()}
      >
        {t.stepUp.usePasskey}
      </Button>
    </div>
  );
}

function ByCode({ method, action, isWaiting, attempt }: Way & Readonly<{ method: 'totp' | 'email' }>) {
  const t = useTexts();
  const [code, setCode] = useState('');
  const [isSent, setSent] = useState(false);
  const sending = useAct(async () => {
    await payload(client.POST('/api/v1/auth/mfa/send-email-code', { body: { action } }));
    setSent(true);
  });
  const clean = code.replaceAll(/\s/g, '');
  const isComplete = /^\d{6}$/.test(clean);
  return (
    <form
      className={css.stack}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isComplete || isWaiting) return;
        void attempt.run(method === 'totp' ? { totpCode: clean } : { emailCode: clean });
      }}
    >
      {method === 'email' && (
        <>
          <ErrorNotice error={sending.error} />
          {isSent && <Notice tone="good">{t.stepUp.sent}</Notice>}
          <Button busy={sending.isBusy} onClick={() => void sending.run()}>
            {isSent ? t.stepUp.sendAgain : t.stepUp.send}
          </Button>
        </>
      )}
      <Field
        label={method === 'totp' ? t.stepUp.totpCode : t.stepUp.emailCode}
        hint={method === 'totp' ? t.stepUp.totpHint : undefined}
        value={code}
        onChange={(event) => setCode(event.target.value)}
        inputMode="numeric"
        autoComplete="one-time-code"
        autoFocus
        isCode
      />
      <Button
        type="submit"
        look="primary"
        busy={attempt.isBusy}
        reason={isWaiting ? t.stepUp.isLocked : isComplete ? undefined : t.stepUp.sixDigits}
      >
        {t.stepUp.confirm}
      </Button>
    </form>
  );
}
