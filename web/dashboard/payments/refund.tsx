import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { isByLightning } from '../../../domain/lightning/currency';
import { client, payload } from '../api/client';
import { currenciesQuery, type Me } from '../api/queries';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Facts } from '../design/facts';
import { Moment } from '../design/moment';
import { Code, Copy, useNumbers } from '../design/show';
import { DecisionDialog } from '../step-up/decision';
import { useStepUp } from '../step-up/step-up';
import { useSentence, useTexts } from '../texts/texts';
import { renewPayment } from './data';
import { RefundBadge } from './refund-status';
import { Transaction } from './transaction';

export const refundsPerPage = 10;
export const readRefunds = (paymentId: string, page: number) =>
  payload(
    client.GET('/api/v1/payments/{paymentId}/refunds', {
      params: { path: { paymentId }, query: { page, limit: refundsPerPage } },
    }),
  );
type Refund = Awaited<ReturnType<typeof readRefunds>>['items'][number];

type Decision = 'approve' | 'reject' | 'cancel';
const decisionsIn: Readonly<Partial<Record<Refund['status'], readonly Decision[]>>> = {
  awaiting_approval: ['approve', 'reject', 'cancel'],
  awaiting_address: ['cancel'],
  pending: ['cancel'],
};
const rightOf = { approve: access.approveRefund, reject: access.rejectRefund, cancel: access.cancelRefund };

/** One refund of a payment, and what a person may decide about it. */
export function OneRefund({ refund, me }: Readonly<{ refund: Refund; me: Me }>) {
  const t = useTexts();
  const sentence = useSentence();
  const numbers = useNumbers();
  const currencies = useQuery(currenciesQuery);
  const [asked, setAsked] = useState<Decision | null>(null);
  const explorer = currencies.data?.find(({ currency }) => currency === refund.currency)?.explorerTxUrl;
  return (
    <div className={css.stack}>
      <div className={css.row}>
        <strong>{numbers.crypto(refund.amount, refund.currency)}</strong>
        <RefundBadge status={refund.status} />
        <Moment at={refund.createdAt} />
        {decisionsIn[refund.status]?.map((decision) => (
          <Button
            key={decision}
            look={decision === 'approve' ? 'primary' : 'link'}
            reason={mayCall(me, rightOf[decision].may) ? undefined : t.needs('payments:manage')}
            onClick={() => setAsked(decision)}
          >
            {t.refunds.decisions[decision].name}
          </Button>
        ))}
      </div>
      {refund.merchantMessage && <p>{sentence(refund.merchantMessage)}</p>}
      {refund.claimUrl && (
        <div>
          <p className={css.soft}>{t.refunds.claimWhy}</p>
          <Copy value={refund.claimUrl} label={t.refunds.claim} />
        </div>
      )}
      {refund.txId && <Transaction txId={refund.txId} explorer={explorer} />}
      {asked && <Decide refund={refund} decision={asked} onEnd={() => setAsked(null)} />}
    </div>
  );
}

function Decide(props: Readonly<{ refund: Refund; decision: Decision; onEnd: () => void }>) {
  const { refund, decision, onEnd } = props;
  const t = useTexts();
  const numbers = useNumbers();
  const confirm = useStepUp();
  const params = { path: { refundId: refund._id } };
  const decide = (): Promise<unknown> =>
    decision === 'cancel'
      ? payload(client.POST('/api/v1/refunds/{refundId}/cancel', { params }))
      : confirm('refund', (body) =>
          decision === 'approve'
            ? payload(client.POST('/api/v1/refunds/{refundId}/approve', { params, body }))
            : payload(client.POST('/api/v1/refunds/{refundId}/reject', { params, body })),
        );
  return (
    <DecisionDialog
      words={t.refunds.decisions[decision]}
      isApproval={decision === 'approve'}
      decide={decide}
      renew={renewPayment}
      onEnd={onEnd}
    >
      <Facts
        facts={[
          [t.refunds.counts, numbers.crypto(refund.amount, refund.currency)],
          [t.refunds.fee, numbers.crypto(refund.networkFee, refund.currency)],
          [t.refunds.gets, numbers.crypto(refund.netToDestination, refund.currency)],
          [
            isByLightning(refund.currency) ? t.refunds.invoice : t.refunds.address,
            refund.address === null ? t.refunds.payerNames : <Code value={refund.address} />,
          ],
          [t.refunds.tag, refund.destinationTag],
          [t.payment.reason, refund.reason],
        ]}
      />
    </DecisionDialog>
  );
}
