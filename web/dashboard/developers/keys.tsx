import { keepPreviousData, useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { docsUrl } from '../api/places';
import { meQuery, type Me } from '../api/queries';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, Notice } from '../design/feedback';
import { Loaded } from '../design/loaded';
import { Moment } from '../design/moment';
import { SecretOnce } from '../design/once';
import { useNumbers } from '../design/show';
import { Pages, Table } from '../design/table';
import { useTexts } from '../texts/texts';
import { ChangeKey, RevokeKey } from './change-key';
import { keysPerPage, readKeys, type Key } from './data';
import { CreateKey } from './create-key';
import { DevelopersFrame } from './frame';
import { PublishableKey } from './publishable-key';
import { RollKey, type Rolled } from './roll-key';
import { useDeveloperTexts } from './texts/use';

type Asked = Readonly<{ act: 'change' | 'revoke' | 'roll'; key: Key }>;

export function KeysPage() {
  const t = useDeveloperTexts();
  const all = useTexts();
  const { data: me } = useSuspenseQuery(meQuery);
  const [page, setPage] = useState(1);
  const [isCreating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const [asked, setAsked] = useState<Asked | null>(null);
  const [rolled, setRolled] = useState<Rolled | null>(null);
  const list = useQuery({
    queryKey: ['api-keys', page],
    queryFn: () => readKeys(page),
    placeholderData: keepPreviousData,
  });
  if (!me) return null;
  const reason = mayCall(me, access.createApiKey.may) ? undefined : all.needs('api-keys:manage');
  return (
    <DevelopersFrame
      acts={
        <Button look="primary" reason={reason} onClick={() => setCreating(true)}>
          {t.keys.create}
        </Button>
      }
    >
      <section className={css.card} aria-labelledby="keys">
        <h2 id="keys">{t.keys.title}</h2>
        <p className={css.soft}>{t.keys.why}</p>
        <Loaded query={list}>
          {({ items, total }) =>
            total === 0 ? (
              <p className={css.empty}>{t.keys.none}</p>
            ) : (
              <>
                <Keys keys={items} reason={reason} onAsk={setAsked} />
                <Pages
                  page={page}
                  total={total}
                  perPage={keysPerPage}
                  link={(to, text) => <Button onClick={() => setPage(to)}>{text}</Button>}
                />
              </>
            )
          }
        </Loaded>
      </section>
      {mayCall(me, access.getPublishableKey.may) && <PublishableKey me={me} />}
      {isCreating && (
        <CreateKey
          me={me}
          onMade={(made) => {
            setCreating(false);
            setSecret(made);
          }}
          onEnd={() => setCreating(false)}
        />
      )}
      {secret && (
        <SecretOnce title={t.keys.fresh} label={t.keys.secret} secret={secret} onDone={() => setSecret(null)} />
      )}
      {rolled && <RolledKey rolled={rolled} onDone={() => setRolled(null)} />}
      <Asking
        asked={asked}
        me={me}
        onRolled={(made) => {
          setAsked(null);
          setRolled(made);
        }}
        onEnd={() => setAsked(null)}
      />
    </DevelopersFrame>
  );
}

type AskingProps = Readonly<{ asked: Asked | null; me: Me; onRolled: (rolled: Rolled) => void; onEnd: () => void }>;

function Asking({ asked, me, onRolled, onEnd }: AskingProps) {
  if (asked?.act === 'roll') return <RollKey apiKey={asked.key} me={me} onRolled={onRolled} onEnd={onEnd} />;
  if (asked?.act === 'change') return <ChangeKey apiKey={asked.key} onEnd={onEnd} />;
  return asked && <RevokeKey apiKey={asked.key} onEnd={onEnd} />;
}

/** The secret of the new key, and how long the old one works. */
function RolledKey({ rolled, onDone }: Readonly<{ rolled: Rolled; onDone: () => void }>) {
  const t = useDeveloperTexts();
  const { oldEnd } = rolled;
  return (
    <SecretOnce title={t.keys.fresh} label={t.keys.secret} secret={rolled.secret} onDone={onDone}>
      {'at' in oldEnd ? (
        <p>
          {t.keys.oldUntil} <Moment at={oldEnd.at} />
        </p>
      ) : (
        <>
          <Notice tone="bad">{t.keys.oldStays}</Notice>
          <ErrorNotice error={oldEnd.error} />
        </>
      )}
    </SecretOnce>
  );
}

export const isVoid = ({ revokedAt, expiresAt }: Key): boolean =>
  revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= Date.now());

type RowsProps = Readonly<{ keys: readonly Key[]; reason: string | undefined; onAsk: (asked: Asked) => void }>;

function Keys({ keys, reason, onAsk }: RowsProps) {
  const t = useDeveloperTexts();
  const all = useTexts();
  const names = [t.keys.name, t.keys.scopes, t.keys.by, all.lastUsed, t.keys.expires, t.keys.status];
  const columns = [...names.map((name) => ({ name })), { name: all.actions, isHidden: true }];
  return (
    <Table label={t.keys.title} columns={columns}>
      {keys.map((key) => (
        <tr key={key.id}>
          <td>
            <strong>{key.name}</strong>
            <div className={css.code}>
              {key.prefix}…{key.last4}
            </div>
          </td>
          <td>
            <Allowed apiKey={key} />
          </td>
          <td>
            {key.createdBy ?? '–'}
            <div className={css.soft}>
              <Moment at={key.createdAt} />
            </div>
          </td>
          <td>
            {key.lastUsedAt ? <Moment at={key.lastUsedAt} /> : all.never}
            {key.lastUsedIp && <div className={css.soft}>{t.keys.from(key.lastUsedIp)}</div>}
          </td>
          <td>{key.expiresAt ? <Moment at={key.expiresAt} /> : all.never}</td>
          <td>
            <KeyStatus apiKey={key} />
          </td>
          <td className={css.end}>
            {!isVoid(key) && (
              <>
                <Button
                  look="link"
                  label={t.keys.editOf(key.name)}
                  reason={reason}
                  onClick={() => onAsk({ act: 'change', key })}
                >
                  {t.keys.edit}
                </Button>{' '}
                <Button
                  look="link"
                  label={t.keys.rollOf(key.name)}
                  reason={reason}
                  onClick={() => onAsk({ act: 'roll', key })}
                >
                  {t.keys.roll}
                </Button>{' '}
                <Button
                  look="link"
                  label={t.keys.revokeOf(key.name)}
                  reason={reason}
                  onClick={() => onAsk({ act: 'revoke', key })}
                >
                  {t.keys.revoke}
                </Button>
              </>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** What a key may do, from where and how much. Each scope leads to the calls of the reference that it opens. */
function Allowed({ apiKey }: Readonly<{ apiKey: Key }>) {
  const t = useDeveloperTexts();
  const numbers = useNumbers();
  return (
    <div className={`${css.stack} ${css.tight}`}>
      <div className={css.row}>
        {apiKey.scopes.map((scope) => (
          <a
            key={scope}
            href={`${docsUrl}api/scopes/#${scope.replace(':', '-')}`}
            className={css.badge}
            title={`${t.scopes[scope]} ${t.keys.inReference}`}
            target="_blank"
            rel="noreferrer"
          >
            {scope}
          </a>
        ))}
      </div>
      <div className={css.hint}>{apiKey.allowedIps.length ? apiKey.allowedIps.join(', ') : t.keys.anyIp}</div>
      {apiKey.limits.dailyUsd !== undefined && (
        <div className={css.hint}>{t.keys.upTo(numbers.fiat(apiKey.limits.dailyUsd, 'USD'))}</div>
      )}
    </div>
  );
}

function KeyStatus({ apiKey }: Readonly<{ apiKey: Key }>) {
  const t = useDeveloperTexts();
  if (apiKey.revokedAt)
    return (
      <>
        <span className={`${css.badge} ${css.bad}`}>{t.keys.revoked}</span> <Moment at={apiKey.revokedAt} />
      </>
    );
  return isVoid(apiKey) ? (
    <span className={`${css.badge} ${css.warn}`}>{t.keys.expired}</span>
  ) : (
    <span className={`${css.badge} ${css.good}`}>{t.keys.active}</span>
  );
}
