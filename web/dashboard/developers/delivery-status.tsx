import css from '../design/design.module.css';
import type { Delivery } from './data';
import { useDeveloperTexts } from './texts/use';

const tones: Readonly<Record<string, string | undefined>> = {
  succeeded: css.good,
  failed: css.bad,
  retrying: css.warn,
  pending: css.busy,
};

export function DeliveryStatus({ status }: Readonly<{ status: Delivery['status'] }>) {
  const t = useDeveloperTexts();
  return <span className={`${css.badge} ${tones[status] ?? ''}`}>{t.deliveries.statuses[status]}</span>;
}
