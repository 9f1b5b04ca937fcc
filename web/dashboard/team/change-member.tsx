import { useState } from 'react';
import type { Permission, Role } from '../../../domain/access/access';
import { client, payload } from '../api/client';
import type { Me } from '../api/queries';
import { useAct } from '../design/act';
import css from '../design/design.module.css';
import { Notice, useToast } from '../design/feedback';
import { Choice } from '../design/field';
import { FormDialog } from '../design/form-dialog';
import { useStepUp } from '../step-up/step-up';
import { useTexts } from '../texts/texts';
import { MembersKeys, type MembersKey } from './members-keys';
import { renewTeam, type Member } from './data';
import { Permissions } from './permissions';
import { useTeamTexts } from './texts/use';

type MerchantRole = Exclude<Role, 'super_admin'>;
const roles: readonly MerchantRole[] = ['merchant_member', 'merchant_admin'];

/** What a member may do, and whether they may sign in. Who is made inactive may still know keys: they are offered next. */
export function ChangeMember({ member, me, onEnd }: Readonly<{ member: Member; me: Me; onEnd: () => void }>) {
  const t = useTeamTexts();
  const all = useTexts();
  const toast = useToast();
  const confirm = useStepUp();
  const [role, setRole] = useState(member.role as MerchantRole);
  const [isActive, setActive] = useState(member.isActive);
  const [permissions, setPermissions] = useState(member.permissions as Permission[]);
  const [keys, setKeys] = useState<readonly MembersKey[] | null>(null);
  const isAdmin = role === 'merchant_admin';
  const act = useAct(async () => {
    const params = { path: { memberId: member.id } };
    const body = {
      isActive,
      ...(role === member.role ? {} : { role }),
      ...(isAdmin ? {} : { permissions }),
    };
    const changed = await confirm('team', (factor) =>
      payload(client.PATCH('/api/v1/team-members/{memberId}', { params, body: { ...body, ...factor } })),
    );
    if (!changed) return;
    await renewTeam();
    toast(t.members.changed);
    if (!isActive && changed.value.activeKeys.length) setKeys(changed.value.activeKeys);
    else onEnd();
  });
  if (keys) return <MembersKeys name={member.displayName} keys={keys} me={me} onEnd={onEnd} />;
  return (
    <FormDialog title={t.members.editOf(member.displayName)} submit={all.save} act={act} onEnd={onEnd}>
      <p>{t.members.signsOut}</p>
      <label className={css.check}>
        <input type="checkbox" checked={isActive} onChange={(event) => setActive(event.target.checked)} />
        {t.members.isActive}
      </label>
      {me.role === 'merchant_admin' && (
        <Choice
          label={t.members.role}
          hint={t.members.roleHint}
          value={role}
          options={roles.map((one) => [one, all.roles[one] ?? one] as const)}
          onChange={setRole}
        />
      )}
      {isAdmin ? (
        <Notice tone="warn">{t.members.adminWarning}</Notice>
      ) : (
        <Permissions giver={me} chosen={permissions} onChange={setPermissions} />
      )}
    </FormDialog>
  );
}
