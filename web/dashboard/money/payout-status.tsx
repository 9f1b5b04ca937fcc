import type { BatchStatus, LineStatus } from '../../../domain/payouts/payout';
import { Badge, type Tone } from '../design/badge';
import { useMoneyTexts } from './section';

const batchTones: Readonly<Record<BatchStatus, Tone>> = {
  awaiting_approval: 'warn',
  queued: 'plain',
  processing: 'busy',
  completed: 'good',
  partially_completed: 'warn',
  failed: 'bad',
  cancelled: 'plain',
};
const lineTones: Readonly<Record<LineStatus, Tone>> = {
  pending: 'plain',
  processing: 'busy',
  broadcast: 'busy',
  completed: 'good',
  failed: 'bad',
  refunded: 'plain',
};

export const isDone = (status: string): boolean =>
  ['completed', 'partially_completed', 'failed', 'cancelled'].includes(status);

export function BatchBadge({ status }: Readonly<{ status: string }>) {
  const words = useMoneyTexts().payouts.statuses;
  const known = status as BatchStatus;
  return <Badge tone={batchTones[known] ?? 'plain'} text={words[known] ?? status} />;
}

export function LineBadge({ status }: Readonly<{ status: string }>) {
  const words = useMoneyTexts().payouts.lineStatuses;
  const known = status as LineStatus;
  return <Badge tone={lineTones[known] ?? 'plain'} text={words[known] ?? status} />;
}
