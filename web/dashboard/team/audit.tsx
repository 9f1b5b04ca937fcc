import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { client, payload } from '../api/client';
import { byCursor } from '../api/queries';
import { dated, save } from '../api/download';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice } from '../design/feedback';
import { More } from '../design/more';
import { ActFilters, ActRows } from './acts';
import { auditFilterOf, auditQueryOf, type AuditFilter } from './audit-filter';
import { TeamFrame } from './frame';
import { useTeamTexts } from './texts/use';

async function read(filter: AuditFilter, cursor: string | null) {
  const query = { ...auditQueryOf(filter), ...(cursor ? { cursor } : {}), limit: 50 };
  return payload(client.GET('/api/v1/audit-log', { params: { query } }));
}

async function download(filter: AuditFilter): Promise<void> {
  const query = auditQueryOf(filter);
  const blob = (await payload(
    client.GET('/api/v1/audit-log.csv', { params: { query }, parseAs: 'blob' }),
  )) as unknown as Blob;
  save(blob, dated('audit-log', 'csv'));
}

export function AuditPage() {
  const t = useTeamTexts();
  const navigate = useNavigate();
  const filter = useSearch({ from: '/signed-in/team/audit', select: auditFilterOf });
  const query = useInfiniteQuery({
    queryKey: ['audit-log', filter],
    queryFn: ({ pageParam }) => read(filter, pageParam),
    ...byCursor,
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
      <ActFilters
        key={JSON.stringify(filter)}
        filter={filter}
        isSet={Object.keys(filter).length > 0}
        onFind={(wanted) => void navigate({ to: '/team/audit', search: wanted })}
        onClear={() => void navigate({ to: '/team/audit', search: {} })}
      />
      <section className={css.card} aria-label={t.audit.title}>
        <More query={query} none={<p className={css.empty}>{t.audit.none}</p>}>
          {(acts) => <ActRows acts={acts} />}
        </More>
      </section>
    </TeamFrame>
  );
}
