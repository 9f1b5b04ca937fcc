import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { client, payload } from '../api/client';
import css from '../design/design.module.css';
import { Choice, Field } from '../design/field';
import { Filters } from '../design/filters';
import { Moment } from '../design/moment';
import { More } from '../design/more';
import { RowListLink } from '../design/row-link';
import { Table } from '../design/table';
import { eventTypesQuery } from './data';
import { eventFilterOf, seqOf, type EventFilter } from './event-filter';
import { DevelopersFrame } from './frame';
import { useDeveloperTexts } from './texts/use';

type Part = Readonly<{ before: string } | { after: string }>;

/** One part of the stream, newest first whichever way it is read. */
async function read({ types }: EventFilter, part: Part, limit = 25) {
  const query = { ...part, ...(types ? { types } : {}), limit };
  const page = await payload(client.GET('/api/v1/events', { params: { query } }));
  return 'after' in part ? { ...page, items: page.items.toReversed() } : page;
}
type Page = Awaited<ReturnType<typeof read>>;
type Event = Page['items'][number];
const newestOf = (pages: readonly Page[]): number => pages.find(({ items }) => items.length)?.items[0]!.seq ?? 0;

/** How often the newest event is asked for. */
const newestMs = 5000;

/** The stream that webhooks are made of, newest first. Older events are read on request, new ones as they come. */
function useEvents(filter: EventFilter) {
  const query = useInfiniteQuery({
    queryKey: ['events', filter],
    queryFn: ({ pageParam }) => read(filter, pageParam),
    initialPageParam: { before: filter.before ?? '0' } as Part,
    getNextPageParam: (last) => (last.hasMore ? { before: last.nextCursor } : undefined),
    getPreviousPageParam: (_, pages) => ({ after: String(newestOf(pages)) }),
    staleTime: Infinity,
  });
  const newest = useQuery({
    queryKey: ['newest-event', filter],
    queryFn: async () => newestOf([await read(filter, { before: '0' }, 1)]),
    enabled: query.isSuccess && filter.before === undefined,
    refetchInterval: newestMs,
  });
  const { fetchPreviousPage, isFetching } = query;
  const isBehind = query.isSuccess && (newest.data ?? 0) > newestOf(query.data.pages);
  useEffect(() => {
    if (isBehind && !isFetching) void fetchPreviousPage();
  }, [isBehind, isFetching, fetchPreviousPage]);
  return query;
}

export function EventsPage() {
  const t = useDeveloperTexts();
  const filter = useSearch({ from: '/signed-in/developers/events', select: eventFilterOf });
  const query = useEvents(filter);
  return (
    <DevelopersFrame>
      <EventFilters key={JSON.stringify(filter)} filter={filter} />
      <section className={css.card} aria-labelledby="events">
        <h2 id="events">{t.events.title}</h2>
        <p className={css.soft}>{t.events.why}</p>
        <More query={query} none={<p className={css.empty}>{t.events.none}</p>}>
          {(events) => <Rows events={events} />}
        </More>
      </section>
    </DevelopersFrame>
  );
}

function EventFilters({ filter }: Readonly<{ filter: EventFilter }>) {
  const t = useDeveloperTexts();
  const navigate = useNavigate();
  const types = useQuery(eventTypesQuery);
  const [before, setBefore] = useState(filter.before ?? '');
  const apply = (change: EventFilter): void =>
    void navigate({ to: '/developers/events', search: { ...filter, ...change } });
  const areas = [...new Set((types.data ?? []).map(({ type }) => `${type.split('.')[0]}.*`))];
  return (
    <Filters
      isSet={Object.keys(filter).length > 0}
      onFind={() => apply({ before: seqOf(before) })}
      onClear={() => void navigate({ to: '/developers/events', search: {} })}
    >
      <Choice
        label={t.events.types}
        value={filter.types ?? ''}
        options={[
          ['', t.deliveries.any],
          ...areas.map((area) => [area, t.webhooks.area(area)] as const),
          ...(types.data ?? []).map(({ type }) => [type, type] as const),
        ]}
        onChange={(chosen) => apply({ types: chosen || undefined })}
      />
      <Field
        label={t.events.before}
        hint={t.events.beforeHint}
        inputMode="numeric"
        value={before}
        onChange={(event) => setBefore(event.target.value)}
      />
    </Filters>
  );
}

function Rows({ events }: Readonly<{ events: readonly Event[] }>) {
  const t = useDeveloperTexts();
  const columns = [
    { name: t.events.seq, isAmount: true },
    { name: t.deliveries.event },
    { name: t.events.at },
    { name: t.events.content },
  ];
  return (
    <Table label={t.events.title} columns={columns}>
      {events.map((event) => (
        <tr key={event.id}>
          <td className={css.end}>{event.seq}</td>
          <td>
            {event.type}
            <div className={css.code}>
              <RowListLink to="/developers/deliveries" search={{ eventId: event.id }}>
                {event.id}
              </RowListLink>
            </div>
          </td>
          <td>
            <Moment at={event.timestamp} />
          </td>
          <td>
            <Content event={event} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** What an event carries; it is put into words when somebody looks. */
function Content({ event }: Readonly<{ event: Event }>) {
  const t = useDeveloperTexts();
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(toggle) => setOpen(toggle.currentTarget.open)}>
      <summary>{t.events.content}</summary>
      {isOpen && (
        <pre className={css.pre} tabIndex={0} aria-label={t.events.contentOf(event.seq)}>
          {JSON.stringify({ data: event.data, previous: event.previous }, null, 1)}
        </pre>
      )}
    </details>
  );
}
