import { useLocation, useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useForm } from 'react-hook-form';
import { unturned } from '../../../domain/text';
import { client, payload } from '../api/client';
import { isSandbox } from '../api/places';
import { meQuery, queryClient } from '../api/queries';
import { useAct } from '../design/act';
import { Button, ButtonLink } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, Notice, Skeleton } from '../design/feedback';
import { Field } from '../design/field';
import { useTexts } from '../texts/texts';
import { demoOf, demoSecrets } from './demo';
import { Enrol } from './enrol';
import { GuestPage } from './guest-page';
import { useLinkSecrets } from './link-secrets';
import { pageAfter } from './page-after';
import { isStrong } from './password-rule';
import { SignIn } from './sign-in';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Given by one page to the next, and never in the address. */
    email?: string;
    notice?: 'verified' | 'reset';
  }
}

export function SignInPage() {
  const t = useTexts();
  const router = useRouter();
  const { state } = useLocation();
  const { next } = useSearch({ from: '/sign-in' });
  const given = useLinkSecrets(demoSecrets);
  const demo = isSandbox ? demoOf(given) : null;
  const notice = state.notice && { verified: t.signIn.verified, reset: t.signIn.reset }[state.notice];
  const done = async (): Promise<void> => {
    queryClient.clear();
    await queryClient.fetchQuery(meQuery);
    await router.navigate({ href: pageAfter(next) });
  };
  return (
    <GuestPage title={t.signIn.title}>
      <SignIn onDone={done} email={state.email ?? ''} {...(notice ? { notice } : {})} demo={demo} />
    </GuestPage>
  );
}

export function ForgotPasswordPage() {
  const t = useTexts();
  const [mailed, setMailed] = useState<string | null>(null);
  const { register, handleSubmit, formState } = useForm<{ email: string }>();
  const act = useAct(async ({ email }: { email: string }) => {
    await payload(client.POST('/api/v1/auth/forgot-password', { body: { email } }));
    setMailed(email);
  });
  return (
    <GuestPage title={t.forgot.title}>
      {mailed ? (
        <Notice tone="good">{t.forgot.sent(mailed)}</Notice>
      ) : (
        <form className={css.stack} noValidate onSubmit={handleSubmit((form) => act.run(form))}>
          <p>{t.forgot.why}</p>
          <ErrorNotice error={act.error} />
          <Field
            label={t.signIn.email}
            type="email"
            autoComplete="username"
            error={formState.errors.email && t.required}
            {...register('email', { required: true })}
          />
          <Button type="submit" look="primary" busy={act.isBusy}>
            {t.forgot.submit}
          </Button>
        </form>
      )}
      <ButtonLink look="link" to="/sign-in">
        {t.backToSignIn}
      </ButtonLink>
    </GuestPage>
  );
}

const resetSecrets = ['email', 'token'] as const;

export function ResetPasswordPage() {
  const { email, token } = useLinkSecrets(resetSecrets);
  return <ResetPassword key={token} email={email} token={token} />;
}

function ResetPassword({ email, token }: Readonly<Record<(typeof resetSecrets)[number], string>>) {
  const t = useTexts();
  const navigate = useNavigate();
  const { register, handleSubmit, formState } = useForm<{ newPassword: string }>();
  const act = useAct(async ({ newPassword }: { newPassword: string }) => {
    await payload(client.POST('/api/v1/auth/reset-password', { body: { email, token, newPassword } }));
    await navigate({ to: '/sign-in', state: { email, notice: 'reset' } });
  });
  return (
    <GuestPage title={t.reset.title}>
      {token ? (
        <form className={css.stack} noValidate onSubmit={handleSubmit((form) => act.run(form))}>
          <ErrorNotice error={act.error} />
          <Field label={t.signIn.email} type="email" autoComplete="username" value={email} readOnly />
          <Field
            label={t.reset.newPassword}
            type="password"
            autoComplete="new-password"
            hint={t.register.passwordHint}
            error={formState.errors.newPassword && t.register.passwordWeak}
            {...register('newPassword', { validate: isStrong })}
          />
          <Button type="submit" look="primary" busy={act.isBusy}>
            {t.reset.submit}
          </Button>
        </form>
      ) : (
        <Notice tone="bad">{t.reset.noLink}</Notice>
      )}
      <ButtonLink look="link" to="/forgot-password">
        {t.reset.another}
      </ButtonLink>
    </GuestPage>
  );
}

const invitationSecrets = ['token'] as const;

export function AcceptInvitationPage() {
  const { token } = useLinkSecrets(invitationSecrets);
  return <AcceptInvitation key={token} token={token} />;
}

/** From a mailed invitation to a session of its own. */
function AcceptInvitation({ token }: Readonly<{ token: string }>) {
  const t = useTexts();
  const [invitation, setInvitation] = useState<Awaited<ReturnType<typeof lookUp>> | null>(null);
  const [setupToken, setSetupToken] = useState<string | null>(null);
  const { register, handleSubmit, formState } = useForm<{ displayName: string; password: string }>();
  const navigate = useNavigate();
  const look = useAct(async () => setInvitation(await lookUp(token)));
  const { run } = look;
  useEffect(() => {
    if (token) void run();
  }, [token]);
  const act = useAct(async (form: { displayName: string; password: string }) => {
    const answer = await payload(client.POST('/api/v1/team-invitations/accept', { body: { token, ...form } }));
    setSetupToken(answer.setupToken);
  });
  const done = async (): Promise<void> => {
    queryClient.clear();
    await queryClient.fetchQuery(meQuery);
    await navigate({ to: '/' });
  };
  if (setupToken)
    return (
      <GuestPage title={t.invitation.title}>
        <Enrol setupToken={setupToken} onDone={done} onExpired={() => void navigate({ to: '/sign-in' })} />
      </GuestPage>
    );
  return (
    <GuestPage title={t.invitation.title}>
      {!token && <Notice tone="bad">{t.invitation.noLink}</Notice>}
      <ErrorNotice error={look.error} />
      {look.isBusy && <Skeleton />}
      {invitation?.existingUser && <Notice tone="warn">{t.invitation.haveAccount}</Notice>}
      {invitation && !invitation.existingUser && (
        <form className={css.stack} noValidate onSubmit={handleSubmit((form) => act.run(form))}>
          <p>{t.invitation.why(unturned(invitation.merchantName), invitation.email)}</p>
          <ErrorNotice error={act.error} />
          <Field
            label={t.register.name}
            autoComplete="name"
            error={formState.errors.displayName && t.required}
            {...register('displayName', { required: true, maxLength: 100 })}
          />
          <Field
            label={t.reset.newPassword}
            type="password"
            autoComplete="new-password"
            hint={t.register.passwordHint}
            error={formState.errors.password && t.register.passwordWeak}
            {...register('password', { validate: isStrong })}
          />
          <Button type="submit" look="primary" busy={act.isBusy}>
            {t.invitation.submit}
          </Button>
        </form>
      )}
    </GuestPage>
  );
}

const lookUp = (token: string) => payload(client.POST('/api/v1/team-invitations/lookup', { body: { token } }));
