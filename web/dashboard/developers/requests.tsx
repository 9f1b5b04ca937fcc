import { useInfiniteQuery, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { unturned } from '../../../domain/text';
import { byCursor, meQuery } from '../api/queries';
import { Badge } from '../design/badge';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Choice, Field } from '../design/field';
import { Filters } from '../design/filters';
import { Moment } from '../design/moment';
import { More } from '../design/more';
import { Table } from '../design/table';
import { keyNamesQuery, readRequests, type LoggedRequest } from './data';
import { DevelopersFrame } from './frame';
import { Reason, RequestDialog } from './request';
import { methods, outcomes, requestFilterOf, type RequestFilter } from './request-filter';
import { useDeveloperTexts } from './texts/use';

/** What was asked with the team's secret keys, newest first; one request opens with all that is known of it. */
export function RequestsPage() {
  const filter = useSearch({ from: '/signed-in/developers/requests', select: requestFilterOf });
  const nameOf = useKeyNames();
  return (
    <DevelopersFrame>
      <RequestFilters key={JSON.stringify(filter)} filter={filter} names={nameOf} />
      {filter.requestId && <Reason key={filter.requestId} requestId={filter.requestId} heading="h2" />}
      <Requests filter={filter} names={nameOf} />
    </DevelopersFrame>
  );
}

type KeyNames = ReadonlyMap<string, string>;

/** What each key is called, for those who may see keys. */
function useKeyNames(): KeyNames {
  const { data: me } = useSuspenseQuery(meQuery);
  const keys = useQuery({ ...keyNamesQuery, enabled: me !== null && mayCall(me, access.listApiKeys.may) });
  return new Map((keys.data?.items ?? []).map(({ id, name, last4 }) => [id, `${unturned(name)} (…${last4})`]));
}

function RequestFilters({ filter, names }: Readonly<{ filter: RequestFilter; names: KeyNames }>) {
  const t = useDeveloperTexts();
  const navigate = useNavigate();
  const [typed, setTyped] = useState({ since: filter.since ?? '', requestId: filter.requestId ?? '' });
  const apply = (change: RequestFilter): void =>
    void navigate({ to: '/developers/requests', search: { ...filter, ...change } });
  const any = ['', t.deliveries.any] as const;
  return (
    <Filters
      isSet={Object.keys(filter).length > 0}
      onFind={() => apply({ since: typed.since || undefined, requestId: typed.requestId.trim() || undefined })}
      onClear={() => void navigate({ to: '/developers/requests', search: {} })}
    >
      <Choice
        label={t.requests.answer}
        value={filter.outcome ?? ''}
        options={[any, ...outcomes.map((one) => [one, t.requests.outcomes[one]] as const)]}
        onChange={(outcome) => apply({ outcome: outcome || undefined })}
      />
      <Choice
        label={t.requests.method}
        value={filter.method ?? ''}
        options={[any, ...methods.map((one) => [one, one] as const)]}
        onChange={(method) => apply({ method: method || undefined })}
      />
      {names.size > 0 && (
        <Choice
          label={t.requests.key}
          value={filter.apiKeyId ?? ''}
          options={[any, ...names]}
          onChange={(apiKeyId) => apply({ apiKeyId: apiKeyId || undefined })}
        />
      )}
      <Field
        label={t.requests.since}
        type="date"
        value={typed.since}
        onChange={(event) => setTyped({ ...typed, since: event.target.value })}
      />
      <Field
        label={t.requests.id}
        hint={t.requests.idHint}
        isCode
        maxLength={64}
        value={typed.requestId}
        onChange={(event) => setTyped({ ...typed, requestId: event.target.value })}
      />
    </Filters>
  );
}

function Requests({ filter, names }: Readonly<{ filter: RequestFilter; names: KeyNames }>) {
  const t = useDeveloperTexts();
  const [open, setOpen] = useState<LoggedRequest | null>(null);
  const query = useInfiniteQuery({
    queryKey: ['request-logs', filter],
    queryFn: ({ pageParam }) => readRequests(filter, pageParam),
    ...byCursor,
    refetchInterval: 5000,
  });
  const none = Object.keys(filter).length > 0 ? t.requests.noneFits : t.requests.none;
  return (
    <section className={css.card} aria-labelledby="requests">
      <h2 id="requests">{t.requests.title}</h2>
      <p className={css.soft}>{t.requests.why}</p>
      <More query={query} none={<p className={css.empty}>{none}</p>}>
        {(requests) => <Rows requests={requests} names={names} onOpen={setOpen} />}
      </More>
      {open && <RequestDialog request={open} keyName={names.get(open.apiKeyId ?? '')} onEnd={() => setOpen(null)} />}
    </section>
  );
}

type RowsProps = Readonly<{
  requests: readonly LoggedRequest[];
  names: KeyNames;
  onOpen: (request: LoggedRequest) => void;
}>;

function Rows({ requests, names, onOpen }: RowsProps) {
  const t = useDeveloperTexts();
  const columns = [
    { name: t.requests.at },
    { name: t.requests.request },
    { name: t.requests.answer },
    { name: t.requests.key },
    { name: t.requests.duration, isAmount: true },
  ];
  return (
    <Table label={t.requests.title} columns={columns}>
      {requests.map((request) => (
        <tr key={request.id}>
          <td>
            <Moment at={request.createdAt} />
          </td>
          <td>
            <Button look="link" onClick={() => onOpen(request)}>
              {request.method} {request.path}
            </Button>
          </td>
          <td>
            <Status request={request} />
          </td>
          <td>{names.get(request.apiKeyId ?? '') ?? request.apiKeyId ?? '–'}</td>
          <td className={css.end}>{t.requests.ms(request.durationMs)}</td>
        </tr>
      ))}
    </Table>
  );
}

const toneOf = (status: number) => (status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good');

function Status({ request: { status, errorCode } }: Readonly<{ request: LoggedRequest }>) {
  return (
    <>
      <Badge tone={toneOf(status)} text={String(status)} /> {errorCode && <span className={css.code}>{errorCode}</span>}
    </>
  );
}
