import { useState } from 'react';
import { client, payload } from '../api/client';
import { Choice, Field } from '../design/field';
import { useTexts } from '../texts/texts';
import type { Request } from './data';
import { ReasonDialog } from './reason-dialog';
import type { OperatorTexts } from './texts/en';
import { useOperatorTexts } from './texts/use';

export type Kind = Request['kind'];
export type FieldName = keyof OperatorTexts['requests']['fields'];

/** What each act must be told; the API refuses any other payload. */
const fieldsOf: Readonly<Record<Kind, readonly FieldName[]>> = {
  'book-difference': ['currency', 'amount'],
  'book-lightning': ['what', 'amount'],
  'cancel-held': ['merchantId'],
  'claim-address': ['network', 'address', 'paymentId'],
  'claim-deposit': ['depositId', 'paymentId'],
  'claim-lightning': ['hash', 'paymentId'],
  'decide-transfer': ['intentId', 'outcome'],
  'end-conversion': ['conversionId'],
  'fail-lightning': ['hash'],
  'lift-hold': ['merchantId'],
  'loosen-limits': ['merchantId', 'dailyUsd', 'hourlyCount', 'approvalUsd'],
  'raise-cap': ['intentId', 'maxUnitPrice', 'feeBudget'],
  'replace-blocker': ['intentId', 'maxUnitPrice'],
  unfreeze: ['currency'],
  'unfreeze-wallet': ['network', 'address'],
};
const kinds = Object.keys(fieldsOf) as Kind[];
export const kindOf = (name: string | null): Kind | undefined => kinds.find((one) => one === name);

/** Asks for an act on money; two operators confirm it. `about`: what is known of it from where it is asked for. */
export function AskForAct(
  props: Readonly<{ kind?: Kind; about?: Partial<Record<FieldName, string>>; onEnd: () => void }>,
) {
  const { onEnd } = props;
  const t = useOperatorTexts().requests;
  const all = useTexts();
  const [kind, setKind] = useState<Kind>(props.kind ?? 'unfreeze');
  const [typed, setTyped] = useState<Partial<Record<FieldName, string>>>(props.about ?? {});
  const names = fieldsOf[kind];
  const given = Object.fromEntries(names.map((name) => [name, (typed[name] ?? '').trim()]));
  return (
    <ReasonDialog
      title={t.ask}
      sure={t.why}
      submit={t.ask}
      missing={Object.values(given).every((value) => value !== '') ? undefined : all.required}
      act={async (reason, factor) => {
        const body = { kind, payload: given, reason, ...factor };
        await payload(client.POST('/api/v1/platform/operator-requests', { body }));
        return t.filed;
      }}
      onEnd={onEnd}
    >
      <Choice label={t.act} value={kind} options={kinds.map((one) => [one, t.acts[one]] as const)} onChange={setKind} />
      {names.map((name) => (
        <Field
          key={name}
          label={t.fields[name]}
          maxLength={200}
          value={typed[name] ?? ''}
          onChange={(event) => setTyped({ ...typed, [name]: event.target.value })}
        />
      ))}
    </ReasonDialog>
  );
}
