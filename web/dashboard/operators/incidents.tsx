import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { byCursor } from '../api/queries';
import css from '../design/design.module.css';
import { Choice } from '../design/field';
import { Filters } from '../design/filters';
import { Moment } from '../design/moment';
import { More } from '../design/more';
import { RowLink } from '../design/row-link';
import { Table } from '../design/table';
import { readIncidents, type Incident } from './data';
import { incidentFilterOf, incidentStates, type IncidentFilter } from './filter';
import { OperatorsFrame } from './frame';
import { useOperatorTexts } from './texts/use';

export function IncidentsPage() {
  const t = useOperatorTexts().incidents;
  const navigate = useNavigate();
  const filter = useSearch({ from: '/signed-in/operators/incidents', select: incidentFilterOf });
  const { state = 'open', kind } = filter;
  const query = useInfiniteQuery({
    queryKey: ['platform', 'incidents', state, kind],
    queryFn: ({ pageParam }) => readIncidents(state, kind, pageParam),
    ...byCursor,
    refetchInterval: 15_000,
  });
  const apply = (change: IncidentFilter): void =>
    void navigate({ to: '/operators/incidents', search: { ...filter, ...change } });
  return (
    <OperatorsFrame>
      <Filters
        isSet={Object.keys(filter).length > 0}
        onClear={() => void navigate({ to: '/operators/incidents', search: {} })}
      >
        <Choice
          label={t.state}
          value={state}
          options={incidentStates.map((one) => [one, t.states[one]] as const)}
          onChange={(chosen) => apply({ state: chosen === 'open' ? undefined : chosen })}
        />
      </Filters>
      <section className={css.card} aria-label={t.title}>
        <More
          query={query}
          none={<p className={css.empty}>{state === 'open' && kind === undefined ? t.noneOpen : t.none}</p>}
        >
          {(incidents) => <Rows incidents={incidents} />}
        </More>
      </section>
    </OperatorsFrame>
  );
}

function Rows({ incidents }: Readonly<{ incidents: readonly Incident[] }>) {
  const t = useOperatorTexts().incidents;
  const names = [t.kind, t.about, t.at, t.ended];
  const endOf = (by: string): string => (by === 'service' || by === 'operator' ? t.endedBy[by] : t.endsBy(by));
  return (
    <Table label={t.title} columns={names.map((name) => ({ name }))}>
      {incidents.map((one) => (
        <tr key={one.id}>
          <td>
            <RowLink to="/operators/incidents" id={one.id}>
              {one.kind}
            </RowLink>
          </td>
          <td>
            {one.subject.kind} <span className={css.code}>{one.subject.id}</span>
          </td>
          <td>
            <Moment at={one.createdAt} />
          </td>
          <td>{endOf(one.runbook.endedBy)}</td>
        </tr>
      ))}
    </Table>
  );
}
