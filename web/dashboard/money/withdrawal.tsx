import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { client, payload } from '../api/client';
import { currenciesQuery, type Me } from '../api/queries';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Facts } from '../design/facts';
import { ErrorNotice, Notice, Skeleton } from '../design/feedback';
import { Moment } from '../design/moment';
import { Copy, useNumbers } from '../design/show';
import { Transaction } from '../payments/transaction';
import { DecisionDialog } from '../step-up/decision';
import { useStepUp } from '../step-up/step-up';
import { useSentence, useTexts } from '../texts/texts';
import { renewMoney } from './data';
import { MoneyPage, useMoneyTexts } from './section';
import { isOver, WithdrawalBadge } from './withdrawal-status';

const read = (withdrawalId: string) =>
  payload(client.GET('/api/v1/withdrawals/{withdrawalId}', { params: { path: { withdrawalId } } }));
type Withdrawal = Awaited<ReturnType<typeof read>>;

export function WithdrawalPage() {
  const words = useMoneyTexts().withdrawal;
  const { withdrawalId } = useParams({ from: '/signed-in/money/withdrawals/$withdrawalId' });
  return (
    <MoneyPage title={words.title} permission="withdrawals:view">
      {(me) => <One withdrawalId={withdrawalId} me={me} />}
    </MoneyPage>
  );
}

function One({ withdrawalId, me }: Readonly<{ withdrawalId: string; me: Me }>) {
  const words = useMoneyTexts().withdrawal;
  const sentence = useSentence();
  const numbers = useNumbers();
  const query = useQuery({
    queryKey: ['withdrawals', 'one', withdrawalId],
    queryFn: () => read(withdrawalId),
    refetchInterval: ({ state }) => (state.data && isOver(state.data.status) ? 15_000 : 2500),
  });
  const one = query.data;
  return (
    <>
      <p>
        <Link to="/money/withdrawals" search={{}}>
          {words.back}
        </Link>
      </p>
      {query.isError && <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Skeleton lines={6} />}
      {one && (
        <>
          <div className={css.row} aria-live="polite">
            <span className={css.big}>{numbers.crypto(one.amount, one.currency)}</span>
            <WithdrawalBadge status={one.status} />
          </div>
          {one.merchantMessage && (
            <Notice tone={one.status === 'failed' ? 'bad' : 'warn'}>{sentence(one.merchantMessage)}</Notice>
          )}
          {one.status === 'awaiting_approval' && <Notice tone="warn">{words.waits}</Notice>}
          <Acts one={one} me={me} />
          <Details one={one} />
        </>
      )}
    </>
  );
}

type Decision = 'cancel' | 'approve' | 'reject';

function Acts({ one, me }: Readonly<{ one: Withdrawal; me: Me }>) {
  const t = useTexts();
  const words = useMoneyTexts().withdrawal;
  const [asked, setAsked] = useState<Decision | null>(null);
  const decisions: readonly Decision[] =
    one.status === 'awaiting_approval' ? ['approve', 'reject', 'cancel'] : one.status === 'pending' ? ['cancel'] : [];
  if (!decisions.length && !asked) return null;
  const mayDecide = mayCall(me, access.approveWithdrawal.may);
  const reasonOf = (decision: Decision): string | undefined =>
    !mayDecide
      ? t.needs('withdrawals:manage')
      : decision === 'approve' && one.requestedBy === me.email
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
      {asked && <Decide one={one} decision={asked} onEnd={() => setAsked(null)} />}
    </div>
  );
}

function Decide(props: Readonly<{ one: Withdrawal; decision: Decision; onEnd: () => void }>) {
  const { one, decision, onEnd } = props;
  const words = useMoneyTexts().withdrawal;
  const numbers = useNumbers();
  const confirm = useStepUp();
  const params = { path: { withdrawalId: one._id } };
  const decide = (): Promise<unknown> =>
    decision === 'cancel'
      ? payload(client.POST('/api/v1/withdrawals/{withdrawalId}/cancel', { params }))
      : confirm('withdrawal', (body) =>
          decision === 'approve'
            ? payload(client.POST('/api/v1/withdrawals/{withdrawalId}/approve', { params, body }))
            : payload(client.POST('/api/v1/withdrawals/{withdrawalId}/reject', { params, body })),
        );
  return (
    <DecisionDialog
      words={words.decisions[decision]}
      isApproval={decision === 'approve'}
      decide={decide}
      renew={() => renewMoney('withdrawals')}
      onEnd={onEnd}
    >
      <Facts
        facts={[
          [words.gets, numbers.crypto(one.netToDestination, one.currency)],
          [words.address, <span className={css.code}>{one.address}</span>],
          [words.tag, one.destinationTag],
        ]}
      />
    </DecisionDialog>
  );
}

function Details({ one }: Readonly<{ one: Withdrawal }>) {
  const t = useTexts();
  const words = useMoneyTexts().withdrawal;
  const numbers = useNumbers();
  const currencies = useQuery(currenciesQuery);
  const explorer = currencies.data?.find(({ currency }) => currency === one.currency)?.explorerTxUrl;
  return (
    <section className={css.card} aria-label={t.payment.details}>
      <Facts
        facts={[
          [words.gets, numbers.crypto(one.netToDestination, one.currency)],
          [words.fee, numbers.crypto(one.networkFee, one.currency)],
          [words.address, <Copy value={one.address} label={words.address} />],
          [words.tag, one.destinationTag],
          [words.note, one.note],
          [words.requestedBy, one.requestedBy],
          [words.approvedBy, one.approvedBy],
          [t.created, <Moment at={one.createdAt} />],
          [words.sentAt, one.broadcastAt && <Moment at={one.broadcastAt} />],
          [words.completedAt, one.completedAt && <Moment at={one.completedAt} />],
          [t.payment.transactions, one.txId && <Transaction txId={one.txId} explorer={explorer} />],
          [words.confirmations, one.txId && numbers.count(one.confirmations)],
          [words.id, <Copy value={one._id} label={words.id} />],
        ]}
      />
    </section>
  );
}
