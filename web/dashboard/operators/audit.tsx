import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { client, payload } from '../api/client';
import { byCursor } from '../api/queries';
import { dated, save } from '../api/download';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice } from '../design/feedback';
import { Field } from '../design/field';
import { More } from '../design/more';
import { ActFilters, ActRows } from '../team/acts';
import { auditQueryOf } from '../team/audit-filter';
import { platformAuditFilterOf, type PlatformAuditFilter } from './filter';
import { OperatorsFrame } from './frame';
import { MerchantLink } from './merchant-link';
import { useOperatorTexts } from './texts/use';

const queryOf = ({ merchant, ...filter }: PlatformAuditFilter) => ({
  ...auditQueryOf(filter),
  ...(merchant ? { merchantId: merchant } : {}),
});

async function read(filter: PlatformAuditFilter, cursor: string | null) {
  const query = { ...queryOf(filter), ...(cursor ? { cursor } : {}), limit: 50 };
  return payload(client.GET('/api/v1/platform/audit-log', { params: { query } }));
}

async function download(filter: PlatformAuditFilter): Promise<void> {
  const query = queryOf(filter);
  const blob = (await payload(
    client.GET('/api/v1/platform/audit-log.csv', { params: { query }, parseAs: 'blob' }),
  )) as unknown as Blob;
  save(blob, dated('platform-audit-log', 'csv'));
}

/** Who did what on the whole platform. */
export function PlatformAuditPage() {
  const words = useOperatorTexts();
  const t = words.audit;
  const filter = useSearch({ from: '/signed-in/operators/audit', select: platformAuditFilterOf });
  const query = useInfiniteQuery({
    queryKey: ['platform', 'audit', filter],
    queryFn: ({ pageParam }) => read(filter, pageParam),
    ...byCursor,
  });
  const file = useAct(() => download(filter));
  return (
    <OperatorsFrame
      acts={
        <Button busy={file.isBusy} onClick={() => void file.run()}>
          {t.export}
        </Button>
      }
    >
      <ErrorNotice error={file.error} />
      <p className={css.hint}>{t.why}</p>
      <AuditFilters key={JSON.stringify(filter)} filter={filter} />
      <section className={css.card} aria-label={t.title}>
        <More query={query} none={<p className={css.empty}>{t.none}</p>}>
          {(acts) => (
            <ActRows
              acts={acts}
              about={{
                name: t.merchant,
                of: ({ merchant }) =>
                  merchant === null ? '–' : <MerchantLink id={merchant.id} name={merchant.name} />,
              }}
            />
          )}
        </More>
      </section>
    </OperatorsFrame>
  );
}

function AuditFilters({ filter }: Readonly<{ filter: PlatformAuditFilter }>) {
  const t = useOperatorTexts().audit;
  const navigate = useNavigate();
  const { merchant: given, ...shared } = filter;
  const [merchant, setMerchant] = useState(given ?? '');
  return (
    <ActFilters
      filter={shared}
      isSet={Object.keys(filter).length > 0}
      onFind={(wanted) => {
        const chosen = merchant.trim();
        void navigate({ to: '/operators/audit', search: { ...wanted, ...(chosen ? { merchant: chosen } : {}) } });
      }}
      onClear={() => void navigate({ to: '/operators/audit', search: {} })}
    >
      <Field
        label={t.merchant}
        hint={t.merchantHint}
        type="search"
        maxLength={24}
        value={merchant}
        onChange={(event) => setMerchant(event.target.value)}
      />
    </ActFilters>
  );
}
