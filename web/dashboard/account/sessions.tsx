import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client, payload } from '../api/client';
import { queryClient } from '../api/queries';
import { Button } from '../design/button';
import { ConfirmDialog } from '../design/confirm';
import css from '../design/design.module.css';
import { ErrorNotice, Skeleton, useToast } from '../design/feedback';
import { Moment } from '../design/moment';
import { Table } from '../design/table';
import { useTexts } from '../texts/texts';

/** Where the person is signed in, and a way to end each of these sessions. */
export function Sessions() {
  const t = useTexts();
  const toast = useToast();
  const list = useQuery({
    queryKey: ['sessions'],
    queryFn: () => payload(client.GET('/api/v1/auth/sessions', { params: { query: { limit: 100 } } })),
  });
  const [ending, setEnding] = useState<{ id: string; device: string } | null>(null);
  const end = async (sessionId: string): Promise<boolean> => {
    await payload(client.DELETE('/api/v1/auth/sessions/{sessionId}', { params: { path: { sessionId } } }));
    await queryClient.invalidateQueries({ queryKey: ['sessions'] });
    toast(t.sessions.ended);
    return true;
  };
  return (
    <section className={css.card} aria-labelledby="sessions">
      <h2 id="sessions">{t.sessions.title}</h2>
      {list.isPending && <Skeleton />}
      {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
      {list.data && (
        <Table
          label={t.sessions.title}
          columns={[
            { name: t.sessions.device },
            { name: t.sessions.address },
            { name: t.created },
            { name: t.lastUsed },
            { name: t.actions, isHidden: true },
          ]}
        >
          {list.data.items.map(({ id, ip, userAgent, createdAt, lastUsedAt, isCurrent }) => (
            <tr key={id}>
              <td title={userAgent}>{deviceOf(userAgent) || t.sessions.unknown}</td>
              <td className={css.code}>{ip}</td>
              <td>
                <Moment at={createdAt} />
              </td>
              <td>
                <Moment at={lastUsedAt} />
              </td>
              <td className={css.end}>
                {isCurrent ? (
                  <span className={css.badge}>{t.sessions.current}</span>
                ) : (
                  <Button
                    look="link"
                    onClick={() => setEnding({ id, device: deviceOf(userAgent) || t.sessions.unknown })}
                  >
                    {t.sessions.end}
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {ending && (
        <ConfirmDialog
          title={t.sessions.endOf(ending.device)}
          sure={t.sessions.endSure}
          submit={t.sessions.end}
          look="danger"
          act={() => end(ending.id)}
          onEnd={() => setEnding(null)}
        />
      )}
    </section>
  );
}

const browsers = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrome\//, 'Chrome'],
  [/Safari\//, 'Safari'],
] as const;
const systems = [
  [/Windows/, 'Windows'],
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
] as const;

/** A browser and a system, as far as a user agent tells; the whole text is the cell's title. */
const deviceOf = (userAgent: string): string =>
  [browsers, systems].flatMap((known) => known.find(([pattern]) => pattern.test(userAgent))?.[1] ?? []).join(', ') ||
  userAgent.slice(0, 60);
