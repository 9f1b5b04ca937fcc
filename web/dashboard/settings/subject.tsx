import { useEffect, useRef, type ReactNode } from 'react';
import { useForm, type DefaultValues, type FieldValues, type Path, type UseFormReturn } from 'react-hook-form';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { ApiError } from '../api/errors';
import type { Me } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, useRefusal, useToast } from '../design/feedback';
import { useTexts } from '../texts/texts';
import { useSettingTexts } from './texts/use';

/** A form about one subject among the settings. */
export type Subject<Form extends FieldValues> = Readonly<{
  form: UseFormReturn<Form>;
  send: () => Promise<void>;
  isBusy: boolean;
  error: unknown;
}>;

/** Which of these fields a refusal is about: its sentence begins with the field's name. A refused address names no
 *  field; it is the one that was changed. */
function fieldOf<Form extends FieldValues>(error: unknown, changed: ReadonlyArray<Path<Form>>): Path<Form> | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (error.code === 'VALIDATION_ERROR') return changed.find((name) => new RegExp(`^${name}\\b`).test(error.message));
  return error.code.startsWith('CALLBACK_') && changed.length === 1 ? changed[0] : undefined;
}

/** Saves what was changed in a form, and shows what the API refuses at its field. What somebody else has saved meanwhile
 *  comes into a form that nobody has touched. `keep`: where the pages have the answer of the API. */
export function useSubject<Data, Form extends FieldValues>(
  props: Readonly<{
    data: Data;
    valuesOf: (data: Data) => Form;
    save: (changed: Partial<Form>) => Promise<Data>;
    keep: (data: Data) => void;
  }>,
): Subject<Form> {
  const { data, valuesOf, save, keep } = props;
  const t = useTexts();
  const words = useSettingTexts();
  const toast = useToast();
  const refusal = useRefusal();
  const form = useForm<Form>({ defaultValues: valuesOf(data) as DefaultValues<Form> });
  const { dirtyFields, isDirty } = form.formState;
  const isTouched = useRef(isDirty);
  isTouched.current = isDirty;
  useEffect(() => {
    if (!isTouched.current) form.reset(valuesOf(data));
  }, [data, form, valuesOf]);
  const act = useAct(async (typed: Form) => {
    const changed = Object.fromEntries(Object.entries(typed).filter(([name]) => name in dirtyFields)) as Partial<Form>;
    try {
      const saved = await save(changed);
      form.reset(valuesOf(saved));
      keep(saved);
      toast(t.saved);
    } catch (error) {
      const field = fieldOf(error, Object.keys(changed) as Array<Path<Form>>);
      if (!field) throw error;
      const { code, message, requestId } = error as ApiError;
      const why = code === 'VALIDATION_ERROR' ? words.refused : refusal({ code, message });
      form.setError(field, { message: `${why} ${t.errors.requestId} ${requestId ?? '–'}` }, { shouldFocus: true });
    }
  });
  return { form, send: form.handleSubmit((typed) => act.run(typed)), isBusy: act.isBusy, error: act.error };
}

/** The frame of such a form. */
export function SubjectForm<Form extends FieldValues>(
  props: Readonly<{ id: string; title: string; me: Me; subject: Subject<Form>; children: ReactNode }>,
) {
  const { id, title, me, subject, children } = props;
  const t = useTexts();
  const words = useSettingTexts();
  const reason = !mayCall(me, access.changeSettings.may)
    ? t.needs('settings:manage')
    : subject.form.formState.isDirty
      ? undefined
      : words.unchanged;
  return (
    <form
      className={css.card}
      aria-labelledby={id}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined) void subject.send();
      }}
    >
      <h2 id={id}>{title}</h2>
      <ErrorNotice error={subject.error} />
      {children}
      <div>
        <Button type="submit" look="primary" label={words.saveOf(title)} busy={subject.isBusy} reason={reason}>
          {t.save}
        </Button>
      </div>
    </form>
  );
}
