import { useTexts } from '../texts/texts';
import { Button } from './button';
import css from './design.module.css';
import { Field } from './field';

type Days = Readonly<{ from?: string | undefined; to?: string | undefined }>;

const dayMs = 86_400_000;
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
const presets = ['today', 'week', 'month', 'thisMonth'] as const;

/** The first day of a usual period, in UTC as the API counts days; each goes on to this moment. */
const firstDay = (preset: (typeof presets)[number], now = Date.now()): string =>
  ({
    today: dayOf(now),
    week: dayOf(now - 6 * dayMs),
    month: dayOf(now - 29 * dayMs),
    thisMonth: `${dayOf(now).slice(0, 7)}-01`,
  })[preset];

/** The days of a filter: typed, or one of the usual periods. */
export function Period(
  props: Readonly<{ days: Days; onChange: (days: Days) => void; names?: Readonly<{ from: string; to: string }> }>,
) {
  const { days, onChange } = props;
  const t = useTexts();
  const names = props.names ?? t.payments;
  const field = (name: 'from' | 'to') => (
    <Field
      label={names[name]}
      hint={t.payments.dayHint}
      type="date"
      value={days[name] ?? ''}
      onChange={(event) => onChange({ ...days, [name]: event.target.value || undefined })}
    />
  );
  return (
    <>
      {field('from')}
      {field('to')}
      <div role="group" aria-label={t.payments.period} className={`${css.row} ${css.ending}`}>
        {presets.map((preset) => (
          <Button
            key={preset}
            look="link"
            pressed={days.to === undefined && days.from === firstDay(preset)}
            onClick={() => onChange({ from: firstDay(preset), to: undefined })}
          >
            {t.payments.periods[preset]}
          </Button>
        ))}
      </div>
    </>
  );
}
