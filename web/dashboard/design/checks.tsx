import { useId, type ReactNode } from 'react';
import css from './design.module.css';

/** `reason`: why this one cannot be changed. */
export type Check<Value extends string> = Readonly<{
  value: Value;
  text: string;
  hint?: ReactNode;
  reason?: string | undefined;
}>;

/** Several among many, each with what it means. */
export function Checks<Value extends string>(
  props: Readonly<{
    legend: string;
    hint?: ReactNode;
    options: ReadonlyArray<Check<Value>>;
    chosen: readonly string[];
    onChange: (chosen: Value[]) => void;
  }>,
) {
  const { legend, hint, options, chosen, onChange } = props;
  const id = useId();
  const toggle = (value: Value): void =>
    onChange(
      options.map((one) => one.value).filter((one) => (one === value ? !chosen.includes(one) : chosen.includes(one))),
    );
  return (
    <fieldset className={css.stack}>
      <legend className={css.legend}>{legend}</legend>
      {hint && <p className={css.hint}>{hint}</p>}
      {options.map((option) => (
        <div key={option.value} className={css.check}>
          <input
            type="checkbox"
            id={`${id}-${option.value}`}
            checked={chosen.includes(option.value)}
            aria-disabled={option.reason === undefined ? undefined : true}
            aria-describedby={option.hint || option.reason ? `${id}-${option.value}-hint` : undefined}
            onChange={() => option.reason === undefined && toggle(option.value)}
          />
          <div>
            <label htmlFor={`${id}-${option.value}`}>{option.text}</label>
            {(option.hint || option.reason) && (
              <div id={`${id}-${option.value}-hint`} className={css.hint}>
                {option.hint} {option.reason}
              </div>
            )}
          </div>
        </div>
      ))}
    </fieldset>
  );
}
