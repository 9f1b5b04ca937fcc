import { useQuery } from '@tanstack/react-query';
import { currenciesQuery } from '../api/queries';
import { Choice } from '../design/field';
import { Filters } from '../design/filters';
import { HeldChoice } from '../design/held-choice';
import { Period } from '../design/period';
import { useTexts } from '../texts/texts';
import type { ListFilter } from './filter';
import { useMoneyTexts } from './section';

/** The filters that the lists of this section share; each change begins at the first page. */
export function ListFilters<Status extends string>(
  props: Readonly<{
    filter: ListFilter<Status>;
    statuses: Readonly<Record<Status, string>>;
    hasCurrency?: boolean;
    hasHeld?: boolean;
    onChange: (filter: ListFilter<Status>) => void;
  }>,
) {
  const { filter, statuses, hasCurrency = false, hasHeld = false, onChange } = props;
  const t = useTexts();
  const words = useMoneyTexts().ledger;
  const currencies = useQuery(currenciesQuery);
  const apply = (change: ListFilter<Status>) => onChange({ ...filter, page: undefined, ...change });
  return (
    <Filters isSet={Object.keys(filter).length > 0} onClear={() => onChange({})}>
      <Choice<Status | ''>
        label={t.payments.status}
        value={filter.status ?? ''}
        options={[['', t.payments.any], ...(Object.entries(statuses) as Array<[Status, string]>)]}
        onChange={(status) => apply({ status: status || undefined })}
      />
      {hasHeld && <HeldChoice isHeld={filter.held === true} onChange={(held) => apply({ held })} />}
      {hasCurrency && (
        <Choice
          label={t.payments.currency}
          value={filter.currency ?? ''}
          options={[
            ['', t.payments.any],
            ...(currencies.data ?? []).map(({ currency }) => [currency, currency] as const),
          ]}
          onChange={(currency) => apply({ currency: currency || undefined })}
        />
      )}
      <Period days={filter} names={words} onChange={apply} />
    </Filters>
  );
}
