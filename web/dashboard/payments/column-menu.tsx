import { Button } from '../design/button';
import { Checks } from '../design/checks';
import css from '../design/design.module.css';
import { Menu } from '../design/menu';
import { useTexts } from '../texts/texts';
import { columns, type ColumnName } from './columns';

/** Chooses the columns of the list. */
export function ColumnMenu(
  props: Readonly<{ shown: readonly ColumnName[]; onChange: (chosen: readonly ColumnName[] | null) => void }>,
) {
  const { shown, onChange } = props;
  const t = useTexts();
  return (
    <Menu name={t.payments.columns}>
      <Checks
        legend={t.payments.columnsShown}
        options={columns.map((value) => ({ value, text: t.payments.columnNames[value] }))}
        chosen={shown}
        onChange={onChange}
      />
      <div className={css.row}>
        <Button look="link" onClick={() => onChange(null)}>
          {t.payments.usualColumns}
        </Button>
      </div>
    </Menu>
  );
}
