import { keepPreviousData, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { client, payload } from '../api/client';
import { meQuery } from '../api/queries';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Loaded } from '../design/loaded';
import { Moment } from '../design/moment';
import { RowLink } from '../design/row-link';
import { useNumbers } from '../design/show';
import { Pages, Table } from '../design/table';
import { Page } from '../shell/page';
import { useTexts } from '../texts/texts';
import type { Widget } from './data';
import { useWidgetTexts } from './texts/use';

const perPage = 25;
const read = (page: number) => payload(client.GET('/api/v1/widgets', { params: { query: { page, limit: perPage } } }));

export function WidgetsPage() {
  const t = useWidgetTexts();
  const all = useTexts();
  const navigate = useNavigate();
  const { data: me } = useSuspenseQuery(meQuery);
  const [page, setPage] = useState(1);
  const list = useQuery({ queryKey: ['widgets', page], queryFn: () => read(page), placeholderData: keepPreviousData });
  const mayCreate = me !== null && mayCall(me, access.createWidget.may);
  return (
    <Page
      title={t.title}
      acts={
        <Button
          look="primary"
          reason={mayCreate ? undefined : all.needs('widgets:manage')}
          onClick={() => void navigate({ to: '/widgets/new' })}
        >
          {t.create}
        </Button>
      }
    >
      <section className={css.card} aria-label={t.title}>
        <Loaded query={list}>
          {({ items, total }) =>
            total === 0 ? (
              <p className={css.empty}>{t.none}</p>
            ) : (
              <>
                <Rows widgets={items} />
                <Pages
                  page={page}
                  total={total}
                  perPage={perPage}
                  link={(to, text) => <Button onClick={() => setPage(to)}>{text}</Button>}
                />
              </>
            )
          }
        </Loaded>
      </section>
    </Page>
  );
}

function Rows({ widgets }: Readonly<{ widgets: readonly Widget[] }>) {
  const t = useWidgetTexts();
  const all = useTexts();
  const numbers = useNumbers();
  const columns = [
    { name: t.name },
    { name: t.type },
    { name: t.status },
    { name: t.opens, isAmount: true },
    { name: t.payments, isAmount: true },
    { name: t.revenue, isAmount: true },
    { name: all.created },
  ];
  return (
    <Table label={t.title} columns={columns}>
      {widgets.map((widget) => (
        <tr key={widget.id}>
          <td>
            <RowLink to="/widgets" id={widget.id}>
              {widget.name}
            </RowLink>
          </td>
          <td>{t.types[widget.type as keyof typeof t.types]}</td>
          <td>
            <span className={`${css.badge} ${widget.isActive ? css.good : css.warn}`}>
              {widget.isActive ? t.on : t.off}
            </span>
          </td>
          <td className={css.end}>{numbers.count(widget.stats.opens)}</td>
          <td className={css.end}>{numbers.count(widget.stats.payments)}</td>
          <td className={css.end}>{numbers.fiat(widget.stats.paidUsd, 'USD')}</td>
          <td>
            <Moment at={widget.createdAt} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
