import { useState } from 'react';
import { client, payload } from '../api/client';
import { ApiError } from '../api/errors';
import { useAct } from '../design/act';
import { Badge } from '../design/badge';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Dialog } from '../design/dialog';
import { ErrorNotice, Notice, useToast } from '../design/feedback';
import { Field } from '../design/field';
import { useTexts } from '../texts/texts';
import { renewPayment } from './data';
import type { Row } from './read-list';

/** How the act on one payment ended; an error is why it was refused. */
type Outcome = 'done' | Readonly<{ error: unknown }>;

const isOver = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status === 401 || error.status === 429);

/** Cancels unpaid payments, one after the other, and says of each what became of it. A refused one stays chosen. */
export function CancelChosen(
  props: Readonly<{ rows: readonly Row[]; left: number; onCancelled: (row: Row) => void; onEnd: () => void }>,
) {
  const { left, onCancelled, onEnd } = props;
  const t = useTexts();
  const words = t.bulk;
  const toast = useToast();
  const [rows] = useState(props.rows); // those that were chosen when it was asked for, whatever the list shows meanwhile
  const [reason, setReason] = useState('');
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const act = useAct(async () => {
    const ended = new Map<string, Outcome>();
    const body = reason.trim() ? { reason: reason.trim() } : {};
    try {
      for (const row of rows) {
        const outcome = await cancel(row._id, body);
        ended.set(row._id, outcome);
        setOutcomes(new Map(ended));
        if (outcome === 'done') onCancelled(row);
        else if (isOver(outcome.error)) break; // the next one would be told the same
      }
    } finally {
      await renewPayment();
    }
    const count = [...ended.values()].filter((outcome) => outcome === 'done').length;
    toast(words.cancelled(count));
    if (count === rows.length) onEnd();
  });
  const leave = (): void => {
    if (!act.isBusy) onEnd();
  };
  const isAsking = outcomes.size === 0;
  return (
    <Dialog title={words.cancel} onClose={leave}>
      <form
        className={css.stack}
        onSubmit={(event) => {
          event.preventDefault();
          if (isAsking) void act.run();
        }}
      >
        {isAsking && <Notice tone="warn">{words.cancelSure(rows.length)}</Notice>}
        {isAsking && left > 0 && <p className={css.hint}>{words.notUnpaid(left)}</p>}
        <Outcomes rows={rows} outcomes={outcomes} isBusy={act.isBusy} />
        {isAsking && (
          <Field
            label={t.payment.reason}
            hint={t.payment.reasonHint}
            maxLength={256}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        )}
        <div className={css.row}>
          {(isAsking || act.isBusy) && (
            <Button type="submit" look="danger" busy={act.isBusy}>
              {words.cancelNow(rows.length)}
            </Button>
          )}
          <Button onClick={leave}>{t.back}</Button>
        </div>
      </form>
    </Dialog>
  );
}

async function cancel(paymentId: string, body: { reason?: string }): Promise<Outcome> {
  try {
    await payload(client.POST('/api/v1/payments/{paymentId}/cancel', { params: { path: { paymentId } }, body }));
    return 'done';
  } catch (error) {
    return { error };
  }
}

function Outcomes(props: Readonly<{ rows: readonly Row[]; outcomes: ReadonlyMap<string, Outcome>; isBusy: boolean }>) {
  const { rows, outcomes, isBusy } = props;
  const { bulk: words } = useTexts();
  return (
    <ul className={css.list} aria-label={words.outcomes}>
      {rows.map(({ _id, shortSlug }) => {
        const outcome = outcomes.get(_id);
        return (
          <li key={_id} className={css.stack}>
            <div className={css.row}>
              <span className={css.code}>{shortSlug}</span>
              {outcome === 'done' && <Badge tone="good" text={words.done} />}
              {outcome === undefined && outcomes.size > 0 && (
                <Badge tone="plain" text={isBusy ? words.waits : words.notTried} />
              )}
            </div>
            {outcome !== undefined && outcome !== 'done' && <ErrorNotice error={outcome.error} />}
          </li>
        );
      })}
    </ul>
  );
}
