import type { WithdrawalStatus } from '../../../domain/withdrawals/withdrawal';
import { Badge, type Tone } from '../design/badge';
import { useMoneyTexts } from './section';

const tones: Readonly<Record<WithdrawalStatus, Tone>> = {
  pending: 'plain',
  awaiting_approval: 'warn',
  processing: 'busy',
  broadcast: 'busy',
  completed: 'good',
  failed: 'bad',
  cancelled: 'plain',
};

export const isOver = (status: string): boolean => ['completed', 'failed', 'cancelled'].includes(status);

export function WithdrawalBadge({ status }: Readonly<{ status: string }>) {
  const words = useMoneyTexts().withdrawals.statuses;
  const known = status as WithdrawalStatus;
  return <Badge tone={tones[known] ?? 'plain'} text={words[known] ?? status} />;
}
