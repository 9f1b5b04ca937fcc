import { feeBearers, settingBounds, underpaidPolicies } from '../../../domain/access/setting-bounds';
import type { Me } from '../api/queries';
import { Choice, Field } from '../design/field';
import { keepSettings, saveSettings, type Settings } from './data';
import { isMinutes, minutesOf, secondsOf } from './minutes';
import { SubjectForm, useSubject } from './subject';
import { useSettingTexts } from './texts/use';

type Props = Readonly<{ settings: Settings; me: Me }>;

/** The choice among named values. */
const named = <Name extends string>(names: readonly Name[], words: Readonly<Record<Name, string>>) =>
  names.map((name) => [name, words[name]] as const);

/** Whether a number that was typed is a whole one of hours that a setting may have. */
export const isHours = (value: number, most: number): boolean => Number.isInteger(value) && value >= 0 && value <= most;

const feeAndTimeOf = ({ feeBearer, defaultExpiresIn }: Settings) => ({
  feeBearer,
  defaultExpiresIn: minutesOf(defaultExpiresIn),
});

/** Who bears the fee, and how long an invoice is open. */
export function FeeAndTime({ settings, me }: Props) {
  const words = useSettingTexts().prices;
  const subject = useSubject({
    data: settings,
    valuesOf: feeAndTimeOf,
    save: ({ defaultExpiresIn: minutes, ...changed }) =>
      saveSettings({ ...changed, ...(minutes === undefined ? {} : { defaultExpiresIn: secondsOf(minutes) }) }),
    keep: keepSettings,
  });
  const { form } = subject;
  const { errors } = form.formState;
  return (
    <SubjectForm id="fee-and-time" title={words.title} me={me} subject={subject}>
      <Choice
        label={words.feeBearer}
        hint={words.feeBearerHint}
        value={form.watch('feeBearer')}
        options={named(feeBearers, words.feeBearers)}
        onChange={(next) => form.setValue('feeBearer', next, { shouldDirty: true })}
      />
      <Field
        label={words.minutes}
        hint={words.minutesHint}
        inputMode="decimal"
        autoComplete="off"
        error={errors.defaultExpiresIn?.message}
        {...form.register('defaultExpiresIn', { validate: (typed) => isMinutes(typed) || words.minutesWrong })}
      />
    </SubjectForm>
  );
}

const isTolerance = (value: number): boolean =>
  value >= 0 && value <= settingBounds.underpaymentTolerancePct && /^\d+(\.\d{1,2})?$/.test(String(value));

const exceptionsOf = (settings: Settings) => ({
  underpaymentTolerancePct: settings.underpaymentTolerancePct,
  underpaidPolicy: settings.underpaidPolicy,
  autoAcceptCrossChainHours: settings.autoAcceptCrossChainHours,
});

/** What becomes of payments that are short, or come in another coin. */
export function Exceptions({ settings, me }: Props) {
  const words = useSettingTexts().exceptions;
  const subject = useSubject({
    data: settings,
    valuesOf: exceptionsOf,
    save: (changed) => saveSettings(changed),
    keep: keepSettings,
  });
  const { form } = subject;
  const { errors } = form.formState;
  return (
    <SubjectForm id="exceptions" title={words.title} me={me} subject={subject}>
      <Field
        label={words.tolerance}
        hint={words.toleranceHint}
        type="number"
        min={0}
        max={settingBounds.underpaymentTolerancePct}
        step={0.01}
        error={errors.underpaymentTolerancePct?.message}
        {...form.register('underpaymentTolerancePct', {
          valueAsNumber: true,
          validate: (value) => isTolerance(value) || words.toleranceWrong,
        })}
      />
      <Choice
        label={words.policy}
        hint={words.policyHint}
        value={form.watch('underpaidPolicy')}
        options={named(underpaidPolicies, words.policies)}
        onChange={(next) => form.setValue('underpaidPolicy', next, { shouldDirty: true })}
      />
      <Field
        label={words.hours}
        hint={words.hoursHint}
        type="number"
        min={0}
        max={settingBounds.autoAcceptCrossChainHours}
        error={errors.autoAcceptCrossChainHours?.message}
        {...form.register('autoAcceptCrossChainHours', {
          valueAsNumber: true,
          validate: (value) => isHours(value, settingBounds.autoAcceptCrossChainHours) || words.hoursWrong,
        })}
      />
    </SubjectForm>
  );
}
