import { useState } from 'react';
import { scopes } from '../../../domain/access/access';
import { couldCall } from '../../../domain/access/access-table';
import { client, payload } from '../api/client';
import { queryClient, type Me } from '../api/queries';
import { useAct } from '../design/act';
import css from '../design/design.module.css';
import { Notice, useToast } from '../design/feedback';
import { Choice, Field } from '../design/field';
import { FormDialog } from '../design/form-dialog';
import { useStepUp } from '../step-up/step-up';
import { useTexts } from '../texts/texts';
import type { Key } from './data';
import { useDeveloperTexts } from './texts/use';

const hourMs = 3_600_000;
/** How long the old key works beside the new one, in hours. */
const overlaps = ['1', '24', '168', '720'] as const;
type Overlap = (typeof overlaps)[number];

/** When a key ends that was replaced, or why that could not be set. */
type OldEnd = Readonly<{ at: string } | { error: unknown }>;
/** A new secret, and what becomes of the key before it. */
export type Rolled = Readonly<{ secret: string; oldEnd: OldEnd }>;

/** When the old key ends: never later than it would have. */
const endOf = ({ expiresAt }: Key, overlap: Overlap): string => {
  const end = Date.now() + parseInt(overlap, 10) * hourMs;
  return new Date(expiresAt === null ? end : Math.min(end, Date.parse(expiresAt))).toISOString();
};

/** When the new key ends: it is valid for as long as the old one was made for, or for ever like it. */
const renewedEnd = ({ createdAt, expiresAt }: Key): { expiresAt?: string } =>
  expiresAt === null
    ? {}
    : { expiresAt: new Date(Date.now() + Date.parse(expiresAt) - Date.parse(createdAt)).toISOString() };

/** The new key is made first: where the end of the old one cannot be set, both work and the page says so. */
async function endOld(apiKey: Key, expiresAt: string): Promise<OldEnd> {
  try {
    const params = { path: { keyId: apiKey.id } };
    await payload(client.PATCH('/api/v1/api-keys/{keyId}', { params, body: { expiresAt } }));
    return { at: expiresAt };
  } catch (error) {
    return { error };
  }
}

/** Replaces a key by one that may do the same, and lets the old one work until every server has the new one. */
export function RollKey(
  props: Readonly<{ apiKey: Key; me: Me; onRolled: (rolled: Rolled) => void; onEnd: () => void }>,
) {
  const { apiKey, me, onRolled, onEnd } = props;
  const t = useDeveloperTexts();
  const all = useTexts();
  const toast = useToast();
  const confirm = useStepUp();
  const [name, setName] = useState(apiKey.name);
  const [overlap, setOverlap] = useState<Overlap>('24');
  const had = scopes.filter((scope) => apiKey.scopes.includes(scope));
  const act = useAct(async () => {
    const { allowedIps, limits } = apiKey;
    const body = { name: name.trim(), scopes: had, allowedIps, limits, ...renewedEnd(apiKey) };
    const made = await confirm('api_key', (factor) =>
      payload(client.POST('/api/v1/api-keys', { body: { ...body, ...factor } })),
    );
    if (!made) return;
    const oldEnd = await endOld(apiKey, endOf(apiKey, overlap));
    await queryClient.invalidateQueries({ queryKey: ['api-keys'] });
    toast(t.keys.created);
    onRolled({ secret: made.value.apiKey, oldEnd });
  });
  const missing = !name.trim() ? `${t.keys.name}: ${all.required}` : undefined;
  return (
    <FormDialog
      title={t.keys.rollOf(apiKey.name)}
      submit={t.keys.roll}
      act={act}
      onEnd={onEnd}
      reason={had.every((scope) => couldCall(me, scope)) ? missing : t.keys.notYours}
    >
      <Notice>{t.keys.rollWhy}</Notice>
      <p className={css.code}>{had.join(', ')}</p>
      <Field label={t.keys.name} maxLength={60} value={name} onChange={(event) => setName(event.target.value)} />
      <Choice
        label={t.keys.overlap}
        hint={t.keys.overlapHint}
        value={overlap}
        options={overlaps.map((one) => [one, t.keys.overlaps[one]])}
        onChange={setOverlap}
      />
    </FormDialog>
  );
}
