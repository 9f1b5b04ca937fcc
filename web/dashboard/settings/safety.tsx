import { Link } from '@tanstack/react-router';
import { settingBounds } from '../../../domain/access/setting-bounds';
import type { Me } from '../api/queries';
import css from '../design/design.module.css';
import { Field } from '../design/field';
import { isAmountText } from '../money/data';
import { keepSettings, saveSettings, type Settings } from './data';
import { isHours } from './payment-settings';
import { SubjectForm, useSubject } from './subject';
import { useSettingTexts } from './texts/use';

const safetyOf = ({ whitelistDelayHours, refundDailyCapUsd }: Settings) => ({
  whitelistDelayHours,
  refundDailyCapUsd: refundDailyCapUsd ?? '',
});

/** What slows a thief down: the cooling-off of the whitelist and the cap of refunds. */
export function Safety({ settings, me }: Readonly<{ settings: Settings; me: Me }>) {
  const t = useSettingTexts();
  const words = t.safety;
  const subject = useSubject({
    data: settings,
    valuesOf: safetyOf,
    save: ({ refundDailyCapUsd: cap, ...changed }) =>
      saveSettings({ ...changed, ...(cap === undefined ? {} : { refundDailyCapUsd: cap.trim() || null }) }),
    keep: keepSettings,
  });
  const { form } = subject;
  const { errors } = form.formState;
  return (
    <SubjectForm id="safety" title={words.title} me={me} subject={subject}>
      <Field
        label={words.delay}
        hint={words.delayHint}
        type="number"
        min={0}
        max={settingBounds.whitelistDelayHours}
        error={errors.whitelistDelayHours?.message}
        {...form.register('whitelistDelayHours', {
          valueAsNumber: true,
          validate: (value) => isHours(value, settingBounds.whitelistDelayHours) || words.delayWrong,
        })}
      />
      <Field
        label={words.cap}
        hint={words.capHint}
        inputMode="decimal"
        autoComplete="off"
        error={errors.refundDailyCapUsd?.message}
        {...form.register('refundDailyCapUsd', {
          validate: (typed) => typed.trim() === '' || isAmountText(typed.trim()) || words.capWrong,
        })}
      />
      <p className={css.soft}>
        {t.onLimits} <Link to="/money/limits">{t.limits}</Link>
      </p>
    </SubjectForm>
  );
}
