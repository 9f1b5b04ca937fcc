import { useState, type ReactNode } from 'react';
import { loosened, type OutboundLimits } from '../../../domain/limits/limits';
import { isAmount } from '../../../domain/money';
import { client, payload } from '../api/client';
import { Field } from '../design/field';
import { changedLimits, isCount, typedOf, type TypedLimits } from '../money/typed-limits';
import type { Limits } from './data';
import { ReasonDialog } from './reason-dialog';
import { useOperatorTexts } from './texts/use';

const isGood = ({ dailyUsd, hourlyCount, approvalUsd }: TypedLimits): boolean =>
  [dailyUsd, approvalUsd].every((usd) => usd.trim() === '' || isAmount(usd.trim())) && isCount(hourlyCount);

/** The payload of a request for looser limits: what is not changed stays the same. */
function askedOf(merchantId: string | undefined, changes: Partial<OutboundLimits>): Record<string, string> {
  const textOf = (name: keyof OutboundLimits): string => {
    const value = changes[name];
    return value === undefined ? 'same' : value === null ? 'none' : String(value);
  };
  return {
    merchantId: merchantId ?? 'platform',
    dailyUsd: textOf('dailyUsd'),
    hourlyCount: textOf('hourlyCount'),
    approvalUsd: textOf('approvalUsd'),
  };
}

/** Sets what may leave: of one merchant, or without `merchantId` of all together. Tighter limits count at once; looser
 *  ones are asked for, and two operators confirm them. */
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
  const { merchants: t, requests } = useOperatorTexts();
  const [shown] = useState(limits);
  const [typed, setTyped] = useState(typedOf(shown));
  const field = (name: keyof TypedLimits) => ({
    label: t[name],
    hint: t.emptyIsNone,
    inputMode: 'decimal' as const,
    value: typed[name],
    onChange: (event: { target: { value: string } }) => setTyped({ ...typed, [name]: event.target.value }),
  });
  const changes = isGood(typed) ? changedLimits(typed, shown) : {};
  const isLooser = loosened(shown, { ...shown, ...changes }).length > 0;
  return (
    <ReasonDialog
      title={title}
      sure={isLooser ? t.looser : sure}
      submit={isLooser ? t.askLooser : t.changeLimits}
      missing={isGood(typed) ? undefined : t.amountWrong}
      act={async (reason, factor) => {
        if (isLooser) {
          const body = { kind: 'loosen-limits' as const, payload: askedOf(merchantId, changes), reason, ...factor };
          await payload(client.POST('/api/v1/platform/operator-requests', { body }));
          return requests.filed;
        }
        const body = { ...(merchantId === undefined ? {} : { merchantId }), ...changes, reason, ...factor };
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
