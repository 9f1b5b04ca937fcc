import { useState, type ReactNode } from 'react';
import { isAmount } from '../../../domain/money';
import { client, payload } from '../api/client';
import { Field } from '../design/field';
import { changedLimits, isCount, typedOf, type TypedLimits } from '../money/typed-limits';
import type { Limits } from './data';
import { ReasonDialog } from './reason-dialog';
import { useOperatorTexts } from './texts/use';

const isGood = ({ dailyUsd, hourlyCount, approvalUsd }: TypedLimits): boolean =>
  [dailyUsd, approvalUsd].every((usd) => usd.trim() === '' || isAmount(usd.trim())) && isCount(hourlyCount);

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
  const [shown] = useState(limits);
  const [typed, setTyped] = useState(typedOf(shown));
  const field = (name: keyof TypedLimits) => ({
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
        const body = {
          ...(merchantId === undefined ? {} : { merchantId }),
          ...changedLimits(typed, shown),
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
