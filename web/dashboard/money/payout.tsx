import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { client, payload } from '../api/client';
import { dated, save } from '../api/download';
import { currenciesQuery, type Me } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Facts } from '../design/facts';
import { ErrorNotice, Notice, Skeleton } from '../design/feedback';
import { Moment } from '../design/moment';
import { useNumbers } from '../design/show';
import { Table } from '../design/table';
import { Transaction } from '../payments/transaction';
import { DecisionDialog } from '../step-up/decision';
import { useStepUp } from '../step-up/step-up';
import { useSentence, useTexts } from '../texts/texts';
import { renewMoney } from './data';
import { BatchBadge, isDone, LineBadge } from './payout-status';
import { MoneyPage, useMoneyTexts } from './section';

const read = (id: string) => payload(client.GET('/api/v1/mass-payouts/{id}', { params: { path: { id } } }));
type Batch = Awaited<ReturnType<typeof read>>;

async function download(id: string): Promise<void> {
  const params = { path: { id } };
  const blob = await payload(client.GET('/api/v1/mass-payouts/{id}/export.csv', { params, parseAs: 'blob' }));
  save(blob as unknown as Blob, dated(`mass-payout-${id}`, 'csv'));
}

export function PayoutPage() {
  const words = useMoneyTexts().payouts;
  const { payoutId } = useParams({ from: '/signed-in/money/payouts/$payoutId' });
  const file = useAct(() => download(payoutId));
  return (
    <MoneyPage
      title={words.one}
      permission="mass-payouts:view"
      acts={() => (
        <Button busy={file.isBusy} onClick={() => void file.run()}>
          {words.result}
        </Button>
      )}
    >
      {(me) => (
        <>
          <ErrorNotice error={file.error} />
          <One payoutId={payoutId} me={me} />
        </>
      )}
    </MoneyPage>
  );
}

function One({ payoutId, me }: Readonly<{ payoutId: string; me: Me }>) {
  const words = useMoneyTexts().payouts;
  const query = useQuery({
    queryKey: ['payouts', 'one', payoutId],
    queryFn: () => read(payoutId),
    refetchInterval: ({ state }) => (state.data && isDone(state.data.status) ? 30_000 : 4000),
  });
  const batch = query.data;
  return (
    <>
      <p>
        <Link to="/money/payouts" search={{}}>
          {words.back}
        </Link>
      </p>
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Skeleton lines={8} />}
      {batch && (
        <>
          <Progress batch={batch} />
          {batch.status === 'awaiting_approval' && <Notice tone="warn">{words.waits}</Notice>}
          <Acts batch={batch} me={me} />
          <Summary batch={batch} />
          <Lines batch={batch} />
        </>
      )}
    </>
  );
}

function Progress({ batch }: Readonly<{ batch: Batch }>) {
  const words = useMoneyTexts().payouts;
  const { completed, failed, refunded } = batch.counts;
  const ended = completed + failed + refunded;
  return (
    <div className={css.row} aria-live="polite">
      {batch.label && <span className={css.big}>{batch.label}</span>}
      <BatchBadge status={batch.status} />
      <progress aria-label={words.progress} max={batch.rowCount} value={ended} />
      <span>{words.progressOf(completed, failed, refunded, batch.rowCount)}</span>
    </div>
  );
}

type Decision = 'approve' | 'cancel';

function Acts({ batch, me }: Readonly<{ batch: Batch; me: Me }>) {
  const t = useTexts();
  const words = useMoneyTexts().payouts;
  const [asked, setAsked] = useState<Decision | null>(null);
  const decisions: readonly Decision[] = [
    ...(batch.status === 'awaiting_approval' ? (['approve'] as const) : []),
    ...(batch.counts.pending > 0 && !isDone(batch.status) ? (['cancel'] as const) : []),
  ];
  if (!decisions.length && !asked) return null;
  const reasonOf = (decision: Decision): string | undefined =>
    !mayCall(me, access.cancelPayout.may)
      ? t.needs('mass-payouts:manage')
      : decision === 'approve' && batch.createdBy === me.email
        ? words.secondPerson
        : undefined;
  return (
    <div className={css.row}>
      {decisions.map((decision) => (
        <Button
          key={decision}
          look={decision === 'approve' ? 'primary' : 'danger'}
          reason={reasonOf(decision)}
          onClick={() => setAsked(decision)}
        >
          {words.decisions[decision].name}
        </Button>
      ))}
      {asked && <Decide batch={batch} decision={asked} onEnd={() => setAsked(null)} />}
    </div>
  );
}

function Decide(props: Readonly<{ batch: Batch; decision: Decision; onEnd: () => void }>) {
  const { batch, decision, onEnd } = props;
  const words = useMoneyTexts().payouts;
  const confirm = useStepUp();
  const params = { path: { id: batch._id } };
  const decide = (): Promise<unknown> =>
    decision === 'cancel'
      ? payload(client.POST('/api/v1/mass-payouts/{id}/cancel', { params }))
      : confirm('mass_payout', (body) => payload(client.POST('/api/v1/mass-payouts/{id}/approve', { params, body })));
  return (
    <DecisionDialog
      words={words.decisions[decision]}
      isApproval={decision === 'approve'}
      decide={decide}
      renew={() => renewMoney('payouts')}
      onEnd={onEnd}
    />
  );
}

function Summary({ batch }: Readonly<{ batch: Batch }>) {
  const t = useTexts();
  const words = useMoneyTexts().payouts;
  const numbers = useNumbers();
  const list = (amounts: Readonly<Record<string, string>>): string =>
    Object.entries(amounts)
      .map(([currency, amount]) => numbers.crypto(amount, currency))
      .join(', ');
  return (
    <section className={css.card} aria-label={t.payment.details}>
      <Facts
        facts={[
          [words.total, list(batch.totalsByCurrency)],
          [words.fees, list(batch.feeByCurrency)],
          [words.createdBy, batch.createdBy],
          [words.approvedBy, batch.approvedBy],
          [t.created, <Moment at={batch.createdAt} />],
          [words.completedAt, batch.completedAt && <Moment at={batch.completedAt} />],
        ]}
      />
    </section>
  );
}

function Lines({ batch }: Readonly<{ batch: Batch }>) {
  const t = useTexts();
  const words = useMoneyTexts().payouts;
  const sentence = useSentence();
  const numbers = useNumbers();
  const currencies = useQuery(currenciesQuery);
  const explorerOf = (of: string) => currencies.data?.find(({ currency }) => currency === of)?.explorerTxUrl;
  return (
    <section className={css.card} aria-labelledby="lines">
      <h2 id="lines">{words.lines}</h2>
      <Table
        label={words.lines}
        columns={[
          { name: words.row, isAmount: true },
          { name: t.payments.status },
          { name: words.gets, isAmount: true },
          { name: words.address },
          { name: t.payment.transactions },
        ]}
      >
        {batch.legs.map((line) => (
          <tr key={line._id}>
            <td className={css.end}>{numbers.count(line.rowIndex + 1)}</td>
            <td>
              <LineBadge status={line.status} />
              {line.merchantMessage && <p>{sentence(line.merchantMessage)}</p>}
            </td>
            <td className={css.end}>{numbers.crypto(line.netToDestination, line.currency)}</td>
            <td className={css.code}>
              {line.address}
              {line.destinationTag && ` / ${line.destinationTag}`}
            </td>
            <td>{line.txId ? <Transaction txId={line.txId} explorer={explorerOf(line.currency)} /> : '–'}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
