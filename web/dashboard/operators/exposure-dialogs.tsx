import { useState } from 'react';
import { pairModes, type PairMode } from '../../../domain/conversions/conversion';
import { isAmount } from '../../../domain/money';
import { client, payload } from '../api/client';
import { Choice, Field } from '../design/field';
import type { Exposure } from './data';
import { ReasonDialog } from './reason-dialog';
import { useOperatorTexts } from './texts/use';

/** What an operator sets about conversions. */

/** Dollars, or nothing at all. */
const isUsd = (typed: string): boolean => typed.trim() === '' || isAmount(typed.trim());

/** Bounds what the platform holds of one asset by converting. */
export function LimitPosition({ asset, onEnd }: Readonly<{ asset: Exposure['assets'][number]; onEnd: () => void }>) {
  const t = useOperatorTexts().limits;
  const [usd, setUsd] = useState(asset.limitUsd ?? '');
  const [beyond, setBeyond] = useState<'external' | 'off'>(asset.beyond);
  const error = isUsd(usd) ? undefined : t.usdWrong;
  const title = t.limitOf(asset.currency);
  return (
    <ReasonDialog
      title={title}
      sure={t.limitSure}
      submit={title}
      missing={error}
      act={async (reason, factor) => {
        const params = { path: { currency: asset.currency } };
        const body = { limitUsd: usd.trim() || null, beyond, reason, ...factor };
        await payload(client.POST('/api/v1/platform/exposure/{currency}', { params, body }));
        return t.limited;
      }}
      onEnd={onEnd}
    >
      <Field
        label={t.limitUsd}
        hint={t.emptyIsNone}
        inputMode="decimal"
        value={usd}
        error={error}
        onChange={(event) => setUsd(event.target.value)}
      />
      <Choice<'external' | 'off'>
        label={t.beyond}
        value={beyond}
        options={[
          ['external', t.beyonds['external']!],
          ['off', t.beyonds['off']!],
        ]}
        onChange={setBeyond}
      />
    </ReasonDialog>
  );
}

/** Says how a pair is converted; `pair` null: one that is chosen here. */
export function SetPair(
  props: Readonly<{ currencies: readonly string[]; pair: Exposure['pairs'][number] | null; onEnd: () => void }>,
) {
  const { currencies, pair, onEnd } = props;
  const t = useOperatorTexts().limits;
  const [from, setFrom] = useState(pair?.fromCurrency ?? currencies[0] ?? '');
  const [to, setTo] = useState(pair?.toCurrency ?? currencies[1] ?? '');
  const [mode, setMode] = useState<PairMode>(pair?.mode ?? 'off');
  const [usd, setUsd] = useState(pair?.maximumUsd ?? '');
  const error = isUsd(usd) ? undefined : t.usdWrong;
  const options = currencies.map((one) => [one, one] as const);
  return (
    <ReasonDialog
      title={pair === null ? t.setPair : t.changePair(pair.fromCurrency, pair.toCurrency)}
      sure={t.setPairSure}
      submit={t.setPair}
      missing={error ?? (from === to ? t.same : undefined)}
      isDanger={mode === 'off'}
      act={async (reason, factor) => {
        const body = { fromCurrency: from, toCurrency: to, mode, maximumUsd: usd.trim() || null, reason, ...factor };
        await payload(client.POST('/api/v1/platform/conversion-pairs', { body }));
        return t.pairSet;
      }}
      onEnd={onEnd}
    >
      {pair === null && (
        <>
          <Choice label={t.from} value={from} options={options} onChange={setFrom} />
          <Choice label={t.to} value={to} options={options} onChange={setTo} />
        </>
      )}
      <Choice
        label={t.mode}
        value={mode}
        options={pairModes.map((one) => [one, t.modes[one]] as const)}
        onChange={setMode}
      />
      <Field
        label={t.maximumUsd}
        hint={t.emptyIsUsual}
        inputMode="decimal"
        value={usd}
        error={error}
        onChange={(event) => setUsd(event.target.value)}
      />
    </ReasonDialog>
  );
}
