import { keepPreviousData, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { mayCall, type Role } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { unturned } from '../../../domain/text';
import { meQuery, type Me } from '../api/queries';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Loaded } from '../design/loaded';
import { Moment } from '../design/moment';
import { Pages, Table } from '../design/table';
import { useTexts } from '../texts/texts';
import { ChangeMember } from './change-member';
import { membersPerPage, readMembers, type Member } from './data';
import { TeamFrame } from './frame';
import { Invitations } from './invitations';
import { Invite } from './invite';
import { PermissionWords } from './permissions';
import { RemoveMember } from './remove-member';
import { useTeamTexts } from './texts/use';

type Asked = Readonly<{ act: 'change' | 'remove'; member: Member }>;

export function MembersPage() {
  const t = useTeamTexts();
  const all = useTexts();
  const { data: me } = useSuspenseQuery(meQuery);
  const [isInviting, setInviting] = useState(false);
  if (!me) return null;
  const reason = mayCall(me, access.createInvitation.may) ? undefined : all.needs('team:manage');
  return (
    <TeamFrame
      acts={
        <Button look="primary" reason={reason} onClick={() => setInviting(true)}>
          {t.invitations.invite}
        </Button>
      }
    >
      <Members me={me} denied={reason} />
      <Invitations denied={reason} />
      {isInviting && <Invite me={me} onEnd={() => setInviting(false)} />}
    </TeamFrame>
  );
}

function Members({ me, denied }: Readonly<{ me: Me; denied: string | undefined }>) {
  const t = useTeamTexts();
  const [page, setPage] = useState(1);
  const [asked, setAsked] = useState<Asked | null>(null);
  const list = useQuery({
    queryKey: ['members', page],
    queryFn: () => readMembers(page),
    placeholderData: keepPreviousData,
  });
  const onEnd = (): void => setAsked(null);
  return (
    <section className={css.card} aria-labelledby="members">
      <h2 id="members">{t.members.title}</h2>
      <Loaded query={list}>
        {({ items, total }) => (
          <>
            <Rows members={items} me={me} denied={denied} onAsk={setAsked} />
            <Pages
              page={page}
              total={total}
              perPage={membersPerPage}
              link={(to, text) => <Button onClick={() => setPage(to)}>{text}</Button>}
            />
          </>
        )}
      </Loaded>
      {asked?.act === 'change' && <ChangeMember member={asked.member} me={me} onEnd={onEnd} />}
      {asked?.act === 'remove' && <RemoveMember member={asked.member} me={me} onEnd={onEnd} />}
    </section>
  );
}

type RowsProps = Readonly<{
  members: readonly Member[];
  me: Me;
  denied: string | undefined;
  onAsk: (asked: Asked) => void;
}>;

function Rows({ members, me, denied, onAsk }: RowsProps) {
  const t = useTeamTexts();
  const all = useTexts();
  const names = [t.members.person, t.members.role, t.members.may, t.members.factor, t.members.lastLogin];
  const reasonFor = (member: Member): string | undefined => {
    if (denied) return denied;
    if (member.id === me.id) return t.members.notYourself;
    return member.role === 'merchant_admin' && me.role !== 'merchant_admin' ? t.members.adminOnly : undefined;
  };
  return (
    <Table
      label={t.members.title}
      columns={[...names.map((name) => ({ name })), { name: all.actions, isHidden: true }]}
    >
      {members.map((member) => (
        <tr key={member.id}>
          <td>
            <strong>{unturned(member.displayName)}</strong> {member.id === me.id && `(${t.members.you})`}
            <div className={css.soft}>{member.email}</div>
          </td>
          <td>
            {all.roles[member.role]}{' '}
            {!member.isActive && <span className={`${css.badge} ${css.warn}`}>{t.members.inactive}</span>}
          </td>
          <td>
            <PermissionWords holder={{ role: member.role as Role, permissions: member.permissions }} />
          </td>
          <td>{member.totpEnabled ? t.members.enrolled : t.members.notEnrolled}</td>
          <td>{member.lastLoginAt ? <Moment at={member.lastLoginAt} /> : all.never}</td>
          <td className={css.end}>
            <Button
              look="link"
              label={t.members.editOf(member.email)}
              reason={reasonFor(member)}
              onClick={() => onAsk({ act: 'change', member })}
            >
              {t.members.edit}
            </Button>{' '}
            <Button
              look="link"
              label={t.members.removeOf(member.email)}
              reason={reasonFor(member)}
              onClick={() => onAsk({ act: 'remove', member })}
            >
              {t.members.remove}
            </Button>
          </td>
        </tr>
      ))}
    </Table>
  );
}
