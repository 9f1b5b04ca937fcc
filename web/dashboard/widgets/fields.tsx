import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import {
  amountModes,
  displayModes,
  donorFieldNames,
  icons,
  layouts,
  sizes,
  widgetTypes,
} from '../../../domain/widgets/widget';
import { currenciesQuery } from '../api/queries';
import { Checks } from '../design/checks';
import css from '../design/design.module.css';
import { Area, Choice, Field } from '../design/field';
import type { Form } from './data';
import { useWidgetTexts } from './texts/use';

type Props = Readonly<{ form: Form; change: (change: Partial<Form>) => void; fiat: string | undefined }>;

/** An input of the form by its name. */
const bind = <Name extends keyof Form>({ form, change }: Props, name: Name) => ({
  value: form[name] as string,
  onChange: (event: { target: { value: string } }) => change({ [name]: event.target.value }),
});

function Part({ title, children }: Readonly<{ title: string; children: ReactNode }>) {
  return (
    <section className={css.card} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

const named = <Name extends string>(names: readonly Name[], words: Readonly<Record<Name, string>>) =>
  names.map((name) => [name, words[name]] as const);

export function WidgetFields(props: Props) {
  return (
    <>
      <Basics {...props} />
      <Amounts {...props} />
      <Look {...props} />
      <Asked {...props} />
      <Places {...props} />
    </>
  );
}

function Basics(props: Props) {
  const { form, change } = props;
  const t = useWidgetTexts();
  return (
    <Part title={t.basics}>
      <Field label={t.name} hint={t.nameHint} maxLength={80} {...bind(props, 'name')} />
      <Choice
        label={t.type}
        value={form.type}
        options={named(widgetTypes, t.types)}
        onChange={(type) => change({ type })}
      />
      <label className={css.check}>
        <input
          type="checkbox"
          checked={form.isActive}
          onChange={(event) => change({ isActive: event.target.checked })}
        />
        {t.isActive}
      </label>
    </Part>
  );
}

function Amounts(props: Props) {
  const { form, change, fiat } = props;
  const t = useWidgetTexts();
  return (
    <Part title={t.amounts}>
      <Choice
        label={t.amountMode}
        value={form.amountMode}
        options={named(amountModes, t.amountModes)}
        onChange={(amountMode) => change({ amountMode })}
      />
      {form.amountMode === 'fixed' ? (
        <Field label={t.fixedAmount(fiat)} inputMode="decimal" maxLength={32} {...bind(props, 'fixedAmount')} />
      ) : (
        <>
          <Area label={t.suggested} hint={t.suggestedHint} {...bind(props, 'suggestedAmounts')} />
          <Field label={t.minAmount} hint={t.noLimit} inputMode="decimal" {...bind(props, 'minAmount')} />
          <Field label={t.maxAmount} hint={t.noLimit} inputMode="decimal" {...bind(props, 'maxAmount')} />
        </>
      )}
      <Currencies {...props} />
    </Part>
  );
}

function Currencies({ form, change }: Props) {
  const t = useWidgetTexts();
  const currencies = useQuery(currenciesQuery);
  return (
    <Checks
      legend={t.currencies}
      hint={t.currenciesHint}
      options={(currencies.data ?? [])
        .filter(({ payin }) => payin)
        .map(({ currency, name, networkName }) => ({ value: currency, text: `${name} (${networkName})` }))}
      chosen={form.allowedCurrencies}
      onChange={(allowedCurrencies) => change({ allowedCurrencies })}
    />
  );
}

function Look(props: Props) {
  const { form, change } = props;
  const t = useWidgetTexts();
  const { branding } = form;
  const set = (next: Partial<Form['branding']>): void => change({ branding: { ...branding, ...next } });
  const as = <Name extends string>(names: readonly Name[]) => names.map((name) => [name, name] as const);
  const isColor = /^(#([0-9a-fA-F]{3}|[0-9a-fA-F]{6}))?$/.test(branding.accentColor);
  return (
    <Part title={t.look}>
      <Field
        label={t.buttonLabel}
        maxLength={40}
        value={branding.buttonLabel}
        onChange={(event) => set({ buttonLabel: event.target.value })}
      />
      <Field
        label={t.subLabel}
        maxLength={48}
        value={branding.subLabel}
        onChange={(event) => set({ subLabel: event.target.value })}
      />
      <Field
        label={t.accentColor}
        hint={t.colorHint}
        maxLength={7}
        isCode
        value={branding.accentColor}
        error={isColor ? undefined : t.colorWrong}
        onChange={(event) => set({ accentColor: event.target.value })}
      />
      <Choice label={t.layout} value={branding.layout} options={as(layouts)} onChange={(layout) => set({ layout })} />
      <Choice label={t.icon} value={branding.icon} options={as(icons)} onChange={(icon) => set({ icon })} />
      <Choice label={t.size} value={branding.size} options={as(sizes)} onChange={(size) => set({ size })} />
      <Field
        label={t.cornerRadius}
        type="number"
        min={0}
        max={32}
        value={branding.cornerRadius}
        onChange={(event) => set({ cornerRadius: Math.min(32, Math.max(0, event.target.valueAsNumber || 0)) })}
      />
      <label className={css.check}>
        <input
          type="checkbox"
          checked={branding.fullWidth}
          onChange={(event) => set({ fullWidth: event.target.checked })}
        />
        {t.fullWidth}
      </label>
    </Part>
  );
}

function Asked({ form, change }: Props) {
  const t = useWidgetTexts();
  const options = donorFieldNames.map((value) => ({ value, text: t.donorFields[value] }));
  return (
    <Part title={t.form}>
      <Checks
        legend={t.asked}
        options={options}
        chosen={form.donorFields}
        onChange={(donorFields) =>
          change({
            donorFields,
            requiredDonorFields: form.requiredDonorFields.filter((field) => donorFields.includes(field)),
          })
        }
      />
      {form.donorFields.length > 0 && (
        <Checks
          legend={t.requiredFields}
          options={options.filter(({ value }) => form.donorFields.includes(value))}
          chosen={form.requiredDonorFields}
          onChange={(requiredDonorFields) => change({ requiredDonorFields })}
        />
      )}
    </Part>
  );
}

function Places(props: Props) {
  const { form, change } = props;
  const t = useWidgetTexts();
  return (
    <Part title={t.places}>
      <Area label={t.origins} hint={t.originsHint} isCode {...bind(props, 'allowedOrigins')} />
      <Choice
        label={t.displayMode}
        value={form.displayMode}
        options={named(displayModes, t.displayModes)}
        onChange={(displayMode) => change({ displayMode })}
      />
      <Field label={t.successUrl} hint={t.urlHint} type="url" maxLength={2048} {...bind(props, 'successUrl')} />
      <Field label={t.cancelUrl} hint={t.urlHint} type="url" maxLength={2048} {...bind(props, 'cancelUrl')} />
      <Area label={t.thankYou} hint={t.thankYouHint} maxLength={300} {...bind(props, 'thankYouText')} />
    </Part>
  );
}
