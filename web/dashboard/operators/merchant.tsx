import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, ButtonLink } from '../design/button';
import css from '../design/design.module.css';
import { Facts } from '../design/facts';
import { Loaded } from '../design/loaded';
import { Moment } from '../design/moment';
import { useNumbers } from '../design/show';
import { Table } from '../design/table';
import { limitsQuery, merchantQuery, type MerchantPage as Merchant } from './data';
import { OperatorsFrame } from './frame';
import { ChangeFee, ChangeLimits, ChangeStatus } from './merchant-acts';
import { MerchantBadge } from './merchants';
import { useOperatorTexts } from './texts/use';

export function MerchantPage() {
  const t = useOperatorTexts().merchants;
  const { merchantId } = useParams({ from: '/signed-in/operators/merchants/$merchantId' });
  const query = useQuery(merchantQuery(merchantId));
  return (
    <OperatorsFrame>
      <p>
        <Link to="/operators/merchants" search={{}}>
          {t.back}
        </Link>
      </p>
      <Loaded query={query} lines={8}>
        {(merchant) => (
          <>
            <Head merchant={merchant} />
            <Limits merchant={merchant} />
            <Balances merchant={merchant} />
            <Users merchant={merchant} />
          </>
        )}
      </Loaded>
    </OperatorsFrame>
  );
}

type Props = Readonly<{ merchant: Merchant }>;

function Head({ merchant }: Props) {
  const { merchants: t, registrations } = useOperatorTexts();
  const numbers = useNumbers();
  const [asks, setAsks] = useState<'status' | 'fee' | null>(null);
  const isActive = merchant.status === 'active';
  return (
    <section className={css.card} aria-label={merchant.name}>
      <div className={`${css.row} ${css.between}`}>
        <h2>{merchant.name}</h2>
        <MerchantBadge status={merchant.status} />
      </div>
      <Facts
        facts={[
          [
            'Id',
            <span key="id" className={css.code}>
              {merchant.id}
            </span>,
          ],
          [t.since, <Moment key="since" at={merchant.createdAt} />],
          [t.outgoing, merchant.outgoingHeld === null ? t.free : t.held(merchant.outgoingHeld)],
          [t.fee, numbers.percent(merchant.feeBps / 10_000)],
          [t.feeBearer, t.bearers[merchant.feeBearer]],
          [
            t.registration,
            merchant.registration !== 'approved' && (
              <Link key="registration" to="/operators/registrations" search={{ state: merchant.registration }}>
                {registrations.states[merchant.registration]}
              </Link>
            ),
          ],
          [t.openPayments, numbers.count(merchant.openPayments)],
        ]}
      />
      <div className={css.row}>
        <Button
          look={isActive ? 'danger' : 'primary'}
          reason={merchant.registration === 'approved' ? undefined : t.undecided}
          onClick={() => setAsks('status')}
        >
          {isActive ? t.suspend : t.lift}
        </Button>
        <Button onClick={() => setAsks('fee')}>{t.changeFee}</Button>
        {merchant.outgoingHeld !== null && (
          <ButtonLink to="/operators/requests" search={{}}>
            {t.askLift}
          </ButtonLink>
        )}
      </div>
      {asks === 'status' && <ChangeStatus merchant={merchant} onEnd={() => setAsks(null)} />}
      {asks === 'fee' && <ChangeFee merchant={merchant} onEnd={() => setAsks(null)} />}
    </section>
  );
}

function Limits({ merchant }: Props) {
  const t = useOperatorTexts().merchants;
  const numbers = useNumbers();
  const query = useQuery(limitsQuery(merchant.id));
  const [isAsking, setAsking] = useState(false);
  const usd = (value: string | null): string => (value === null ? t.noLimit : numbers.fiat(value, 'USD'));
  return (
    <section className={css.card} aria-label={t.limits}>
      <h2>{t.limits}</h2>
      <p className={css.hint}>{t.limitsHint}</p>
      <Loaded query={query}>
        {({ limits }) => (
          <>
            <Facts
              facts={[
                [t.dailyUsd, usd(limits.dailyUsd)],
                [t.hourlyCount, limits.hourlyCount === null ? t.noLimit : numbers.count(limits.hourlyCount)],
                [t.approvalUsd, usd(limits.approvalUsd)],
              ]}
            />
            <div>
              <Button onClick={() => setAsking(true)}>{t.changeLimits}</Button>
            </div>
            {isAsking && <ChangeLimits merchant={merchant} limits={limits} onEnd={() => setAsking(false)} />}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Balances({ merchant }: Props) {
  const t = useOperatorTexts().merchants;
  const numbers = useNumbers();
  const amounts = [t.available, t.reserved, t.pending].map((name) => ({ name, isAmount: true }));
  return (
    <section className={css.card} aria-label={t.balances}>
      <h2>{t.balances}</h2>
      {merchant.balances.length === 0 ? (
        <p className={css.empty}>{t.noBalance}</p>
      ) : (
        <Table label={t.balances} columns={[{ name: t.currency }, ...amounts]}>
          {merchant.balances.map((one) => (
            <tr key={one.currency}>
              <td>{one.currency}</td>
              <td className={css.end}>{numbers.crypto(one.available, '')}</td>
              <td className={css.end}>{numbers.crypto(one.reserved, '')}</td>
              <td className={css.end}>{numbers.crypto(one.pending, '')}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

function Users({ merchant }: Props) {
  const t = useOperatorTexts().merchants;
  const names = [t.person, t.role, t.lastLogin];
  return (
    <section className={css.card} aria-label={t.users}>
      <h2>{t.users}</h2>
      {merchant.users.length === 0 ? (
        <p className={css.empty}>{t.noUser}</p>
      ) : (
        <Table label={t.users} columns={names.map((name) => ({ name }))}>
          {merchant.users.map((user) => (
            <tr key={user.id}>
              <td>
                {user.email}
                <div className={css.soft}>{user.displayName}</div>
              </td>
              <td>
                {user.role}
                {!user.isActive && <div className={css.soft}>{t.inactive}</div>}
              </td>
              <td>{user.lastLoginAt === null ? t.never : <Moment at={user.lastLoginAt} />}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
