import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useForm, type UseFormRegisterReturn } from 'react-hook-form';
import { client, payload } from '../api/client';
import { useAct } from '../design/act';
import { Button, ButtonLink } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice } from '../design/feedback';
import { Choice, Field } from '../design/field';
import { useTexts } from '../texts/texts';
import { GuestPage } from './guest-page';
import { isStrong } from './password-rule';
import { VerifyEmail } from './verify-email';

type Form = {
  email: string;
  password: string;
  displayName: string;
  merchantName: string;
  acceptedTerms: boolean;
  inviteCode: string;
};
const fiats = ['USD', 'EUR', 'GBP', 'JPY'] as const;

/** A merchant and its first admin. */
export function RegisterPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const [mailed, setMailed] = useState<string | null>(null);
  const [fiat, setFiat] = useState<(typeof fiats)[number]>('USD');
  const { register, handleSubmit, formState } = useForm<Form>();
  const { errors } = formState;
  const act = useAct(async ({ displayName, merchantName, inviteCode, ...form }: Form) => {
    const answer = await payload(
      client.POST('/api/v1/auth/register', {
        body: {
          ...form,
          acceptedTerms: true,
          displayCurrency: fiat,
          ...(displayName.trim() ? { displayName } : {}),
          ...(merchantName.trim() ? { merchantName } : {}),
          ...(inviteCode.trim() ? { inviteCode: inviteCode.trim() } : {}),
        },
      }),
    );
    setMailed(answer.email);
  });
  if (mailed)
    return (
      <GuestPage title={t.register.title}>
        <VerifyEmail
          email={mailed}
          isMailed
          onDone={() => void navigate({ to: '/sign-in', state: { email: mailed, notice: 'verified' } })}
        />
      </GuestPage>
    );
  return (
    <GuestPage title={t.register.title}>
      <form className={css.stack} noValidate onSubmit={handleSubmit((form) => act.run(form))}>
        <ErrorNotice error={act.error} />
        <Field label={t.register.merchant} autoComplete="organization" maxLength={100} {...register('merchantName')} />
        <Field label={t.register.name} autoComplete="name" maxLength={100} {...register('displayName')} />
        <Field
          label={t.signIn.email}
          type="email"
          autoComplete="username"
          error={errors.email && t.register.emailWrong}
          {...register('email', { required: true, pattern: /^[^\s@]+@[^\s@]+\.[^\s@]+$/ })}
        />
        <Field
          label={t.signIn.password}
          type="password"
          autoComplete="new-password"
          hint={t.register.passwordHint}
          error={errors.password && t.register.passwordWeak}
          {...register('password', { validate: isStrong })}
        />
        <Choice label={t.register.currency} value={fiat} options={fiats.map((one) => [one, one])} onChange={setFiat} />
        <Field
          label={t.register.inviteCode}
          hint={t.register.inviteCodeHint}
          autoComplete="off"
          maxLength={60}
          {...register('inviteCode')}
        />
        <Terms isMissing={errors.acceptedTerms !== undefined} {...register('acceptedTerms', { required: true })} />
        <Button type="submit" look="primary" busy={act.isBusy}>
          {t.register.submit}
        </Button>
        <ButtonLink look="link" to="/sign-in">
          {t.register.have}
        </ButtonLink>
      </form>
    </GuestPage>
  );
}

/** Consent, without which there is no account. */
function Terms({ isMissing, ...input }: Readonly<{ isMissing: boolean }> & UseFormRegisterReturn) {
  const t = useTexts().register;
  return (
    <label className={css.check}>
      <input type="checkbox" {...input} />
      <span>
        {t.terms}
        {isMissing && (
          <span role="alert" className={css.error}>
            {' '}
            {t.termsNeeded}
          </span>
        )}
      </span>
    </label>
  );
}
