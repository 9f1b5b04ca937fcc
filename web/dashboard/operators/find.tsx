import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import css from '../design/design.module.css';
import { Notice } from '../design/feedback';
import { Loaded } from '../design/loaded';
import { Table } from '../design/table';
import { findFilterOf } from './filter';
import { foundQuery, type Found } from './data';
import { OperatorsFrame } from './frame';
import { MerchantLink } from './merchant-link';
import { Intents, Record } from './record';
import { useOperatorTexts } from './texts/use';

/** Everything that a text names, on one page. */
export function FindPage() {
  const t = useOperatorTexts();
  const { q = '' } = useSearch({ from: '/signed-in/operators/find', select: findFilterOf });
  return (
    <OperatorsFrame title={t.title} query={q}>
      {q && <Results q={q} />}
    </OperatorsFrame>
  );
}

function Results({ q }: Readonly<{ q: string }>) {
  const t = useOperatorTexts();
  const query = useQuery(foundQuery(q));
  return (
    <section className={css.stack} aria-label={t.find.title(q)}>
      <h2 className={css.anywhere}>{t.find.title(q)}</h2>
      <Loaded query={query} lines={8}>
        {(found) => <Shown found={found} />}
      </Loaded>
    </section>
  );
}

function Shown({ found }: Readonly<{ found: Found }>) {
  const t = useOperatorTexts().find;
  const { records, intents, addresses, merchants, users } = found;
  const isEmpty = [records, intents, addresses, merchants, users].every((list) => list.length === 0);
  if (isEmpty) return <p className={css.empty}>{t.nothing}</p>;
  // What a record shows already is not shown twice.
  const shown = new Set(records.flatMap((record) => record.intents.map(({ id }) => id)));
  const others = intents.filter(({ id }) => !shown.has(id));
  return (
    <>
      {found.isCut && <Notice tone="warn">{t.cut}</Notice>}
      {records.map((record) => (
        <Record key={record.id} record={record} />
      ))}
      {others.length > 0 && (
        <Part title={t.intents}>
          <Intents intents={others} />
        </Part>
      )}
      {addresses.length > 0 && (
        <Part title={t.addresses}>
          <Addresses addresses={addresses} />
        </Part>
      )}
      {merchants.length > 0 && (
        <Part title={t.merchants}>
          <ul className={css.list}>
            {merchants.map(({ id, name }) => (
              <li key={id}>
                <MerchantLink id={id} name={name} />
              </li>
            ))}
          </ul>
        </Part>
      )}
      {users.length > 0 && (
        <Part title={t.users}>
          <Users users={users} />
        </Part>
      )}
    </>
  );
}

function Part({ title, children }: Readonly<{ title: string; children: ReactNode }>) {
  return (
    <section className={css.card} aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Addresses({ addresses }: Readonly<{ addresses: Found['addresses'] }>) {
  const t = useOperatorTexts().find;
  const names = [t.columns.network, t.columns.address, t.columns.role, t.columns.about];
  return (
    <Table label={t.addresses} columns={names.map((name) => ({ name }))}>
      {addresses.map((one) => (
        <tr key={`${one.network}/${one.address}`}>
          <td>{one.network}</td>
          <td className={css.code}>{one.address}</td>
          <td>{t.roles[one.role] ?? one.role}</td>
          <td className={css.code}>{one.paymentId ?? one.conversionId ?? '–'}</td>
        </tr>
      ))}
    </Table>
  );
}

function Users({ users }: Readonly<{ users: Found['users'] }>) {
  const t = useOperatorTexts().find;
  const names = [t.columns.email, t.columns.role, t.columns.merchant, t.columns.id];
  return (
    <Table label={t.users} columns={names.map((name) => ({ name }))}>
      {users.map((user) => (
        <tr key={user.id}>
          <td>
            {user.email}
            <div className={css.soft}>{user.displayName}</div>
          </td>
          <td>{user.role}</td>
          <td>{user.merchantId === null ? '–' : <MerchantLink id={user.merchantId} name={user.merchantName} />}</td>
          <td className={css.code}>{user.id}</td>
        </tr>
      ))}
    </Table>
  );
}
