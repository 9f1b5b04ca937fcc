import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Badge } from '../design/badge';
import css from '../design/design.module.css';
import { Facts } from '../design/facts';
import { Loaded } from '../design/loaded';
import { Moment } from '../design/moment';
import { useNumbers } from '../design/show';
import { Table } from '../design/table';
import { overviewQuery, type Overview } from './data';
import { OperatorsFrame } from './frame';
import { useOperatorTexts } from './texts/use';

export function OverviewPage() {
  const query = useQuery(overviewQuery);
  return (
    <OperatorsFrame>
      <Loaded query={query} lines={12}>
        {(overview) => (
          <>
            <Incidents incidents={overview.incidents} />
            <Networks networks={overview.networks} />
            <Backlog overview={overview} />
            <Volumes volumes={overview.volumes} />
            <Exposure assets={overview.exposure.assets} />
            <Wallets wallets={overview.wallets} />
          </>
        )}
      </Loaded>
    </OperatorsFrame>
  );
}

function Card({ title, children }: Readonly<{ title: string; children: ReactNode }>) {
  return (
    <section className={css.card} aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Incidents({ incidents }: Pick<Overview, 'incidents'>) {
  const t = useOperatorTexts().overview;
  const numbers = useNumbers();
  return (
    <Card title={t.incidents}>
      {incidents.length === 0 ? (
        <p className={css.empty}>{t.noIncident}</p>
      ) : (
        <Table label={t.incidents} columns={[{ name: t.kind }, { name: t.count, isAmount: true }, { name: t.oldest }]}>
          {incidents.map((one) => (
            <tr key={one.kind}>
              <td>
                <Link to="/operators/incidents" search={{ kind: one.kind }}>
                  {one.kind}
                </Link>
              </td>
              <td className={css.end}>{numbers.count(one.count)}</td>
              <td>
                <Moment at={one.oldestAt} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  );
}

function Networks({ networks }: Pick<Overview, 'networks'>) {
  const t = useOperatorTexts().overview;
  const numbers = useNumbers();
  const columns = [
    { name: t.network },
    { name: t.scanned, isAmount: true },
    { name: t.lag, isAmount: true },
    { name: t.node },
    { name: t.underWay, isAmount: true },
  ];
  return (
    <Card title={t.networks}>
      <Table label={t.networks} columns={columns}>
        {networks.map((one) => (
          <tr key={one.network}>
            <td>{one.network}</td>
            <td className={css.end}>{`${one.height} / ${one.headHeight}`}</td>
            <td className={css.end}>{t.seconds(numbers.count(Math.round(one.lagSeconds)))}</td>
            <td>
              {one.staleReason === null ? (
                <Badge tone="good" text={t.fresh} />
              ) : (
                <Badge tone="bad" text={t.stale(one.staleReason)} />
              )}
              {one.tracesOffSince !== null && <Badge tone="warn" text={t.noTraces} />}
            </td>
            <td className={css.end}>{numbers.count(one.openIntents)}</td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}

function Backlog({ overview }: Readonly<{ overview: Overview }>) {
  const t = useOperatorTexts().overview;
  const numbers = useNumbers();
  const { outbox, audit, frozen } = overview;
  return (
    <Card title={t.backlog}>
      <Facts
        facts={[
          [t.outbox, t.outboxOf(numbers.count(outbox.rows), numbers.count(Math.round(outbox.ageSeconds)))],
          [t.deliveries, numbers.count(overview.openDeliveries)],
          [t.payments, numbers.count(overview.openPayments)],
          [
            t.requests,
            <Link key="requests" to="/operators/requests" search={{}}>
              {numbers.count(overview.openRequests)}
            </Link>,
          ],
          [
            t.registrations,
            <Link key="registrations" to="/operators/registrations" search={{ state: 'waiting' }}>
              {numbers.count(overview.waitingRegistrations)}
            </Link>,
          ],
          [
            t.audit,
            audit === null ? (
              t.noAudit
            ) : (
              <span key="audit">
                <Badge
                  tone={audit.violations === 0 ? 'good' : 'bad'}
                  text={t.violations(numbers.count(audit.violations))}
                />{' '}
                <Moment at={audit.at} />
              </span>
            ),
          ],
          [t.frozen, frozen.map((currency) => (currency === '*' ? t.everything : currency)).join(', ')],
        ]}
      />
    </Card>
  );
}

function Volumes({ volumes }: Pick<Overview, 'volumes'>) {
  const t = useOperatorTexts().overview;
  const numbers = useNumbers();
  const columns = [{ name: t.period }, { name: t.created, isAmount: true }, { name: t.settled, isAmount: true }];
  const rows = volumes.flatMap(({ hours, byCurrency }) => byCurrency.map((one) => ({ ...one, hours })));
  return (
    <Card title={t.volumes}>
      {rows.length === 0 ? (
        <p className={css.empty}>{t.noVolume}</p>
      ) : (
        <Table label={t.volumes} columns={columns}>
          {rows.map((one) => (
            <tr key={`${one.hours}/${one.fiatCurrency}`}>
              <td>{one.hours === 24 ? t.day : t.week}</td>
              <td className={css.end}>
                {numbers.fiat(one.createdAmount, one.fiatCurrency)}
                <div className={css.soft}>{numbers.count(one.created)}</div>
              </td>
              <td className={css.end}>
                {numbers.fiat(one.settledAmount, one.fiatCurrency)}
                <div className={css.soft}>{numbers.count(one.settled)}</div>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  );
}

function Exposure({ assets }: Pick<Overview['exposure'], 'assets'>) {
  const t = useOperatorTexts();
  const numbers = useNumbers();
  const names = [t.overview.treasury, t.overview.owed, t.overview.free, t.overview.position, t.overview.limit];
  return (
    <Card title={t.overview.exposure}>
      <Table
        label={t.overview.exposure}
        columns={[{ name: t.overview.asset }, ...names.map((name) => ({ name, isAmount: true }))]}
      >
        {assets.map((one) => (
          <tr key={one.currency}>
            <td>{one.currency}</td>
            <td className={css.end}>{numbers.crypto(one.treasury, '')}</td>
            <td className={css.end}>{numbers.crypto(one.owed, '')}</td>
            <td className={css.end}>{numbers.crypto(one.free, '')}</td>
            <td className={css.end}>
              {numbers.crypto(one.position, '')}
              {one.positionUsd !== null && <div className={css.soft}>{numbers.fiat(one.positionUsd, 'USD')}</div>}
            </td>
            <td className={css.end}>{one.limitUsd === null ? t.none : numbers.fiat(one.limitUsd, 'USD')}</td>
          </tr>
        ))}
      </Table>
    </Card>
  );
}

function Wallets({ wallets }: Pick<Overview, 'wallets'>) {
  const t = useOperatorTexts();
  const numbers = useNumbers();
  const words = t.overview;
  const names = [words.network, words.wallet, words.state, words.waits];
  return (
    <Card title={words.wallets}>
      {wallets.length === 0 ? (
        <p className={css.empty}>{words.noWallet}</p>
      ) : (
        <Table label={words.wallets} columns={names.map((name) => ({ name }))}>
          {wallets.map((one) => (
            <tr key={`${one.network}/${one.address}`}>
              <td>{one.network}</td>
              <td>
                <span className={css.code}>{one.address}</span>
                <div className={css.soft}>{t.find.roles[one.role]}</div>
              </td>
              <td>
                {one.frozenReason !== null ? (
                  <Badge tone="bad" text={words.walletFrozen(one.frozenReason)} />
                ) : (
                  <Badge tone={one.isBlocked ? 'warn' : 'good'} text={one.isBlocked ? words.blocked : words.ready} />
                )}
              </td>
              <td>
                {one.waitingTxId === null ? '–' : <span className={css.code}>{one.waitingTxId}</span>}
                {one.behind > 0 && <div className={css.soft}>{words.behind(numbers.count(one.behind))}</div>}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  );
}
