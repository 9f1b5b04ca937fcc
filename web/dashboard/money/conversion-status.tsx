import type { ConversionStatus } from '../../../domain/conversions/conversion';
import { Badge, type Tone } from '../design/badge';
import { useMoneyTexts } from './section';

const tones: Readonly<Record<ConversionStatus, Tone>> = {
  initializing: 'plain',
  pending: 'plain',
  processing: 'busy',
  completed: 'good',
  failed: 'bad',
  cancelled: 'plain',
};

export const hasEnded = (status: string): boolean => ['completed', 'failed', 'cancelled'].includes(status);

export function ConversionBadge({ status }: Readonly<{ status: string }>) {
  const words = useMoneyTexts().conversions.statuses;
  const known = status as ConversionStatus;
  return <Badge tone={tones[known] ?? 'plain'} text={words[known] ?? status} />;
}
