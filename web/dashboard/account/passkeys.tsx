import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client, payload } from '../api/client';
import { meQuery, queryClient } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ConfirmDialog } from '../design/confirm';
import { Dialog } from '../design/dialog';
import { ErrorNotice, Notice, Skeleton, useToast } from '../design/feedback';
import { Field } from '../design/field';
import { Moment } from '../design/moment';
import { Table } from '../design/table';
import { canUsePasskeys, makePasskey, PasskeyDeclined } from '../step-up/passkeys';
import { useStepUp } from '../step-up/step-up';
import { useTexts } from '../texts/texts';

const renew = async (): Promise<void> => {
  await Promise.all(
    [['passkeys'], ['mfa-options'], meQuery.queryKey].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
  );
};

export function Passkeys() {
  const t = useTexts();
  const [isAdding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<{ id: string; name: string } | null>(null);
  const list = useQuery({
    queryKey: ['passkeys'],
    queryFn: () => payload(client.GET('/api/v1/auth/passkeys', { params: { query: { limit: 100 } } })),
  });
  return (
    <section className={css.card} aria-labelledby="passkeys">
      <div className={`${css.row} ${css.between}`}>
        <h2 id="passkeys">{t.passkeys.title}</h2>
        <Button reason={canUsePasskeys() ? undefined : t.passkeys.unsupported} onClick={() => setAdding(true)}>
          {t.passkeys.add}
        </Button>
      </div>
      {list.isPending && <Skeleton />}
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.data?.total === 0 && <p className={css.soft}>{t.passkeys.none}</p>}
      {list.data && list.data.total > 0 && (
        <Table
          label={t.passkeys.title}
          columns={[
            { name: t.passkeys.name },
            { name: t.created },
            { name: t.lastUsed },
            { name: t.actions, isHidden: true },
          ]}
        >
          {list.data.items.map(({ id, name, createdAt, lastUsedAt }) => (
            <tr key={id}>
              <td>{name}</td>
              <td>
                <Moment at={createdAt} />
              </td>
              <td>{lastUsedAt ? <Moment at={lastUsedAt} /> : t.never}</td>
              <td className={css.end}>
                <Button look="link" label={t.passkeys.removeOf(name)} onClick={() => setRemoving({ id, name })}>
                  {t.remove}
                </Button>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {isAdding && <AddPasskey onEnd={() => setAdding(false)} />}
      {removing && <RemovePasskey passkey={removing} onEnd={() => setRemoving(null)} />}
    </section>
  );
}

function AddPasskey({ onEnd }: Readonly<{ onEnd: () => void }>) {
  const t = useTexts();
  const toast = useToast();
  const confirm = useStepUp();
  const [name, setName] = useState('');
  const act = useAct(async () => {
    const challenge = await confirm('passkey', (factor) =>
      payload(client.POST('/api/v1/auth/passkey/register-options', { body: factor })),
    );
    if (!challenge) return;
    const made = await makePasskey(challenge.value);
    const body = { ...made, ...(name.trim() ? { name: name.trim() } : {}) };
    await payload(client.POST('/api/v1/auth/passkey/register-verify', { body }));
    await renew();
    toast(t.passkeys.added);
    onEnd();
  });
  return (
    <Dialog title={t.passkeys.add} onClose={() => !act.isBusy && onEnd()}>
      <form
        className={css.stack}
        onSubmit={(event) => {
          event.preventDefault();
          void act.run();
        }}
      >
        <p className={css.soft}>{t.passkeys.why}</p>
        {act.error instanceof PasskeyDeclined ? (
          <Notice tone="warn">{t.passkeys.notMade}</Notice>
        ) : (
          <ErrorNotice error={act.error} />
        )}
        <Field
          label={t.passkeys.name}
          hint={t.passkeys.nameHint}
          maxLength={60}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <div className={css.row}>
          <Button type="submit" look="primary" busy={act.isBusy}>
            {t.passkeys.add}
          </Button>
          <Button onClick={() => !act.isBusy && onEnd()}>{t.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}

function RemovePasskey(props: Readonly<{ passkey: { id: string; name: string }; onEnd: () => void }>) {
  const { passkey, onEnd } = props;
  const t = useTexts();
  const toast = useToast();
  const act = async (): Promise<boolean> => {
    const params = { path: { passkeyId: passkey.id } };
    await payload(client.DELETE('/api/v1/auth/passkeys/{passkeyId}', { params }));
    await renew();
    toast(t.passkeys.removed);
    return true;
  };
  return (
    <ConfirmDialog
      title={t.passkeys.removeOf(passkey.name)}
      sure={t.passkeys.removeSure}
      submit={t.remove}
      look="danger"
      act={act}
      onEnd={onEnd}
    />
  );
}
