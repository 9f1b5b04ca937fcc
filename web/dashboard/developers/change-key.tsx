import { useState } from 'react';
import { scopes, type Scope } from '../../../domain/access/access';
import { client, payload } from '../api/client';
import { queryClient } from '../api/queries';
import { useAct } from '../design/act';
import { Notice, useToast } from '../design/feedback';
import { Area, Field } from '../design/field';
import { FormDialog } from '../design/form-dialog';
import { useTexts } from '../texts/texts';
import { linesOf, Scopes } from './create-key';
import type { Key } from './data';
import { useDeveloperTexts } from './texts/use';

/** Renames a key, or takes something away from it: a key never gains. */
export function ChangeKey({ apiKey, onEnd }: Readonly<{ apiKey: Key; onEnd: () => void }>) {
  const t = useDeveloperTexts();
  const all = useTexts();
  const toast = useToast();
  const had = scopes.filter((scope) => apiKey.scopes.includes(scope));
  const [name, setName] = useState(apiKey.name);
  const [chosen, setChosen] = useState<Scope[]>(had);
  const [ips, setIps] = useState(apiKey.allowedIps.join('\n'));
  const [until, setUntil] = useState('');
  const act = useAct(async () => {
    const params = { path: { keyId: apiKey.id } };
    const end = until ? { expiresAt: new Date(until).toISOString() } : {};
    const body = { name: name.trim(), scopes: chosen, allowedIps: linesOf(ips), ...end };
    await payload(client.PATCH('/api/v1/api-keys/{keyId}', { params, body }));
    await queryClient.invalidateQueries({ queryKey: ['api-keys'] });
    toast(t.keys.changed);
    onEnd();
  });
  const missing = !name.trim() ? `${t.keys.name}: ${all.required}` : !chosen.length ? t.keys.scopesNeeded : undefined;
  return (
    <FormDialog title={t.keys.editOf(apiKey.name)} submit={all.save} act={act} onEnd={onEnd} reason={missing}>
      <Field label={t.keys.name} maxLength={60} value={name} onChange={(event) => setName(event.target.value)} />
      <Scopes chosen={chosen} among={had} onChange={setChosen} />
      <Field
        label={t.keys.sooner}
        hint={t.keys.soonerHint}
        type="datetime-local"
        value={until}
        onChange={(event) => setUntil(event.target.value)}
      />
      <Area
        label={t.keys.ips}
        hint={t.keys.narrowIpsHint}
        isCode
        value={ips}
        onChange={(event) => setIps(event.target.value)}
      />
    </FormDialog>
  );
}

export function RevokeKey({ apiKey, onEnd }: Readonly<{ apiKey: Key; onEnd: () => void }>) {
  const t = useDeveloperTexts();
  const toast = useToast();
  const act = useAct(async () => {
    await payload(client.DELETE('/api/v1/api-keys/{keyId}', { params: { path: { keyId: apiKey.id } } }));
    await queryClient.invalidateQueries({ queryKey: ['api-keys'] });
    toast(t.keys.revokedNow);
    onEnd();
  });
  return (
    <FormDialog title={t.keys.revokeOf(apiKey.name)} submit={t.keys.revoke} act={act} onEnd={onEnd} isDanger>
      <Notice tone="warn">{t.keys.revokeSure}</Notice>
    </FormDialog>
  );
}
