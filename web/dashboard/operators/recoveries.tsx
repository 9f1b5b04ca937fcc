import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { byCursor } from '../api/queries';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Loaded } from '../design/loaded';
import { Moment } from '../design/moment';
import { More } from '../design/more';
import { useNumbers } from '../design/show';
import { Table } from '../design/table';
import { AskForAct } from './ask';
import { readUnclaimed, recoveriesQuery, type Recoveries, type Unclaimed } from './data';
import { OperatorsFrame } from './frame';
import { useOperatorTexts } from './texts/use';

/** Money that waits for its owner, and what recoveries of the database have lost. */
export function RecoveriesPage() {
  const query = useQuery(recoveriesQuery);
  return (
    <OperatorsFrame>
      <UnclaimedMoney />
      <Loaded query={query} lines={6}>
        {({ recoveries, lost, isCut }) => (
          <>
            <Lost lost={lost} isCut={isCut} />
            <List recoveries={recoveries} />
          </>
        )}
      </Loaded>
    </OperatorsFrame>
  );
}

function UnclaimedMoney() {
  const t = useOperatorTexts().recoveries;
  const query = useInfiniteQuery({
    queryKey: ['platform', 'unclaimed'],
    queryFn: ({ pageParam }) => readUnclaimed(pageParam),
    ...byCursor,
  });
  return (
    <section className={css.card} aria-label={t.unclaimed}>
      <h2>{t.unclaimed}</h2>
      <p className={css.hint}>{t.unclaimedHint}</p>
      <More query={query} none={<p className={css.empty}>{t.noUnclaimed}</p>}>
        {(deposits) => <Deposits deposits={deposits} />}
      </More>
    </section>
  );
}

function Deposits({ deposits }: Readonly<{ deposits: readonly Unclaimed[] }>) {
  const t = useOperatorTexts().recoveries;
  const numbers = useNumbers();
  const [asked, setAsked] = useState<Unclaimed | null>(null);
  const columns = [
    { name: t.amount, isAmount: true },
    { name: t.place },
    { name: t.tx },
    { name: t.at },
    { name: t.act, isHidden: true },
  ];
  return (
    <>
      <Table label={t.unclaimed} columns={columns}>
        {deposits.map((one) => (
          <tr key={one.id}>
            <td className={css.end}>{numbers.crypto(one.amount, one.currency)}</td>
            <td>
              {one.network}
              <div className={css.code}>{one.address}</div>
              {one.statedTag !== null && <div>{t.tag(one.statedTag)}</div>}
            </td>
            <td className={css.code}>{one.txId ?? t.noTx}</td>
            <td>
              <Moment at={one.confirmedAt} />
            </td>
            <td>
              <Button onClick={() => setAsked(one)}>
                {one.act === 'claim-address' ? t.claimAddress(one.id) : t.claim(one.id)}
              </Button>
            </td>
          </tr>
        ))}
      </Table>
      {asked && (
        <AskForAct
          kind={asked.act}
          about={{ depositId: asked.id, network: asked.network, address: asked.address }}
          onEnd={() => setAsked(null)}
        />
      )}
    </>
  );
}

function Lost({ lost, isCut }: Pick<Recoveries, 'lost' | 'isCut'>) {
  const t = useOperatorTexts().recoveries;
  const names = [t.what, t.tx, t.status, t.fate];
  return (
    <section className={css.card} aria-label={t.lost}>
      <h2>{t.lost}</h2>
      <p className={css.hint}>{isCut ? t.cut : t.lostHint}</p>
      {lost.length === 0 ? (
        <p className={css.empty}>{t.noLost}</p>
      ) : (
        <Table label={t.lost} columns={names.map((name) => ({ name }))}>
          {lost.map((one) => (
            <tr key={`${one.network}/${one.txId}`}>
              <td>
                {one.ref}
                {one.outputs.map(({ address, units }) => (
                  <div key={address}>
                    {`${units} `}
                    <span className={css.code}>{address}</span>
                  </div>
                ))}
              </td>
              <td>
                {`${one.network}, ${one.currency}`}
                <div className={css.code}>{one.txId}</div>
              </td>
              <td>{one.status}</td>
              <td>{t.fates[one.fate]}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

function List({ recoveries }: Pick<Recoveries, 'recoveries'>) {
  const t = useOperatorTexts().recoveries;
  const numbers = useNumbers();
  const names = [t.epoch, t.reason, t.begun, t.watched];
  return (
    <section className={css.card} aria-label={t.list}>
      <h2>{t.list}</h2>
      {recoveries.length === 0 ? (
        <p className={css.empty}>{t.noRecovery}</p>
      ) : (
        <Table label={t.list} columns={names.map((name) => ({ name }))}>
          {recoveries.map((one) => (
            <tr key={one.epoch}>
              <td>{numbers.count(one.epoch)}</td>
              <td>{one.reason}</td>
              <td>
                <Moment at={one.begunAt} />
              </td>
              <td>{one.unwatched === 0 ? t.allWatched : t.unwatched(numbers.count(one.unwatched))}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
