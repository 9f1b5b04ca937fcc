import { useState } from 'react';
import { client, payload } from '../api/client';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ConfirmDialog } from '../design/confirm';
import { useToast } from '../design/feedback';
import { Field } from '../design/field';
import { useTexts } from '../texts/texts';
import { renewPayment, type Payment } from './data';

type Decision = 'cancel' | 'acceptUnderpaid' | 'acceptCrossChain' | 'rejectCrossChain';

/** The acts that the state of a payment allows; the API decides in the end. */
function decisionsOf({ status, exceptions }: Payment): Decision[] {
  if (status === 'WAITING' || status === 'AWAITING_CURRENCY') return ['cancel'];
  if (status === 'CROSS_CHAIN_PENDING') return ['acceptCrossChain', 'rejectCrossChain'];
  if (status === 'PARTIALLY_PAID') return ['acceptUnderpaid'];
  if (status === 'FAILED' && exceptions.includes('underpaid')) return ['acceptUnderpaid'];
  return [];
}

function decide(decision: Decision, paymentId: string, reason: string): Promise<unknown> {
  const params = { path: { paymentId } };
  const body = { confirm: true } as const;
  switch (decision) {
    case 'cancel':
      return payload(client.POST('/api/v1/payments/{paymentId}/cancel', { params, body: reason ? { reason } : {} }));
    case 'acceptUnderpaid':
      return payload(client.POST('/api/v1/payments/{paymentId}/accept-underpaid', { params, body }));
    case 'acceptCrossChain':
      return payload(client.POST('/api/v1/payments/{paymentId}/accept-cross-chain', { params, body }));
    case 'rejectCrossChain':
      return payload(client.POST('/api/v1/payments/{paymentId}/reject-cross-chain', { params }));
  }
}

export function PaymentActs({ payment, mayManage }: Readonly<{ payment: Payment; mayManage: boolean }>) {
  const t = useTexts();
  const [asked, setAsked] = useState<Decision | null>(null);
  const decisions = decisionsOf(payment);
  if (!decisions.length) return null;
  return (
    <div className={css.row}>
      {decisions.map((decision) => (
        <Button
          key={decision}
          look={decision === 'cancel' || decision === 'rejectCrossChain' ? 'danger' : 'plain'}
          reason={mayManage ? undefined : t.needs('payments:manage')}
          onClick={() => setAsked(decision)}
        >
          {t.decisions[decision].name}
        </Button>
      ))}
      {asked && <Decide payment={payment} decision={asked} onEnd={() => setAsked(null)} />}
    </div>
  );
}

function Decide(props: Readonly<{ payment: Payment; decision: Decision; onEnd: () => void }>) {
  const { payment, decision, onEnd } = props;
  const t = useTexts();
  const toast = useToast();
  const words = t.decisions[decision];
  const [reason, setReason] = useState('');
  const act = async (): Promise<boolean> => {
    try {
      await decide(decision, payment._id, reason.trim());
    } finally {
      await renewPayment();
    }
    toast(words.done);
    return true;
  };
  return (
    <ConfirmDialog title={words.name} sure={words.sure} act={act} onEnd={onEnd}>
      {decision === 'cancel' && (
        <Field
          label={t.payment.reason}
          hint={t.payment.reasonHint}
          maxLength={256}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      )}
    </ConfirmDialog>
  );
}
