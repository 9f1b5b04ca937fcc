import { useState } from 'react';
import { client, payload } from '../api/client';
import type { Me } from '../api/queries';
import { useAct } from '../design/act';
import { Notice, useToast } from '../design/feedback';
import { FormDialog } from '../design/form-dialog';
import { useStepUp } from '../step-up/step-up';
import { MembersKeys, type MembersKey } from './members-keys';
import { renewTeam, type Member } from './data';
import { useTeamTexts } from './texts/use';

export function RemoveMember({ member, me, onEnd }: Readonly<{ member: Member; me: Me; onEnd: () => void }>) {
  const t = useTeamTexts();
  const toast = useToast();
  const confirm = useStepUp();
  const [keys, setKeys] = useState<readonly MembersKey[] | null>(null);
  const act = useAct(async () => {
    const params = { path: { memberId: member.id } };
    const removed = await confirm('team', (factor) =>
      payload(client.DELETE('/api/v1/team-members/{memberId}', { params, body: factor })),
    );
    if (!removed) return;
    await renewTeam();
    toast(t.members.removed);
    if (removed.value.activeKeys.length) setKeys(removed.value.activeKeys);
    else onEnd();
  });
  if (keys) return <MembersKeys name={member.displayName} keys={keys} me={me} onEnd={onEnd} />;
  return (
    <FormDialog
      title={t.members.removeOf(member.displayName)}
      submit={t.members.remove}
      act={act}
      onEnd={onEnd}
      isDanger
    >
      <Notice tone="warn">{t.members.removeSure}</Notice>
    </FormDialog>
  );
}
