import { client, payload } from '../api/client';
import { Badge } from '../design/badge';
import css from '../design/design.module.css';
import { useNumbers } from '../design/show';
import { Table } from '../design/table';
import { useSentence, useTexts } from '../texts/texts';
import { useMoneyTexts } from './section';

export const validate = (rows: PayoutRow[]) =>
  payload(client.POST('/api/v1/mass-payouts/validate', { body: { rows } }));
export type PayoutRow = { currency: string; address: string; amount: string; destinationTag?: string };
export type Checked = Awaited<ReturnType<typeof validate>>;

/** Per currency what would leave, against what there is. */
export function Totals({ checked }: Readonly<{ checked: Checked }>) {
  const t = useTexts();
  const words = useMoneyTexts().payouts;
  const numbers = useNumbers();
  const { totalsByCurrency, feeByCurrency, balanceByCurrency, overBalanceCurrencies } = checked;
  const currencies = Object.entries(totalsByCurrency);
  if (!currencies.length) return null;
  return (
    <Table
      label={words.totals}
      columns={[
        { name: t.payments.currency },
        { name: words.total, isAmount: true },
        { name: words.fees, isAmount: true },
        { name: t.home.available, isAmount: true },
        { name: t.payments.status },
      ]}
    >
      {currencies.map(([currency, total]) => (
        <tr key={currency}>
          <td>{currency}</td>
          <td className={css.end}>{numbers.crypto(total, currency)}</td>
          <td className={css.end}>{numbers.crypto(feeByCurrency[currency] ?? '0', currency)}</td>
          <td className={css.end}>{numbers.crypto(balanceByCurrency[currency] ?? '0', currency)}</td>
          <td>
            {overBalanceCurrencies.includes(currency) ? (
              <Badge tone="bad" text={words.notCovered} />
            ) : (
              <Badge tone="good" text={words.covered} />
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Each row with what is wrong with it, at its place. */
export function CheckedRows({ rows }: Readonly<{ rows: Checked['rows'] }>) {
  const t = useTexts();
  const sentence = useSentence();
  const words = useMoneyTexts().payouts;
  const numbers = useNumbers();
  return (
    <Table
      label={words.rows}
      columns={[
        { name: words.row, isAmount: true },
        { name: words.address },
        { name: t.payment.amount, isAmount: true },
        { name: words.fee, isAmount: true },
        { name: t.payments.status },
      ]}
    >
      {rows.map(({ rowIndex, currency, address, amount, networkFee, valid, error }) => (
        <tr key={rowIndex}>
          <td className={css.end}>{numbers.count(rowIndex + 1)}</td>
          <td className={css.code}>{address}</td>
          <td className={css.end}>{numbers.crypto(amount, currency)}</td>
          <td className={css.end}>{networkFee === null ? '–' : numbers.crypto(networkFee, currency)}</td>
          <td>
            {valid ? (
              <Badge tone="good" text={words.valid} />
            ) : (
              <span className={css.error}>{error && (t.refusals[error] ?? sentence(error))}</span>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}
