import { useId, type InputHTMLAttributes, type ReactNode, type Ref, type TextareaHTMLAttributes } from 'react';
import { unturned } from '../../../domain/text';
import css from './design.module.css';

type InputProps = Omit<InputHTMLAttributes<HTMLInputElement>, 'id' | 'className'> & { ref?: Ref<HTMLInputElement> };

type Around = Readonly<{ label: string; hint?: ReactNode; error?: string | undefined; isCode?: boolean }>;
type Inner = Readonly<{ id: string; className: string; 'aria-invalid'?: true; 'aria-describedby'?: string }>;

/** A labelled input with its hint and its error, both of which a screen reader reads with it. */
export function Field({ label, hint, error, isCode, ...input }: InputProps & Around) {
  return <Labelled {...{ label, hint, error, isCode }} inner={(props) => <input {...input} {...props} />} />;
}

type AreaProps = Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'id' | 'className'> & {
  ref?: Ref<HTMLTextAreaElement>;
};

/** A field of several lines. */
export function Area({ label, hint, error, isCode, ...area }: AreaProps & Around) {
  return <Labelled {...{ label, hint, error, isCode }} inner={(props) => <textarea rows={3} {...area} {...props} />} />;
}

function Labelled({ label, hint, error, isCode, inner }: Around & Readonly<{ inner: (props: Inner) => ReactNode }>) {
  const id = useId();
  const described = [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ');
  return (
    <div className={css.field}>
      <label htmlFor={id}>{label}</label>
      {hint && (
        <span id={`${id}-hint`} className={css.hint}>
          {hint}
        </span>
      )}
      {inner({
        id,
        className: `${css.input} ${isCode ? css.code : ''}`,
        ...(error ? { 'aria-invalid': true } : {}),
        ...(described ? { 'aria-describedby': described } : {}),
      })}
      {error && (
        <span id={`${id}-error`} className={css.error} role="alert">
          {error}
        </span>
      )}
    </div>
  );
}

/** The same for many lines, whose columns a person compares. */
export function TextArea(
  props: Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'id' | 'className'> &
    Readonly<{ label: string; hint: string }>,
) {
  const { label, hint, ...area } = props;
  const id = useId();
  return (
    <div className={css.field}>
      <label htmlFor={id}>{label}</label>
      <span id={`${id}-hint`} className={css.hint}>
        {hint}
      </span>
      <textarea {...area} id={id} className={`${css.input} ${css.code}`} aria-describedby={`${id}-hint`} />
    </div>
  );
}

/** A choice of one among several. A name among them may not turn around what stands beside it, say the address that gets
 *  money. */
export function Choice<Value extends string>(
  props: Readonly<{
    label: string;
    value: Value;
    options: ReadonlyArray<readonly [value: Value, text: string]>;
    onChange: (value: Value) => void;
    hint?: ReactNode;
  }>,
) {
  const { label, value, options, onChange, hint } = props;
  const id = useId();
  return (
    <div className={css.field}>
      <label htmlFor={id}>{label}</label>
      {hint && <span className={css.hint}>{hint}</span>}
      <select id={id} className={css.input} value={value} onChange={(event) => onChange(event.target.value as Value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {unturned(text)}
          </option>
        ))}
      </select>
    </div>
  );
}
