import { useSuspenseQuery } from '@tanstack/react-query';
import { useForm } from 'react-hook-form';
import { client, payload } from '../api/client';
import { meQuery, queryClient } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, useToast } from '../design/feedback';
import { Choice, Field } from '../design/field';
import { Page } from '../shell/page';
import { useStepUp } from '../step-up/step-up';
import { languageNames, languages, themes, usePreferences, useTexts, type Preferences } from '../texts/texts';
import { NewBackupCodes } from './new-backup-codes';
import { isStrong } from './password-rule';
import { Passkeys } from './passkeys';
import { Sessions } from './sessions';
import { DisplayCurrency } from './display-currency';

/** What a person sees and changes of their own. */
export function AccountPage() {
  const t = useTexts();
  return (
    <Page title={t.account.title}>
      <div className={css.grid}>
        <Profile />
        <Preferences />
        <DisplayCurrency />
      </div>
      <Passkeys />
      <Sessions />
      <div className={css.grid}>
        <NewBackupCodes />
        <Password />
      </div>
    </Page>
  );
}

function Profile() {
  const t = useTexts();
  const toast = useToast();
  const { data: me } = useSuspenseQuery(meQuery);
  const { register, handleSubmit, formState } = useForm({ values: { displayName: me?.displayName ?? '' } });
  const act = useAct(async (form: { displayName: string }) => {
    await payload(client.PATCH('/api/v1/auth/me', { body: form }));
    await queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
    toast(t.saved);
  });
  return (
    <section className={css.card} aria-labelledby="profile">
      <h2 id="profile">{t.account.profile}</h2>
      <dl className={css.facts}>
        <dt>{t.signIn.email}</dt>
        <dd>{me?.email}</dd>
        {me?.merchantName && (
          <>
            <dt>{t.account.merchant}</dt>
            <dd>{me.merchantName}</dd>
          </>
        )}
        <dt>{t.account.role}</dt>
        <dd>{me && t.roles[me.role]}</dd>
      </dl>
      <form className={css.stack} noValidate onSubmit={handleSubmit((form) => act.run(form))}>
        <ErrorNotice error={act.error} />
        <Field
          label={t.register.name}
          autoComplete="name"
          maxLength={100}
          error={formState.errors.displayName && t.required}
          {...register('displayName', { required: true })}
        />
        <div>
          <Button type="submit" busy={act.isBusy}>
            {t.save}
          </Button>
        </div>
      </form>
    </section>
  );
}

function Preferences() {
  const { texts: t, language, timeZone, theme, change } = usePreferences();
  const keep = useAct(async (chosen: Partial<Pick<Preferences, 'language' | 'timeZone'>>) => {
    change(chosen);
    queryClient.setQueryData(meQuery.queryKey, await payload(client.PATCH('/api/v1/auth/me', { body: chosen })));
  });
  const zones = [...new Set([timeZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])];
  return (
    <section className={css.card} aria-labelledby="preferences">
      <h2 id="preferences">{t.preferences.title}</h2>
      <ErrorNotice error={keep.error} />
      <Choice
        label={t.preferences.language}
        value={language}
        options={languages.map((one) => [one, languageNames[one]])}
        onChange={(next) => void keep.run({ language: next })}
      />
      <Choice
        label={t.preferences.timeZone}
        value={timeZone}
        options={zones.map((zone) => [zone, zone])}
        onChange={(next) => void keep.run({ timeZone: next })}
      />
      <Choice
        label={t.preferences.theme}
        value={theme}
        options={themes.map((one) => [one, t.preferences.themes[one]])}
        onChange={(next) => change({ theme: next })}
      />
      <p className={css.hint}>{t.preferences.where}</p>
    </section>
  );
}

type PasswordForm = { currentPassword: string; newPassword: string };

function Password() {
  const t = useTexts();
  const toast = useToast();
  const confirm = useStepUp();
  const { data: me } = useSuspenseQuery(meQuery);
  const { register, handleSubmit, formState, reset } = useForm<PasswordForm>();
  const { errors } = formState;
  const act = useAct(async (form: PasswordForm) => {
    const done = await confirm('password', (factor) =>
      payload(client.POST('/api/v1/auth/change-password', { body: { ...form, ...factor } })),
    );
    if (!done) return;
    reset();
    await queryClient.invalidateQueries({ queryKey: ['sessions'] });
    toast(t.password.changed);
  });
  return (
    <section className={css.card} aria-labelledby="password">
      <h2 id="password">{t.password.title}</h2>
      <p className={css.soft}>{t.password.why}</p>
      <form className={css.stack} noValidate onSubmit={handleSubmit((form) => act.run(form))}>
        <ErrorNotice error={act.error} />
        {/* For password managers: whose password it is. */}
        <input type="text" autoComplete="username" value={me?.email ?? ''} readOnly hidden />
        <Field
          label={t.password.current}
          type="password"
          autoComplete="current-password"
          error={errors.currentPassword && t.required}
          {...register('currentPassword', { required: true })}
        />
        <Field
          label={t.reset.newPassword}
          type="password"
          autoComplete="new-password"
          hint={t.register.passwordHint}
          error={errors.newPassword && t.register.passwordWeak}
          {...register('newPassword', { validate: isStrong })}
        />
        <div>
          <Button type="submit" busy={act.isBusy}>
            {t.password.submit}
          </Button>
        </div>
      </form>
    </section>
  );
}
