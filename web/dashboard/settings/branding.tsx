import { useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { accentColorPattern, logoBytes } from '../../../domain/branding/bounds';
import { client, payload } from '../api/client';
import { apiUrl } from '../api/places';
import type { Me } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import { ConfirmDialog } from '../design/confirm';
import css from '../design/design.module.css';
import { ErrorNotice, useToast } from '../design/feedback';
import { Field } from '../design/field';
import { useTexts } from '../texts/texts';
import { keepBranding, type Branding } from './data';
import { SubjectForm, useSubject } from './subject';
import { useSettingTexts } from './texts/use';

type Props = Readonly<{ branding: Branding; me: Me }>;

const isEmail = (typed: string): boolean => typed.trim() === '' || /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(typed.trim());
const isLink = (typed: string): boolean => typed.trim() === '' || /^https:\/\/[^\s/]/i.test(typed.trim());
const isColor = (typed: string): boolean => new RegExp(accentColorPattern).test(typed.trim());

const contactOf = ({ supportEmail, supportUrl, termsUrl, accentColor }: Branding) => ({
  supportEmail: supportEmail ?? '',
  supportUrl: supportUrl ?? '',
  termsUrl: termsUrl ?? '',
  accentColor: accentColor ?? '',
});

/** Whom payers ask, and the colour of the page that they see. */
export function Contact({ branding, me }: Props) {
  const words = useSettingTexts().branding;
  const subject = useSubject({
    data: branding,
    valuesOf: contactOf,
    save: (changed) => {
      const body = Object.fromEntries(Object.entries(changed).map(([name, typed]) => [name, typed.trim()]));
      return payload(client.PATCH('/api/v1/settings/branding', { body }));
    },
    keep: keepBranding,
  });
  const { register, formState } = subject.form;
  const { errors } = formState;
  const link = (name: 'supportUrl' | 'termsUrl', label: string) => (
    <Field
      label={label}
      hint={words.linkHint}
      type="url"
      maxLength={2048}
      error={errors[name]?.message}
      {...register(name, { validate: (typed) => isLink(typed) || words.linkWrong })}
    />
  );
  return (
    <SubjectForm id="branding" title={words.title} me={me} subject={subject}>
      <p className={css.soft}>{words.why}</p>
      <Field
        label={words.email}
        hint={words.emailHint}
        type="email"
        maxLength={254}
        error={errors.supportEmail?.message}
        {...register('supportEmail', { validate: (typed) => isEmail(typed) || words.emailWrong })}
      />
      {link('supportUrl', words.support)}
      {link('termsUrl', words.terms)}
      <Field
        label={words.color}
        hint={words.colorHint}
        isCode
        maxLength={7}
        autoComplete="off"
        error={errors.accentColor?.message}
        {...register('accentColor', { validate: (typed) => isColor(typed) || words.colorWrong })}
      />
    </SubjectForm>
  );
}

/** A file in base64, without the prefix of its address. */
const base64Of = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(new Error('The file cannot be read'));
    reader.readAsDataURL(file);
  });

/** The picture that payers see. */
export function Logo({ branding, me }: Props) {
  const t = useTexts();
  const words = useSettingTexts().logo;
  const toast = useToast();
  const [file, setFile] = useState<File | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const act = useAct(async () => {
    const image = await base64Of(file!);
    keepBranding(await payload(client.POST('/api/v1/settings/branding/logo', { body: { image } })));
    setFile(null);
    toast(t.saved);
  });
  const remove = async (): Promise<boolean> => {
    keepBranding(await payload(client.DELETE('/api/v1/settings/branding/logo')));
    toast(words.removed);
    return true;
  };
  const missing = mayCall(me, access.setLogo.may) ? undefined : t.needs('settings:manage');
  const isTooLarge = file !== null && file.size > logoBytes;
  return (
    <section className={css.card} aria-labelledby="logo">
      <h2 id="logo">{words.title}</h2>
      <p className={css.soft}>{words.why}</p>
      {branding.logoUrl ? (
        <img className={css.logo} src={`${apiUrl}${branding.logoUrl}`} alt={words.current} />
      ) : (
        <p>{words.none}</p>
      )}
      <form
        className={css.stack}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!missing && file && !isTooLarge) void act.run();
        }}
      >
        <ErrorNotice error={act.error} />
        <Field
          key={branding.logoUrl}
          label={words.file}
          type="file"
          accept="image/png,image/svg+xml"
          error={isTooLarge ? words.tooLarge : undefined}
          onChange={(event) => setFile(event.target.files?.[0] ?? null)}
        />
        <div className={css.row}>
          <Button
            type="submit"
            look="primary"
            busy={act.isBusy}
            reason={missing ?? (file ? (isTooLarge ? words.tooLarge : undefined) : words.choose)}
          >
            {words.set}
          </Button>
          {branding.logoUrl && (
            <Button reason={missing} onClick={() => setRemoving(true)}>
              {words.remove}
            </Button>
          )}
        </div>
      </form>
      {isRemoving && (
        <ConfirmDialog
          title={words.remove}
          sure={words.removeSure}
          look="danger"
          act={remove}
          onEnd={() => setRemoving(false)}
        />
      )}
    </section>
  );
}
