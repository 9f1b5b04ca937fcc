import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { client, payload } from '../api/client';
import { dated, save } from '../api/download';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice } from '../design/feedback';
import { Field } from '../design/field';
import { Filters } from '../design/filters';
import { More } from '../design/more';
import { Moment } from '../design/show';
import { Table } from '../design/table';
import { auditQueryOf, type AuditFilter } from './audit-filter';
import { TeamFrame } from './frame';
import { useTeamTexts } from './texts/use';

async function read(filter: AuditFilter, cursor: string | null) {
  const query = { ...auditQueryOf(filter), ...(cursor ? { cursor } : {}), limit: 50 };
  const part = await payload(client.GET('/api/v1/audit-log', { params: { query } }));
  return part as Exclude<typeof part, string>; // the file is asked for below
}
type Act = Awaited<ReturnType<typeof read>>['items'][number];

async function download(filter: AuditFilter): Promise<void> {
  const query = { ...auditQueryOf(filter), format: 'csv' as const, limit: 1 };
  const blob = (await payload(
    client.GET('/api/v1/audit-log', { params: { query }, parseAs: 'blob' }),
  )) as unknown as Blob;
  save(blob, dated('audit-log', 'csv'));
}

export function AuditPage() {
  const t = useTeamTexts();
  const filter = useSearch({ from: '/signed-in/team/audit' });
  const query = useInfiniteQuery({
    queryKey: ['audit-log', filter],
    queryFn: ({ pageParam }) => read(filter, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.nextCursor,
  });
  const file = useAct(() => download(filter));
  return (
    <TeamFrame
      acts={
        <Button busy={file.isBusy} onClick={() => void file.run()}>
          {t.audit.export}
        </Button>
      }
    >
      <ErrorNotice error={file.error} />
      <AuditFilters key={JSON.stringify(filter)} filter={filter} />
      <section className={css.card} aria-label={t.audit.title}>
        <More query={query} none={<p className={css.empty}>{t.audit.none}</p>}>
          {(acts) => <Rows acts={acts} />}
        </More>
      </section>
    </TeamFrame>
  );
}

function AuditFilters({ filter }: Readonly<{ filter: AuditFilter }>) {
  const t = useTeamTexts();
  const navigate = useNavigate();
  const [typed, setTyped] = useState<AuditFilter>(filter);
  const field = (name: keyof AuditFilter) => ({
    value: typed[name] ?? '',
    onChange: (event: { target: { value: string } }) => setTyped({ ...typed, [name]: event.target.value || undefined }),
  });
  return (
    <Filters
      isSet={Object.keys(filter).length > 0}
      onFind={() => {
        const [actor, action] = [typed.actor?.trim() || undefined, typed.action?.trim() || undefined];
        void navigate({ to: '/team/audit', search: { ...typed, actor, action } });
      }}
      onClear={() => void navigate({ to: '/team/audit', search: {} })}
    >
      <Field label={t.audit.actor} hint={t.audit.actorHint} type="search" {...field('actor')} />
      <Field label={t.audit.action} hint={t.audit.actionHint} type="search" {...field('action')} />
      <Field label={t.audit.from} hint={t.audit.dayHint} type="date" {...field('from')} />
      <Field label={t.audit.to} hint={t.audit.dayHint} type="date" {...field('to')} />
    </Filters>
  );
}

function Rows({ acts }: Readonly<{ acts: readonly Act[] }>) {
  const t = useTeamTexts();
  const names = [t.audit.at, t.audit.actor, t.audit.action, t.audit.target, t.audit.ip, t.audit.changes];
  return (
    <Table label={t.audit.title} columns={names.map((name) => ({ name }))}>
      {acts.map((act) => (
        <tr key={act.id}>
          <td>
            <Moment at={act.at} />
          </td>
          <td>
            {act.actor.name}
            <div className={css.soft}>{t.audit.kinds[act.actor.kind]}</div>
          </td>
          <td className={css.code}>{act.action}</td>
          <td className={css.code}>{act.target ?? '–'}</td>
          <td className={css.code}>{act.ip}</td>
          <td>
            <Changes act={act} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Changes({ act }: Readonly<{ act: Act }>) {
  const t = useTeamTexts();
  const parts = [
    [t.audit.before, act.before],
    [t.audit.after, act.after],
  ] as const;
  const shown = parts.filter(([, value]) => value !== null && value !== undefined);
  if (!shown.length) return <>–</>;
  return (
    <details>
      <summary>{t.audit.changes}</summary>
      {shown.map(([name, value]) => (
        <div key={name}>
          <span className={css.soft}>{name}</span>
          <pre className={css.pre} tabIndex={0} aria-label={name}>
            {JSON.stringify(value, null, 1)}
          </pre>
        </div>
      ))}
    </details>
  );
}
