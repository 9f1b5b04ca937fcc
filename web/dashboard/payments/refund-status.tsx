import type { RefundStatus } from '../../../domain/refunds/refund';
import { Badge, type Tone } from '../design/badge';
import { useTexts } from '../texts/texts';

const tones: Readonly<Record<RefundStatus, Tone>> = {
  awaiting_address: 'warn',
  awaiting_approval: 'warn',
  pending: 'plain',
  processing: 'busy',
  broadcast: 'busy',
  completed: 'good',
  failed: 'bad',
  cancelled: 'plain',
};

export function RefundBadge({ status }: Readonly<{ status: string }>) {
  const t = useTexts();
  return <Badge tone={tones[status as RefundStatus] ?? 'plain'} text={t.refunds.statuses[status] ?? status} />;
}
