import { useState } from 'react';
import type { Permission } from '../../../domain/access/access';
import { client, payload } from '../api/client';
import type { Me } from '../api/queries';
import { useAct } from '../design/act';
import { useToast } from '../design/feedback';
import { Field } from '../design/field';
import { FormDialog } from '../design/form-dialog';
import { useStepUp } from '../step-up/step-up';
import { renewTeam } from './data';
import { Permissions } from './permissions';
import { useTeamTexts } from './texts/use';

export function Invite({ me, onEnd }: Readonly<{ me: Me; onEnd: () => void }>) {
  const t = useTeamTexts();
  const toast = useToast();
  const confirm = useStepUp();
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [permissions, setPermissions] = useState<Permission[]>([]);
  const act = useAct(async () => {
    const displayName = name.trim() ? { displayName: name.trim() } : {};
    const body = { email: email.trim(), role: 'merchant_member', permissions, ...displayName } as const;
    const sent = await confirm('team', (factor) =>
      payload(client.POST('/api/v1/team-invitations', { body: { ...body, ...factor } })),
    );
    if (!sent) return;
    await renewTeam();
    toast(t.invitations.sent);
    onEnd();
  });
  const isAddress = /^\S+@\S+\.\S+$/.test(email.trim());
  return (
    <FormDialog
      title={t.invitations.invite}
      submit={t.invitations.submit}
      act={act}
      onEnd={onEnd}
      reason={isAddress ? undefined : t.invitations.emailWrong}
    >
      <p>{t.invitations.why}</p>
      <Field
        label={t.invitations.email}
        type="email"
        autoComplete="off"
        maxLength={254}
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <Field
        label={t.invitations.name}
        hint={t.invitations.nameHint}
        autoComplete="off"
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Permissions giver={me} chosen={permissions} onChange={setPermissions} />
    </FormDialog>
  );
}
