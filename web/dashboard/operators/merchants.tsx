import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { byCursor } from '../api/queries';
import { Badge } from '../design/badge';
import css from '../design/design.module.css';
import { Choice, Field } from '../design/field';
import { Filters } from '../design/filters';
import { Moment } from '../design/moment';
import { More } from '../design/more';
import { Table } from '../design/table';
import { readMerchants, registrationStates, type Merchant, type MerchantStatus, type RegistrationState } from './data';
import { merchantFilterOf, merchantStatuses, type MerchantFilter } from './filter';
import { OperatorsFrame } from './frame';
import { MerchantLink } from './merchant-link';
import { useOperatorTexts } from './texts/use';

export function MerchantsPage() {
  const t = useOperatorTexts().merchants;
  const filter = useSearch({ from: '/signed-in/operators/merchants', select: merchantFilterOf });
  const query = useInfiniteQuery({
    queryKey: ['platform', 'merchants', filter],
    queryFn: ({ pageParam }) => readMerchants(filter, pageParam),
    ...byCursor,
  });
  return (
    <OperatorsFrame>
      <MerchantFilters key={filter.name ?? ''} filter={filter} />
      <section className={css.card} aria-label={t.title}>
        <More query={query} none={<p className={css.empty}>{t.none}</p>}>
          {(merchants) => <Rows merchants={merchants} />}
        </More>
      </section>
    </OperatorsFrame>
  );
}

function MerchantFilters({ filter }: Readonly<{ filter: MerchantFilter }>) {
  const words = useOperatorTexts();
  const t = words.merchants;
  const navigate = useNavigate();
  const [name, setName] = useState(filter.name ?? '');
  const apply = (change: MerchantFilter): void =>
    void navigate({ to: '/operators/merchants', search: { ...filter, ...change } });
  return (
    <Filters
      isSet={Object.keys(filter).length > 0}
      onFind={() => apply({ name: name.trim() || undefined })}
      onClear={() => void navigate({ to: '/operators/merchants', search: {} })}
    >
      <Field
        label={t.name}
        hint={t.nameHint}
        type="search"
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Choice<MerchantStatus | ''>
        label={t.status}
        value={filter.status ?? ''}
        options={[['', words.any], ...merchantStatuses.map((one) => [one, t.statuses[one]] as const)]}
        onChange={(status) => apply({ status: status || undefined })}
      />
      <Choice<RegistrationState | ''>
        label={t.registration}
        value={filter.registration ?? ''}
        options={[['', words.any], ...registrationStates.map((one) => [one, words.registrations.states[one]] as const)]}
        onChange={(registration) => apply({ registration: registration || undefined })}
      />
    </Filters>
  );
}

function Rows({ merchants }: Readonly<{ merchants: readonly Merchant[] }>) {
  const t = useOperatorTexts().merchants;
  const names = [t.name, t.status, t.outgoing, t.since];
  return (
    <Table label={t.title} columns={names.map((name) => ({ name }))}>
      {merchants.map((one) => (
        <tr key={one.id}>
          <td>
            <MerchantLink id={one.id} name={one.name} />
            <div className={css.code}>{one.id}</div>
          </td>
          <td>
            <MerchantBadge status={one.status} /> <RegistrationBadge merchant={one} />
          </td>
          <td>{one.outgoingHeld === null ? t.free : t.held(one.outgoingHeld)}</td>
          <td>
            <Moment at={one.createdAt} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** What an operator has not approved, with the way to where it is decided. */
function RegistrationBadge({ merchant: { registration } }: Readonly<{ merchant: Merchant }>) {
  const { merchants, registrations } = useOperatorTexts();
  if (registration === 'approved') return null;
  return (
    <Link to="/operators/registrations" search={{ state: registration }}>
      <Badge
        tone={registration === 'waiting' ? 'warn' : 'bad'}
        text={`${merchants.registration}: ${registrations.states[registration]}`}
      />
    </Link>
  );
}

export function MerchantBadge({ status }: Readonly<{ status: MerchantStatus }>) {
  const t = useOperatorTexts().merchants;
  return <Badge tone={status === 'active' ? 'good' : 'bad'} text={t.statuses[status]} />;
}
