import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { byCursor } from '../api/queries';
import { Badge, type Tone } from '../design/badge';
import css from '../design/design.module.css';
import { Choice } from '../design/field';
import { Filters } from '../design/filters';
import { Moment } from '../design/moment';
import { More } from '../design/more';
import { RowListLink } from '../design/row-link';
import { useNumbers } from '../design/show';
import { Table } from '../design/table';
import { readScreenings, screenStatuses, severities, type Screening } from './data';
import { screeningFilterOf, type ScreeningFilter } from './filter';
import { OperatorsFrame } from './frame';
import { MerchantLink } from './merchant-link';
import { useOperatorTexts } from './texts/use';

/** What screenings have found, with the evidence. */
export function ScreeningsPage() {
  const words = useOperatorTexts();
  const t = words.screenings;
  const navigate = useNavigate();
  const filter = useSearch({ from: '/signed-in/operators/screenings', select: screeningFilterOf });
  const { status = 'flagged', severity } = filter;
  const query = useInfiniteQuery({
    queryKey: ['platform', 'screenings', status, severity],
    queryFn: ({ pageParam }) => readScreenings(status, severity, pageParam),
    ...byCursor,
  });
  const apply = (change: ScreeningFilter): void =>
    void navigate({ to: '/operators/screenings', search: { ...filter, ...change } });
  return (
    <OperatorsFrame>
      <p className={css.hint}>{t.why}</p>
      <Filters
        isSet={Object.keys(filter).length > 0}
        onClear={() => void navigate({ to: '/operators/screenings', search: {} })}
      >
        <Choice
          label={t.status}
          value={status}
          options={screenStatuses.map((one) => [one, t.statuses[one]] as const)}
          onChange={(chosen) => apply({ status: chosen === 'flagged' ? undefined : chosen })}
        />
        <Choice<ScreeningSeverity | ''>
          label={t.severity}
          value={severity ?? ''}
          options={[['', words.any], ...severities.map((one) => [one, t.severities[one]] as const)]}
          onChange={(chosen) => apply({ severity: chosen || undefined })}
        />
      </Filters>
      <section className={css.card} aria-label={t.title}>
        <More query={query} none={<p className={css.empty}>{t.none}</p>}>
          {(screenings) => <Rows screenings={screenings} />}
        </More>
      </section>
    </OperatorsFrame>
  );
}
type ScreeningSeverity = (typeof severities)[number];

const toneOf: Readonly<Record<Screening['status'], Tone>> = {
  flagged: 'bad',
  clear: 'good',
  unavailable: 'warn',
  skipped: 'plain',
};

function Rows({ screenings }: Readonly<{ screenings: readonly Screening[] }>) {
  const t = useOperatorTexts().screenings;
  const numbers = useNumbers();
  const names = [t.payment, t.merchant, t.result, t.categories, t.at, t.evidence];
  return (
    <Table label={t.title} columns={names.map((name) => ({ name }))}>
      {screenings.map((one) => (
        <tr key={one.id}>
          <td>
            <RowListLink to="/operators/find" search={{ q: one.payment.id }} className={css.code}>
              {one.payment.id}
            </RowListLink>
            <div>{one.payment.status}</div>
          </td>
          <td>
            <MerchantLink id={one.merchant.id} name={one.merchant.name} />
          </td>
          <td>
            <Badge tone={toneOf[one.status]} text={t.statuses[one.status]} />
            {one.riskScore !== null && <div>{t.score(numbers.count(one.riskScore))}</div>}
            {one.severity !== null && <div>{t.severities[one.severity]}</div>}
            {!one.isNewest && <div className={css.soft}>{t.older}</div>}
          </td>
          <td>{one.categories.join(', ') || one.reason || one.skipCause || '–'}</td>
          <td>
            <Moment at={one.checkedAt} />
            <div className={css.soft}>{t.causes[one.cause]}</div>
          </td>
          <td>
            <details>
              <summary>{t.evidence}</summary>
              <pre className={css.pre} tabIndex={0} aria-label={t.evidence}>
                {JSON.stringify({ providers: one.providers, transactions: one.txIds, matches: one.matches }, null, 1)}
              </pre>
            </details>
          </td>
        </tr>
      ))}
    </Table>
  );
}
