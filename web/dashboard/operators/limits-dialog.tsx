import { useState, type ReactNode } from 'react';
import { isAmount } from '../../../domain/money';
import { client, payload } from '../api/client';
import { Field } from '../design/field';
import type { Limits } from './data';
import { ReasonDialog } from './reason-dialog';
import { useOperatorTexts } from './texts/use';

type Typed = Readonly<{ dailyUsd: string; hourlyCount: string; approvalUsd: string }>;
const isGood = ({ dailyUsd, hourlyCount, approvalUsd }: Typed): boolean =>
  [dailyUsd, approvalUsd].every((usd) => usd.trim() === '' || isAmount(usd.trim())) &&
  /^\d{0,6}$/.test(hourlyCount.trim());

/** Sets what may leave: of one merchant, or without `merchantId` of all together. */
export function LimitsDialog(
  props: Readonly<{
    title: string;
    sure: ReactNode;
    merchantId?: string;
    limits: Limits['limits'];
    onEnd: () => void;
  }>,
) {
  const { title, sure, merchantId, limits, onEnd } = props;
  const t = useOperatorTexts().merchants;
  const [typed, setTyped] = useState<Typed>({
    dailyUsd: limits.dailyUsd ?? '',
    hourlyCount: limits.hourlyCount === null ? '' : String(limits.hourlyCount),
    approvalUsd: limits.approvalUsd ?? '',
  });
  const field = (name: keyof Typed) => ({
    label: t[name],
    hint: t.emptyIsNone,
    inputMode: 'decimal' as const,
    value: typed[name],
    onChange: (event: { target: { value: string } }) => setTyped({ ...typed, [name]: event.target.value }),
  });
  return (
    <ReasonDialog
      title={title}
      sure={sure}
      submit={t.changeLimits}
      missing={isGood(typed) ? undefined : t.amountWrong}
      act={async (reason, factor) => {
        const count = typed.hourlyCount.trim();
        const body = {
          ...(merchantId === undefined ? {} : { merchantId }),
          dailyUsd: typed.dailyUsd.trim() || null,
          hourlyCount: count === '' ? null : Number.parseInt(count, 10),
          approvalUsd: typed.approvalUsd.trim() || null,
          reason,
          ...factor,
        };
        await payload(client.POST('/api/v1/platform/egress-limits', { body }));
        return t.limitsChanged;
      }}
      onEnd={onEnd}
    >
      <Field {...field('dailyUsd')} />
      <Field {...field('hourlyCount')} />
      <Field {...field('approvalUsd')} />
    </ReasonDialog>
  );
}
