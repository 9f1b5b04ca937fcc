import { useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { client, payload } from '../api/client';
import { queryClient, type Me } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Dialog } from '../design/dialog';
import { ErrorNotice } from '../design/feedback';
import { useTexts } from '../texts/texts';
import { useTeamTexts } from './texts/use';

export type MembersKey = Readonly<{ id: string; name: string; last4: string }>;

/** The keys that somebody who left has made, each with a way to end it. */
export function MembersKeys(props: Readonly<{ name: string; keys: readonly MembersKey[]; me: Me; onEnd: () => void }>) {
  const { name, keys, me, onEnd } = props;
  const t = useTeamTexts();
  const all = useTexts();
  const [revoked, setRevoked] = useState<readonly string[]>([]);
  const act = useAct(async (keyId: string) => {
    await payload(client.DELETE('/api/v1/api-keys/{keyId}', { params: { path: { keyId } } }));
    await queryClient.invalidateQueries({ queryKey: ['api-keys'] });
    setRevoked((before) => [...before, keyId]);
  });
  const reason = mayCall(me, access.revokeApiKey.may) ? undefined : all.needs('api-keys:manage');
  return (
    <Dialog title={t.members.keys(name)} onClose={onEnd}>
      <p>{t.members.keysWhy}</p>
      <ErrorNotice error={act.error} />
      <ul className={css.list}>
        {keys.map((key) => (
          <li key={key.id}>
            <span className={css.row}>
              {key.name} <span className={css.code}>…{key.last4}</span>
              {revoked.includes(key.id) ? (
                <span className={css.badge}>{t.members.keyRevoked}</span>
              ) : (
                <Button
                  look="link"
                  label={t.members.revokeOf(key.name)}
                  busy={act.isBusy}
                  reason={reason}
                  onClick={() => void act.run(key.id)}
                >
                  {t.members.revoke}
                </Button>
              )}
            </span>
          </li>
        ))}
      </ul>
      <div>
        <Button look="primary" onClick={onEnd}>
          {t.members.done}
        </Button>
      </div>
    </Dialog>
  );
}
