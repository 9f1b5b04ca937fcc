import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { client, payload } from '../api/client';
import type { Me } from '../api/queries';
import { Badge } from '../design/badge';
import { Button } from '../design/button';
import { ConfirmDialog } from '../design/confirm';
import css from '../design/design.module.css';
import { ErrorNotice, Skeleton, useToast } from '../design/feedback';
import { Field } from '../design/field';
import { Moment } from '../design/moment';
import { Copy } from '../design/show';
import { Table } from '../design/table';
import { useStepUp } from '../step-up/step-up';
import { useTexts } from '../texts/texts';
import { entriesAtOnce, isAbout, renewMoney, whitelistQuery, type WhitelistEntry } from './data';
import { MoneyPage, useMoneyTexts } from './section';
import { AddAddress, AddIp } from './whitelist-add';

type Kind = 'wallet' | 'ip';

/** Where money may go, and from where it may be sent. */
export function WhitelistPage() {
  const words = useMoneyTexts().whitelist;
  return (
    <MoneyPage title={words.title} permission="whitelist:view">
      {(me) => <Whitelist me={me} />}
    </MoneyPage>
  );
}

function Whitelist({ me }: Readonly<{ me: Me }>) {
  const words = useMoneyTexts().whitelist;
  const [adding, setAdding] = useState<Kind | null>(null);
  const list = useQuery({ ...whitelistQuery, refetchInterval: 30_000 });
  const end = () => setAdding(null);
  return (
    <>
      {list.isPending && <Skeleton lines={6} />}
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.data && (
        <>
          <Entries kind="wallet" entries={list.data.wallets} me={me} onAdd={() => setAdding('wallet')} />
          <Entries kind="ip" entries={list.data.ips} me={me} onAdd={() => setAdding('ip')} />
        </>
      )}
      <p className={css.soft}>{words.coolingWhy}</p>
      {adding === 'wallet' && <AddAddress onEnd={end} />}
      {adding === 'ip' && <AddIp onEnd={end} />}
    </>
  );
}

function Entries(props: Readonly<{ kind: Kind; entries: readonly WhitelistEntry[]; me: Me; onAdd: () => void }>) {
  const { kind, entries, me, onAdd } = props;
  const t = useTexts();
  const words = useMoneyTexts().whitelist;
  const [removing, setRemoving] = useState<WhitelistEntry | null>(null);
  const [typed, setTyped] = useState('');
  const [count, setCount] = useState(entriesAtOnce);
  const found = entries.filter((entry) => isAbout(entry, typed));
  const reason = mayCall(me, access.deleteWhitelistEntry.may) ? undefined : t.needs('whitelist:manage');
  const { title, none, add } = words.kinds[kind];
  return (
    <section className={css.card} aria-labelledby={kind}>
      <div className={`${css.row} ${css.between}`}>
        <h2 id={kind}>{title}</h2>
        <Button reason={reason} onClick={onAdd}>
          {add}
        </Button>
      </div>
      {!entries.length && <p className={css.soft}>{none}</p>}
      {entries.length > entriesAtOnce && (
        <Field label={words.find} type="search" value={typed} onChange={(event) => setTyped(event.target.value)} />
      )}
      {entries.length > 0 && !found.length && <p className={css.soft}>{words.noneFound}</p>}
      {found.length > 0 && (
        <Table
          label={title}
          columns={[
            { name: words.label },
            { name: kind === 'wallet' ? words.address : words.ip },
            { name: words.counts },
            { name: t.actions, isHidden: true },
          ]}
        >
          {found.slice(0, count).map((entry) => (
            <tr key={entry.id}>
              <td>
                {entry.label ?? '–'}
                <p className={css.hint}>{words.addedBy(entry.createdBy)}</p>
              </td>
              <td>
                {entry.currency && <strong>{entry.currency} </strong>}
                <Copy value={whatOf(entry)} label={kind === 'wallet' ? words.address : words.ip} />
                {entry.destinationTag && <p>{words.tagOf(entry.destinationTag)}</p>}
              </td>
              <td>
                <Counts at={entry.activeAt} />
              </td>
              <td className={css.end}>
                <Button
                  look="link"
                  label={words.removeOf(entry.label ?? whatOf(entry))}
                  reason={reason}
                  onClick={() => setRemoving(entry)}
                >
                  {t.remove}
                </Button>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {found.length > count && (
        <div>
          <Button onClick={() => setCount(count + entriesAtOnce)}>{t.more}</Button>
        </div>
      )}
      {removing && <Remove entry={removing} onEnd={() => setRemoving(null)} />}
    </section>
  );
}

const whatOf = ({ address, ip }: WhitelistEntry): string => address ?? ip ?? '';

/** Since when an entry counts, or from when on it will. */
function Counts({ at }: Readonly<{ at: string }>) {
  const words = useMoneyTexts().whitelist;
  if (Date.parse(at) <= Date.now()) return <Badge tone="good" text={words.active} />;
  return (
    <>
      <Badge tone="warn" text={words.cooling} /> {words.from} <Moment at={at} />
    </>
  );
}

function Remove({ entry, onEnd }: Readonly<{ entry: WhitelistEntry; onEnd: () => void }>) {
  const t = useTexts();
  const words = useMoneyTexts().whitelist;
  const toast = useToast();
  const confirm = useStepUp();
  const act = async (): Promise<boolean> => {
    const removed = await confirm('whitelist_change', (body) =>
      payload(client.POST('/api/v1/whitelist/{id}/delete', { params: { path: { id: entry.id } }, body })),
    );
    await renewMoney('whitelist');
    if (removed) toast(words.removed);
    return removed !== null;
  };
  return (
    <ConfirmDialog
      title={words.removeOf(entry.label ?? whatOf(entry))}
      sure={words.removeSure}
      submit={t.remove}
      look="danger"
      act={act}
      onEnd={onEnd}
    >
      <p className={css.code}>{whatOf(entry)}</p>
    </ConfirmDialog>
  );
}
