import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { client, payload } from '../api/client';
import { useAct } from '../design/act';
import { Button, ButtonLink } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, Notice } from '../design/feedback';
import { Field } from '../design/field';
import { answerPasskey, canUsePasskeys, PasskeyDeclined } from '../step-up/passkeys';
import { useTexts } from '../texts/texts';
import type { Demo } from './demo';
import { Enrol } from './enrol';
import { SecondStep } from './second-step';
import { VerifyEmail } from './verify-email';

type Step =
  | Readonly<{ at: 'password' }>
  | Readonly<{ at: 'second'; totpToken: string; methods: readonly string[] }>
  | Readonly<{ at: 'enrol'; setupToken: string }>
  | Readonly<{ at: 'verify'; email: string }>;

/** From a password or a passkey to a session: what comes next is what the API says. Its tokens live in this component
 *  alone. */
export function SignIn(
  props: Readonly<{
    onDone: () => void | Promise<void>;
    email?: string;
    notice?: string;
    demo?: Demo | null;
    isInPlace?: boolean;
  }>,
) {
  const { onDone, email = '', notice, demo, isInPlace = false } = props;
  const [step, setStep] = useState<Step>({ at: 'password' });
  const [said, setSaid] = useState(notice);
  const t = useTexts();
  const again = (text?: string): void => {
    setSaid(text);
    setStep({ at: 'password' });
  };
  if (step.at === 'second')
    return <SecondStep {...step} demo={demo ?? null} onDone={onDone} onExpired={() => again(t.signIn.expired)} />;
  if (step.at === 'enrol')
    return <Enrol setupToken={step.setupToken} onDone={onDone} onExpired={() => again(t.signIn.expired)} />;
  if (step.at === 'verify')
    return <VerifyEmail email={step.email} isMailed={false} onDone={() => again(t.signIn.verified)} />;
  const from = { email: demo?.email ?? email, demo: demo ?? null, notice: said, isInPlace };
  return <Password {...from} onStep={setStep} onDone={onDone} />;
}

type PasswordForm = { email: string; password: string };

function Password(
  props: Readonly<{
    email: string;
    demo: Demo | null;
    notice: string | undefined;
    isInPlace: boolean;
    onStep: (step: Step) => void;
    onDone: () => void | Promise<void>;
  }>,
) {
  const { email, demo, notice, isInPlace, onStep, onDone } = props;
  const t = useTexts();
  const { register, handleSubmit, formState } = useForm<PasswordForm>({
    values: { email, password: demo?.password ?? '' },
  });
  const act = useAct(async (form: PasswordForm) => {
    const next = await payload(client.POST('/api/v1/auth/login', { body: form }));
    if (next.totpToken) onStep({ at: 'second', totpToken: next.totpToken, methods: next.methods ?? [] });
    else if (next.setupToken) onStep({ at: 'enrol', setupToken: next.setupToken });
    else onStep({ at: 'verify', email: next.email ?? form.email });
  });
  const passkey = useAct(async () => {
    const challenge = await payload(client.POST('/api/v1/auth/passkey/login-options', { body: {} }));
    const answer = await answerPasskey(challenge);
    await payload(client.POST('/api/v1/auth/passkey/login-verify', { body: answer }));
    await onDone();
  });
  return (
    <div className={css.stack}>
      {notice && <Notice tone="good">{notice}</Notice>}
      {demo && <Notice>{t.signIn.demo}</Notice>}
      <form className={css.stack} noValidate onSubmit={handleSubmit((form) => act.run(form))}>
        <ErrorNotice error={act.error} />
        <Field
          label={t.signIn.email}
          type="email"
          autoComplete="username"
          error={formState.errors.email && t.required}
          {...register('email', { required: true })}
        />
        <Field
          label={t.signIn.password}
          type="password"
          autoComplete="current-password"
          error={formState.errors.password && t.required}
          {...register('password', { required: true })}
        />
        <Button type="submit" look="primary" busy={act.isBusy}>
          {t.signIn.submit}
        </Button>
      </form>
      {canUsePasskeys() && (
        <>
          {passkey.error instanceof PasskeyDeclined ? (
            <Notice tone="warn">{t.stepUp.declined}</Notice>
          ) : (
            <ErrorNotice error={passkey.error} />
          )}
          <Button busy={passkey.isBusy} onClick={() => void passkey.run()}>
            {t.signIn.passkey}
          </Button>
        </>
      )}
      {!isInPlace && (
        <div className={`${css.row} ${css.between}`}>
          <ButtonLink look="link" to="/forgot-password">
            {t.signIn.forgot}
          </ButtonLink>
          <ButtonLink look="link" to="/register">
            {t.signIn.register}
          </ButtonLink>
        </div>
      )}
    </div>
  );
}
