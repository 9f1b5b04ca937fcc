import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import type { Me } from '../api/queries';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, Skeleton } from '../design/feedback';
import { Pages } from '../design/table';
import { useTexts } from '../texts/texts';
import { CreateRefund } from './create-refund';
import type { Payment } from './data';
import { OneRefund, readRefunds, refundsPerPage } from './refund';

/** Refunds of a payment, for those who may see them. */
export function Refunds({ payment, me }: Readonly<{ payment: Payment; me: Me }>) {
  const t = useTexts();
  const [isCreating, setCreating] = useState(false);
  const [page, setPage] = useState(1);
  const list = useQuery({
    queryKey: ['refunds', payment._id, page],
    queryFn: () => readRefunds(payment._id, page),
    placeholderData: keepPreviousData,
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
        <OneRefund key={refund._id} refund={refund} me={me} />
      ))}
      {list.data && (
        <Pages
          page={page}
          total={list.data.total}
          perPage={refundsPerPage}
          link={(to, text) => <Button onClick={() => setPage(to)}>{text}</Button>}
        />
      )}
      {isCreating && <CreateRefund payment={payment} onEnd={() => setCreating(false)} />}
    </section>
  );
}
