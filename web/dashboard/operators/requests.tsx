import { useInfiniteQuery, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { client, payload } from '../api/client';
import { byCursor, meQuery } from '../api/queries';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Choice } from '../design/field';
import { Moment } from '../design/moment';
import { More } from '../design/more';
import { useNumbers } from '../design/show';
import { Table } from '../design/table';
import { requestStateOf } from './filter';
import { AskForAct } from './ask';
import { readRequests, requestStates, type Request } from './data';
import { OperatorsFrame } from './frame';
import { ReasonDialog } from './reason-dialog';
import { useOperatorTexts } from './texts/use';

export function RequestsPage() {
  const t = useOperatorTexts().requests;
  const navigate = useNavigate();
  const { state = 'open' } = useSearch({ from: '/signed-in/operators/requests', select: requestStateOf });
  const [isAsking, setAsking] = useState(false);
  const query = useInfiniteQuery({
    queryKey: ['platform', 'requests', state],
    queryFn: ({ pageParam }) => readRequests(state, pageParam),
    ...byCursor,
    refetchInterval: 10_000,
  });
  return (
    <OperatorsFrame
      acts={
        <Button look="primary" onClick={() => setAsking(true)}>
          {t.ask}
        </Button>
      }
    >
      <p className={css.hint}>{t.why}</p>
      <Choice
        label={t.state}
        value={state}
        options={requestStates.map((one) => [one, t.states[one] ?? one] as const)}
        onChange={(chosen) =>
          void navigate({ to: '/operators/requests', search: chosen === 'open' ? {} : { state: chosen } })
        }
      />
      <section className={css.card} aria-label={t.title}>
        <More query={query} none={<p className={css.empty}>{t.none}</p>}>
          {(requests) => <Rows requests={requests} />}
        </More>
      </section>
      {isAsking && <AskForAct onEnd={() => setAsking(false)} />}
    </OperatorsFrame>
  );
}

type Asked = Readonly<{ request: Request; what: 'confirm' | 'cancel' }>;

function Rows({ requests }: Readonly<{ requests: readonly Request[] }>) {
  const t = useOperatorTexts().requests;
  const numbers = useNumbers();
  const [asked, setAsked] = useState<Asked | null>(null);
  const names = [t.what, t.reason, t.asked, t.confirmed, t.until];
  return (
    <>
      <Table label={t.title} columns={[...names.map((name) => ({ name })), { name: t.act, isHidden: true }]}>
        {requests.map((one) => (
          <tr key={one.id}>
            <td>
              {one.summary}
              <div className={css.code}>{`${one.kind} ${one.id}`}</div>
              {one.outcome !== null && <div className={css.soft}>{one.outcome}</div>}
            </td>
            <td>{one.reason}</td>
            <td>
              {one.askedBy}
              <div>
                <Moment at={one.askedAt} />
              </div>
            </td>
            <td>
              {t.of(numbers.count(one.confirmations.length), numbers.count(one.confirmationsNeeded))}
              {one.confirmations.map(({ by }) => (
                <div key={by} className={css.soft}>
                  {by}
                </div>
              ))}
            </td>
            <td>
              <Moment at={one.endedAt ?? one.expiresAt} />
            </td>
            <td>{one.state === 'open' && <Acts request={one} onAsk={(what) => setAsked({ request: one, what })} />}</td>
          </tr>
        ))}
      </Table>
      {asked?.what === 'confirm' && <Confirm request={asked.request} onEnd={() => setAsked(null)} />}
      {asked?.what === 'cancel' && <Cancel request={asked.request} onEnd={() => setAsked(null)} />}
    </>
  );
}

function Acts({ request, onAsk }: Readonly<{ request: Request; onAsk: (what: Asked['what']) => void }>) {
  const t = useOperatorTexts().requests;
  const { data: me } = useSuspenseQuery(meQuery);
  const hasConfirmed = request.confirmations.some(({ by }) => by === me?.email);
  return (
    <div className={css.row}>
      <Button
        look="primary"
        label={t.confirmOf(request.summary)}
        reason={hasConfirmed ? t.another : undefined}
        onClick={() => onAsk('confirm')}
      >
        {t.confirm}
      </Button>
      <Button label={t.cancelOf(request.summary)} onClick={() => onAsk('cancel')}>
        {t.cancel}
      </Button>
    </div>
  );
}

type Props = Readonly<{ request: Request; onEnd: () => void }>;
const pathOf = ({ id }: Request) => ({ path: { requestId: id } });

function Confirm({ request, onEnd }: Props) {
  const t = useOperatorTexts().requests;
  return (
    <ReasonDialog
      title={t.confirmOf(request.summary)}
      sure={t.confirmSure}
      submit={t.confirm}
      withoutReason
      isDanger
      act={async (_reason, factor) => {
        const params = pathOf(request);
        const done = await payload(
          client.POST('/api/v1/platform/operator-requests/{requestId}/confirm', { params, body: { ...factor } }),
        );
        return done.state === 'executed' ? t.executedToast : t.confirmedToast;
      }}
      onEnd={onEnd}
    >
      <p>{request.reason}</p>
    </ReasonDialog>
  );
}

function Cancel({ request, onEnd }: Props) {
  const t = useOperatorTexts().requests;
  return (
    <ReasonDialog
      title={t.cancelOf(request.summary)}
      sure={t.cancelSure}
      submit={t.cancel}
      act={async (reason, factor) => {
        const params = pathOf(request);
        const body = { reason, ...factor };
        await payload(client.POST('/api/v1/platform/operator-requests/{requestId}/cancel', { params, body }));
        return t.cancelled;
      }}
      onEnd={onEnd}
    />
  );
}
