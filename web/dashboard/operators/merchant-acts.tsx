import { useState } from 'react';
import { isFeeBps } from '../../../domain/pricing/quote';
import { client, payload } from '../api/client';
import { Field } from '../design/field';
import type { Limits, MerchantPage } from './data';
import { LimitsDialog } from './limits-dialog';
import { ReasonDialog } from './reason-dialog';
import { useOperatorTexts } from './texts/use';

/** What an operator sets for one merchant. */

type Props = Readonly<{ merchant: MerchantPage; onEnd: () => void }>;
const pathOf = ({ id }: MerchantPage) => ({ path: { merchantId: id } });

export function ChangeStatus({ merchant, onEnd }: Props) {
  const t = useOperatorTexts().merchants;
  const isActive = merchant.status === 'active';
  const params = pathOf(merchant);
  const submit = isActive ? t.suspend : t.lift;
  return (
    <ReasonDialog
      title={`${submit}: ${merchant.name}`}
      sure={isActive ? t.suspendSure : t.liftSure}
      submit={submit}
      isDanger={isActive}
      act={async (reason, factor) => {
        const body = { reason, ...factor };
        if (isActive) await payload(client.POST('/api/v1/platform/merchants/{merchantId}/suspend', { params, body }));
        else await payload(client.POST('/api/v1/platform/merchants/{merchantId}/activate', { params, body }));
        return isActive ? t.suspended : t.lifted;
      }}
      onEnd={onEnd}
    />
  );
}

export function ChangeFee({ merchant, onEnd }: Props) {
  const t = useOperatorTexts().merchants;
  const [typed, setTyped] = useState(String(merchant.feeBps));
  const feeBps = /^\d{1,4}$/.test(typed.trim()) ? Number.parseInt(typed, 10) : 0;
  const error = isFeeBps(feeBps) ? undefined : t.feeWrong;
  return (
    <ReasonDialog
      title={`${t.changeFee}: ${merchant.name}`}
      sure={t.feeBpsHint}
      submit={t.changeFee}
      missing={error}
      act={async (reason, factor) => {
        const body = { feeBps, reason, ...factor };
        const params = pathOf(merchant);
        await payload(client.POST('/api/v1/platform/merchants/{merchantId}/fee', { params, body }));
        return t.feeChanged;
      }}
      onEnd={onEnd}
    >
      <Field
        label={t.feeBps}
        inputMode="numeric"
        value={typed}
        error={error}
        onChange={(event) => setTyped(event.target.value)}
      />
    </ReasonDialog>
  );
}

export function ChangeLimits({ merchant, limits, onEnd }: Props & Readonly<{ limits: Limits['limits'] }>) {
  const t = useOperatorTexts().merchants;
  return (
    <LimitsDialog
      title={`${t.changeLimits}: ${merchant.name}`}
      sure={t.limitsHint}
      merchantId={merchant.id}
      limits={limits}
      onEnd={onEnd}
    />
  );
}
