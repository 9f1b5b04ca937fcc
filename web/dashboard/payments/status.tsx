import css from '../design/design.module.css';
import { useTexts } from '../texts/texts';
import type { PaymentStatus } from '../../../domain/payments/payment';

const tones: Readonly<Record<PaymentStatus, string | undefined>> = {
  AWAITING_CURRENCY: undefined,
  WAITING: undefined,
  PARTIALLY_PAID: css.warn,
  CROSS_CHAIN_PENDING: css.warn,
  CONFIRMING: css.busy,
  CONFIRMED: css.busy,
  SWEEP_QUEUED: css.busy,
  SETTLED: css.good,
  EXPIRED: undefined,
  CANCELLED: undefined,
  FAILED: css.bad,
};

export const isFinal = (status: string): boolean => ['SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED'].includes(status);

/** A status in words: colour only adds to them. */
export function Status({ status }: Readonly<{ status: string }>) {
  const t = useTexts();
  const tone = tones[status as PaymentStatus];
  return <span className={`${css.badge} ${tone ?? ''}`}>{t.statuses[status as PaymentStatus] ?? status}</span>;
}
