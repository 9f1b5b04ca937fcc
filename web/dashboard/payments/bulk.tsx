import { useState } from 'react';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice } from '../design/feedback';
import { useTexts } from '../texts/texts';
import { CancelChosen } from './cancel-chosen';
import { mostChosen, type Chosen } from './chosen';
import { saveChosen } from './chosen-file';
import type { Row } from './read-list';

const isUnpaid = ({ status }: Row): boolean => status === 'WAITING' || status === 'AWAITING_CURRENCY';

/** Chooses all rows of the page that is shown, and acts on those that are chosen. */
export function Bulk(props: Readonly<{ shown: readonly Row[]; chosen: Chosen; mayManage: boolean }>) {
  const { shown, chosen, mayManage } = props;
  const t = useTexts();
  const words = t.bulk;
  const [isCancelling, setCancelling] = useState(false);
  const file = useAct((format: 'csv' | 'json') => saveChosen(format, [...chosen.rows.keys()]));
  // What the list shows of a payment is newer than what it was when it was chosen.
  const newest = new Map(shown.map((row) => [row._id, row]));
  const rows = [...chosen.rows.values()].map((row) => newest.get(row._id) ?? row);
  const unpaid = rows.filter(isUnpaid);
  const isWhole = shown.length > 0 && shown.every(({ _id }) => chosen.rows.has(_id));
  const whyNot = !mayManage ? t.needs('payments:manage') : unpaid.length === 0 ? words.noneUnpaid : undefined;
  return (
    <div className={css.stack} role="group" aria-label={words.title}>
      <div className={css.row}>
        <label className={css.pick}>
          <input type="checkbox" checked={isWhole} onChange={() => chosen.set(shown, !isWhole)} />
          {words.page}
        </label>
        <span aria-live="polite">{rows.length > 0 && words.chosen(rows.length)}</span>
        {rows.length > 0 && (
          <>
            <Button look="danger" reason={whyNot} onClick={() => setCancelling(true)}>
              {words.cancel}
            </Button>
            {(['csv', 'json'] as const).map((format) => (
              <Button key={format} busy={file.isBusy} onClick={() => void file.run(format)}>
                {words[format]}
              </Button>
            ))}
            <Button look="link" onClick={chosen.clear}>
              {words.clear}
            </Button>
          </>
        )}
      </div>
      {rows.length >= mostChosen && <p className={css.hint}>{words.most(mostChosen)}</p>}
      <ErrorNotice error={file.error} />
      {isCancelling && (
        <CancelChosen
          rows={unpaid}
          left={rows.length - unpaid.length}
          onCancelled={(row) => chosen.set([row], false)}
          onEnd={() => setCancelling(false)}
        />
      )}
    </div>
  );
}
