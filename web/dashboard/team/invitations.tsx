import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client, payload } from '../api/client';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import { ConfirmDialog } from '../design/confirm';
import css from '../design/design.module.css';
import { ErrorNotice, useToast } from '../design/feedback';
import { Loaded } from '../design/loaded';
import { Moment } from '../design/moment';
import { Pages, Table } from '../design/table';
import { useTexts } from '../texts/texts';
import { renewTeam } from './data';
import { PermissionWords } from './permissions';
import { useTeamTexts } from './texts/use';

const perPage = 10;
const read = (page: number) =>
  payload(client.GET('/api/v1/team-invitations', { params: { query: { page, limit: perPage } } }));
type Invitation = Awaited<ReturnType<typeof read>>['items'][number];

/** Who was invited, and what became of it. */
export function Invitations({ denied }: Readonly<{ denied: string | undefined }>) {
  const t = useTeamTexts();
  const [page, setPage] = useState(1);
  const list = useQuery({
    queryKey: ['invitations', page],
    queryFn: () => read(page),
    placeholderData: keepPreviousData,
  });
  return (
    <section className={css.card} aria-labelledby="invitations">
      <h2 id="invitations">{t.invitations.title}</h2>
      <Loaded query={list}>
        {({ items, total }) =>
          total === 0 ? (
            <p className={css.empty}>{t.invitations.none}</p>
          ) : (
            <>
              <Rows invitations={items} denied={denied} />
              <Pages
                page={page}
                total={total}
                perPage={perPage}
                link={(to, text) => <Button onClick={() => setPage(to)}>{text}</Button>}
              />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

function Rows({ invitations, denied }: Readonly<{ invitations: readonly Invitation[]; denied: string | undefined }>) {
  const t = useTeamTexts();
  const all = useTexts();
  const toast = useToast();
  const resend = useAct(async (invitationId: string) => {
    await payload(
      client.POST('/api/v1/team-invitations/{invitationId}/resend', { params: { path: { invitationId } } }),
    );
    await renewTeam();
    toast(t.invitations.sent);
  });
  const [revoking, setRevoking] = useState<Invitation | null>(null);
  const names = [t.invitations.email, t.members.may, t.invitations.status, t.invitations.expires];
  return (
    <>
      <ErrorNotice error={resend.error} />
      <Table
        label={t.invitations.title}
        columns={[...names.map((name) => ({ name })), { name: all.actions, isHidden: true }]}
      >
        {invitations.map((invitation) => {
          const { id, email, displayName, permissions, status, expiresAt } = invitation;
          return (
            <tr key={id}>
              <td>
                {email}
                {displayName && <div className={css.soft}>{displayName}</div>}
              </td>
              <td>
                <PermissionWords holder={{ role: 'merchant_member', permissions }} />
              </td>
              <td>
                <span className={css.badge}>{t.invitations.statuses[status]}</span>
              </td>
              <td>
                <Moment at={expiresAt} />
              </td>
              <td className={css.end}>
                {(status === 'pending' || status === 'expired') && (
                  <>
                    <Button
                      look="link"
                      label={t.invitations.resendOf(email)}
                      busy={resend.isBusy}
                      reason={denied}
                      onClick={() => void resend.run(id)}
                    >
                      {t.invitations.resend}
                    </Button>{' '}
                    <Button
                      look="link"
                      label={t.invitations.revokeOf(email)}
                      reason={denied}
                      onClick={() => setRevoking(invitation)}
                    >
                      {t.invitations.revoke}
                    </Button>
                  </>
                )}
              </td>
            </tr>
          );
        })}
      </Table>
      {revoking && <Revoke invitation={revoking} onEnd={() => setRevoking(null)} />}
    </>
  );
}

function Revoke({ invitation, onEnd }: Readonly<{ invitation: Invitation; onEnd: () => void }>) {
  const t = useTeamTexts();
  const toast = useToast();
  const act = async (): Promise<boolean> => {
    const params = { path: { invitationId: invitation.id } };
    await payload(client.DELETE('/api/v1/team-invitations/{invitationId}', { params }));
    await renewTeam();
    toast(t.invitations.revoked);
    return true;
  };
  return (
    <ConfirmDialog
      title={t.invitations.revokeOf(invitation.email)}
      sure={t.invitations.revokeSure}
      submit={t.invitations.revoke}
      look="danger"
      act={act}
      onEnd={onEnd}
    />
  );
}
