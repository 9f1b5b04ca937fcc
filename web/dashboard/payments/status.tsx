import { Badge, type Tone } from '../design/badge';
import { useTexts } from '../texts/texts';
import type { PaymentStatus } from '../../../domain/payments/payment';

const tones: Readonly<Record<PaymentStatus, Tone>> = {
  AWAITING_CURRENCY: 'plain',
  WAITING: 'plain',
  PARTIALLY_PAID: 'warn',
  CROSS_CHAIN_PENDING: 'warn',
  CONFIRMING: 'busy',
  CONFIRMED: 'busy',
  SWEEP_QUEUED: 'busy',
  SETTLED: 'good',
  EXPIRED: 'plain',
  CANCELLED: 'plain',
  FAILED: 'bad',
};

export const isFinal = (status: string): boolean => ['SETTLED', 'EXPIRED', 'CANCELLED', 'FAILED'].includes(status);

export function Status({ status }: Readonly<{ status: string }>) {
  const t = useTexts();
  const known = status as PaymentStatus;
  return <Badge tone={tones[known] ?? 'plain'} text={t.statuses[known] ?? status} />;
}
