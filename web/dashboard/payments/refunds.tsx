import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { client, payload } from '../api/client';
import { currenciesQuery, type Me } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, Skeleton, useToast } from '../design/feedback';
import { Moment } from '../design/moment';
import { Copy, useNumbers } from '../design/show';
import { useTexts } from '../texts/texts';
import { renewPayment, type Payment } from './data';
import { CreateRefund } from './create-refund';
import { Transaction } from './transaction';

const read = (paymentId: string) =>
  payload(
    client.GET('/api/v1/payments/{paymentId}/refunds', { params: { path: { paymentId }, query: { limit: 100 } } }),
  );
type Refund = Awaited<ReturnType<typeof read>>['items'][number];

/** Refunds of a payment, for those who may see them. */
export function Refunds({ payment, me }: Readonly<{ payment: Payment; me: Me }>) {
  const t = useTexts();
  const [isCreating, setCreating] = useState(false);
  const list = useQuery({
    queryKey: ['refunds', payment._id],
    queryFn: () => read(payment._id),
    refetchInterval: 10_000,
  });
  const mayCreate = mayCall(me, access.createRefund.may);
  const hasMoney = payment.amountPaid > 0 || payment.receivedOther.length > 0;
  if (!hasMoney && !list.data?.total) return null;
  return (
    <section className={css.card} aria-labelledby="refunds">
      <div className={`${css.row} ${css.between}`}>
        <h2 id="refunds">{t.refunds.title}</h2>
        {hasMoney && (
          <Button reason={mayCreate ? undefined : t.needs('payments:manage')} onClick={() => setCreating(true)}>
            {t.refunds.create}
          </Button>
        )}
      </div>
      {list.isPending && <Skeleton lines={2} />}
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.data?.total === 0 && <p className={css.soft}>{t.refunds.none}</p>}
      {list.data?.items.map((refund) => (
        <OneRefund key={refund._id} refund={refund} mayCancel={mayCreate} />
      ))}
      {isCreating && <CreateRefund payment={payment} onEnd={() => setCreating(false)} />}
    </section>
  );
}

const cancellable = ['awaiting_address', 'awaiting_approval', 'pending'];

function OneRefund({ refund, mayCancel }: Readonly<{ refund: Refund; mayCancel: boolean }>) {
  const t = useTexts();
  const numbers = useNumbers();
  const toast = useToast();
  const currencies = useQuery(currenciesQuery);
  const explorer = currencies.data?.find(({ currency }) => currency === refund.currency)?.explorerTxUrl;
  const act = useAct(async () => {
    await payload(client.POST('/api/v1/refunds/{refundId}/cancel', { params: { path: { refundId: refund._id } } }));
    await renewPayment();
    toast(t.refunds.cancelled);
  });
  return (
    <div className={css.stack}>
      <div className={css.row}>
        <strong>{numbers.crypto(refund.amount, refund.currency)}</strong>
        <span className={css.badge}>{t.refunds.statuses[refund.status]}</span>
        <Moment at={refund.createdAt} />
        {cancellable.includes(refund.status) && (
          <Button
            look="link"
            busy={act.isBusy}
            reason={mayCancel ? undefined : t.needs('payments:manage')}
            onClick={() => void act.run()}
          >
            {t.refunds.cancel}
          </Button>
        )}
      </div>
      <ErrorNotice error={act.error} />
      {refund.merchantMessage && <p>{refund.merchantMessage}</p>}
      {refund.claimUrl && (
        <div>
          <p className={css.soft}>{t.refunds.claimWhy}</p>
          <Copy value={refund.claimUrl} label={t.refunds.claim} />
        </div>
      )}
      {refund.txId && <Transaction txId={refund.txId} explorer={explorer} />}
    </div>
  );
}
