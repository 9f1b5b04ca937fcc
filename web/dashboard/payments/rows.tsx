import type { ReactNode } from 'react';
import css from '../design/design.module.css';
import { Moment } from '../design/moment';
import { RowLink } from '../design/row-link';
import { useNumbers } from '../design/show';
import { Table } from '../design/table';
import { useTexts } from '../texts/texts';
import type { Chosen } from './chosen';
import type { ColumnName } from './columns';
import type { Row } from './read-list';
import { Status } from './status';

const amounts: ReadonlySet<ColumnName> = new Set(['price', 'amount', 'received', 'net']);
const none = '–';

/** Payments below the columns that were chosen, each to be chosen itself. */
export function Rows(props: Readonly<{ rows: readonly Row[]; columns: readonly ColumnName[]; chosen: Chosen }>) {
  const { rows, columns, chosen } = props;
  const t = useTexts();
  const cells = useCells();
  return (
    <Table
      label={t.payments.title}
      columns={[
        { name: t.bulk.choose, isHidden: true },
        { name: t.payments.payment },
        ...columns.map((name) => ({ name: t.payments.columnNames[name], isAmount: amounts.has(name) })),
      ]}
    >
      {rows.map((row) => (
        <tr key={row._id}>
          <td>
            <label className={css.pick}>
              <input type="checkbox" checked={chosen.rows.has(row._id)} onChange={() => chosen.toggle(row)} />
              <span className={css.hidden}>{t.bulk.chooseOne(row.shortSlug)}</span>
            </label>
          </td>
          <td>
            <RowLink to="/payments" id={row._id} className={css.code!}>
              {row.shortSlug}
            </RowLink>
          </td>
          {columns.map((name) => (
            <td key={name} className={amounts.has(name) ? css.end : undefined}>
              {cells[name](row)}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

/** What stands in each column. */
function useCells(): Readonly<Record<ColumnName, (row: Row) => ReactNode>> {
  const t = useTexts();
  const numbers = useNumbers();
  const crypto = (row: Row, amount: number | undefined): string =>
    row.currency && amount !== undefined ? numbers.crypto(amount, row.currency) : none;
  const moment = (at: string | undefined): ReactNode => (at ? <Moment at={at} /> : none);
  return {
    status: (row) => (
      <>
        <Status status={row.status} />
        {row.exceptions.map((exception) => (
          <span key={exception} className={`${css.badge} ${css.warn}`}>
            {t.exceptions[exception]}
          </span>
        ))}
      </>
    ),
    price: (row) => numbers.fiat(row.fiatAmount, row.fiatCurrency),
    amount: (row) => crypto(row, row.amount),
    received: (row) => crypto(row, row.amountPaid),
    net: (row) => crypto(row, row.netAmount),
    order: (row) => row.merchantOrderId ?? none,
    created: (row) => moment(row.createdAt),
    expires: (row) => moment(row.expiresAt),
    changed: (row) => moment(row.updatedAt),
  };
}
