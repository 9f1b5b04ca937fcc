import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Facts } from '../design/facts';
import { Loaded } from '../design/loaded';
import { useNumbers } from '../design/show';
import { Table } from '../design/table';
import { exposureQuery, limitsQuery, type Exposure } from './data';
import { LimitPosition, SetPair } from './exposure-dialogs';
import { OperatorsFrame } from './frame';
import { LimitsDialog } from './limits-dialog';
import { useOperatorTexts } from './texts/use';

/** What bounds the platform: what may leave it, what it may hold by converting, and how pairs are converted. */
export function LimitsPage() {
  const exposure = useQuery(exposureQuery);
  return (
    <OperatorsFrame>
      <Egress />
      <Loaded query={exposure} lines={6}>
        {({ assets, pairs }) => (
          <>
            <Positions assets={assets} />
            <Pairs assets={assets} pairs={pairs} />
          </>
        )}
      </Loaded>
    </OperatorsFrame>
  );
}

function Egress() {
  const { limits: t, merchants } = useOperatorTexts();
  const numbers = useNumbers();
  const query = useQuery(limitsQuery());
  const [isAsking, setAsking] = useState(false);
  const usd = (value: string | null): string => (value === null ? t.noLimit : numbers.fiat(value, 'USD'));
  return (
    <section className={css.card} aria-label={t.outbound}>
      <h2>{t.outbound}</h2>
      <p className={css.hint}>{t.outboundHint}</p>
      <Loaded query={query}>
        {({ limits, used }) => (
          <>
            <Facts
              facts={[
                [merchants.dailyUsd, t.used(numbers.fiat(used.dailyUsd, 'USD'), usd(limits.dailyUsd))],
                [
                  merchants.hourlyCount,
                  t.used(
                    numbers.count(used.hourlyCount),
                    limits.hourlyCount === null ? t.noLimit : numbers.count(limits.hourlyCount),
                  ),
                ],
                [merchants.approvalUsd, usd(limits.approvalUsd)],
              ]}
            />
            <div>
              <Button onClick={() => setAsking(true)}>{t.change}</Button>
            </div>
            {isAsking && (
              <LimitsDialog title={t.change} sure={t.changeSure} limits={limits} onEnd={() => setAsking(false)} />
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Positions({ assets }: Pick<Exposure, 'assets'>) {
  const t = useOperatorTexts().limits;
  const numbers = useNumbers();
  const [asked, setAsked] = useState<Exposure['assets'][number] | null>(null);
  const columns = [
    { name: t.asset },
    { name: t.position, isAmount: true },
    { name: t.limit, isAmount: true },
    { name: t.beyond },
    { name: t.act, isHidden: true },
  ];
  return (
    <section className={css.card} aria-label={t.exposure}>
      <h2>{t.exposure}</h2>
      <p className={css.hint}>{t.exposureHint}</p>
      <Table label={t.exposure} columns={columns}>
        {assets.map((one) => (
          <tr key={one.currency}>
            <td>{one.currency}</td>
            <td className={css.end}>
              {numbers.signed(one.position, '')}
              {one.positionUsd !== null && <div className={css.soft}>{numbers.fiat(one.positionUsd, 'USD')}</div>}
            </td>
            <td className={css.end}>{one.limitUsd === null ? t.noLimit : numbers.fiat(one.limitUsd, 'USD')}</td>
            <td>{one.limitUsd === null ? '–' : t.beyonds[one.beyond]}</td>
            <td>
              <Button onClick={() => setAsked(one)}>{t.limitOf(one.currency)}</Button>
            </td>
          </tr>
        ))}
      </Table>
      {asked && <LimitPosition asset={asked} onEnd={() => setAsked(null)} />}
    </section>
  );
}

type Pair = Exposure['pairs'][number];

function Pairs({ assets, pairs }: Exposure) {
  const t = useOperatorTexts().limits;
  const numbers = useNumbers();
  const [asked, setAsked] = useState<Pair | 'new' | null>(null);
  const columns = [
    { name: t.pair },
    { name: t.mode },
    { name: t.maximum, isAmount: true },
    { name: t.act, isHidden: true },
  ];
  return (
    <section className={css.card} aria-label={t.pairs}>
      <div className={`${css.row} ${css.between}`}>
        <h2>{t.pairs}</h2>
        <Button onClick={() => setAsked('new')}>{t.setPair}</Button>
      </div>
      <p className={css.hint}>{t.pairsHint}</p>
      {pairs.length === 0 ? (
        <p className={css.empty}>{t.noPair}</p>
      ) : (
        <Table label={t.pairs} columns={columns}>
          {pairs.map((one) => (
            <tr key={`${one.fromCurrency}/${one.toCurrency}`}>
              <td>{`${one.fromCurrency} → ${one.toCurrency}`}</td>
              <td>{t.modes[one.mode]}</td>
              <td className={css.end}>{one.maximumUsd === null ? t.usual : numbers.fiat(one.maximumUsd, 'USD')}</td>
              <td>
                <Button onClick={() => setAsked(one)}>{t.changePair(one.fromCurrency, one.toCurrency)}</Button>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {asked && (
        <SetPair
          currencies={assets.map(({ currency }) => currency)}
          pair={asked === 'new' ? null : asked}
          onEnd={() => setAsked(null)}
        />
      )}
    </section>
  );
}
