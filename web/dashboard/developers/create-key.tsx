import { useState } from 'react';
import { scopes, type Scope } from '../../../domain/access/access';
import { access, couldCall, type Access } from '../../../domain/access/access-table';
import { client, payload } from '../api/client';
import { queryClient, type Me } from '../api/queries';
import { useAct } from '../design/act';
import { Checks } from '../design/checks';
import { Area, Choice, Field } from '../design/field';
import { useToast } from '../design/feedback';
import { FormDialog } from '../design/form-dialog';
import { useStepUp } from '../step-up/step-up';
import { useTexts } from '../texts/texts';
import { useDeveloperTexts } from './texts/use';

const day = 86_400_000;
const expiries = ['never', '30', '90', '365'] as const;
type Expiry = (typeof expiries)[number];

export const linesOf = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .map((line) => line.trim())
    .filter(Boolean);

/** The calls that a scope opens, by their names in the reference. */
const opened = (scope: Scope): string =>
  Object.entries<Access>(access)
    .flatMap(([name, { may }]) => (typeof may === 'object' && may.key === scope ? [name] : []))
    .join(', ');

/** The choice of scopes, each with what it opens; `reasonOf` says why one cannot be chosen. */
export function Scopes(
  props: Readonly<{
    chosen: readonly string[];
    among: readonly Scope[];
    reasonOf?: (scope: Scope) => string | undefined;
    onChange: (chosen: Scope[]) => void;
  }>,
) {
  const t = useDeveloperTexts();
  return (
    <Checks
      legend={t.keys.scopes}
      hint={t.keys.scopesHint}
      options={props.among.map((scope) => ({
        value: scope,
        text: scope,
        hint: (
          <>
            {t.scopes[scope]}. {t.keys.opens(opened(scope))}
          </>
        ),
        reason: props.reasonOf?.(scope),
      }))}
      chosen={props.chosen}
      onChange={props.onChange}
    />
  );
}

export function CreateKey(props: Readonly<{ me: Me; onMade: (secret: string) => void; onEnd: () => void }>) {
  const t = useDeveloperTexts();
  const all = useTexts();
  const toast = useToast();
  const confirm = useStepUp();
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<Scope[]>([]);
  const [expiry, setExpiry] = useState<Expiry>('never');
  const [ips, setIps] = useState('');
  const [dailyUsd, setDailyUsd] = useState('');
  const mayConvert = chosen.includes('conversions:execute');
  const isAmount = /^(\d{1,12}(\.\d{1,2})?)?$/.test(dailyUsd.trim());
  const act = useAct(async () => {
    const limit = mayConvert && dailyUsd.trim() ? { limits: { dailyUsd: dailyUsd.trim() } } : {};
    const end =
      expiry === 'never' ? {} : { expiresAt: new Date(Date.now() + parseInt(expiry, 10) * day).toISOString() };
    const body = { name: name.trim(), scopes: chosen, allowedIps: linesOf(ips), ...limit, ...end };
    const made = await confirm('api_key', (factor) =>
      payload(client.POST('/api/v1/api-keys', { body: { ...body, ...factor } })),
    );
    if (!made) return;
    await queryClient.invalidateQueries({ queryKey: ['api-keys'] });
    toast(t.keys.created);
    props.onMade(made.value.apiKey);
  });
  const missing = !name.trim() ? `${t.keys.name}: ${all.required}` : !chosen.length ? t.keys.scopesNeeded : undefined;
  return (
    <FormDialog
      title={t.keys.create}
      submit={t.keys.create}
      act={act}
      onEnd={props.onEnd}
      reason={missing ?? (isAmount ? undefined : t.keys.dailyUsdWrong)}
    >
      <Field
        label={t.keys.name}
        hint={t.keys.nameHint}
        maxLength={60}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Scopes
        chosen={chosen}
        among={scopes}
        reasonOf={(scope) => (couldCall(props.me, scope) ? undefined : t.keys.notYours)}
        onChange={setChosen}
      />
      {mayConvert && (
        <Field
          label={t.keys.dailyUsd}
          hint={t.keys.dailyUsdHint}
          inputMode="decimal"
          value={dailyUsd}
          error={isAmount ? undefined : t.keys.dailyUsdWrong}
          onChange={(event) => setDailyUsd(event.target.value)}
        />
      )}
      <Choice
        label={t.keys.expiry}
        value={expiry}
        options={expiries.map((one) => [one, t.keys.expiries[one]])}
        onChange={setExpiry}
      />
      <Area
        label={t.keys.ips}
        hint={t.keys.ipsHint}
        isCode
        value={ips}
        onChange={(event) => setIps(event.target.value)}
      />
    </FormDialog>
  );
}
