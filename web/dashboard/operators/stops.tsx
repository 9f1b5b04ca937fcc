import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client, payload } from '../api/client';
import { currenciesQuery } from '../api/queries';
import { Badge } from '../design/badge';
import { Button, ButtonLink } from '../design/button';
import css from '../design/design.module.css';
import { Choice } from '../design/field';
import { Loaded } from '../design/loaded';
import { Moment } from '../design/moment';
import { Table } from '../design/table';
import { freezesQuery, switchesQuery, type Switch } from './data';
import { OperatorsFrame } from './frame';
import { ReasonDialog } from './reason-dialog';
import { useOperatorTexts } from './texts/use';

/** What is stopped for everybody: currencies that do not leave, and features that are off. */
export function StopsPage() {
  return (
    <OperatorsFrame>
      <Freezes />
      <Switches />
    </OperatorsFrame>
  );
}

function Freezes() {
  const t = useOperatorTexts().stops;
  const query = useQuery(freezesQuery);
  const [isAsking, setAsking] = useState(false);
  return (
    <section className={css.card} aria-label={t.title}>
      <div className={`${css.row} ${css.between}`}>
        <h2>{t.title}</h2>
        <Button look="danger" onClick={() => setAsking(true)}>
          {t.freeze}
        </Button>
      </div>
      <p className={css.hint}>{t.why}</p>
      <Loaded query={query}>
        {(freezes) =>
          freezes.length === 0 ? (
            <p className={css.empty}>{t.none}</p>
          ) : (
            <>
              <Table label={t.title} columns={[t.currency, t.reason, t.since].map((name) => ({ name }))}>
                {freezes.map((one) => (
                  <tr key={one.currency}>
                    <td>{one.currency === '*' ? t.everything : one.currency}</td>
                    <td>{one.reason}</td>
                    <td>
                      <Moment at={one.frozenAt} />
                    </td>
                  </tr>
                ))}
              </Table>
              <div>
                <ButtonLink to="/operators/requests" search={{}}>
                  {t.askLift}
                </ButtonLink>
              </div>
            </>
          )
        }
      </Loaded>
      {isAsking && <Freeze onEnd={() => setAsking(false)} />}
    </section>
  );
}

function Freeze({ onEnd }: Readonly<{ onEnd: () => void }>) {
  const t = useOperatorTexts().stops;
  const currencies = useQuery(currenciesQuery);
  const [currency, setCurrency] = useState('*');
  const options = [
    ['*', t.everything] as const,
    ...(currencies.data ?? []).map((one) => [one.currency, one.currency] as const),
  ];
  return (
    <ReasonDialog
      title={t.freeze}
      sure={t.freezeSure}
      submit={t.freeze}
      isDanger
      act={async (reason, factor) => {
        const body = { currency, reason, ...factor };
        await payload(client.POST('/api/v1/platform/egress-freezes', { body }));
        return t.frozen;
      }}
      onEnd={onEnd}
    >
      <Choice label={t.currency} value={currency} options={options} onChange={setCurrency} />
    </ReasonDialog>
  );
}

function Switches() {
  const t = useOperatorTexts().stops;
  const query = useQuery(switchesQuery);
  const [asked, setAsked] = useState<Switch | null>(null);
  const nameOf = ({ name }: Switch): string => t.names[name] ?? name;
  return (
    <section className={css.card} aria-label={t.switches}>
      <h2>{t.switches}</h2>
      <Loaded query={query}>
        {(switches) => (
          <Table
            label={t.switches}
            columns={[
              { name: t.name },
              { name: t.state },
              { name: t.reason },
              { name: t.changed },
              { name: t.switchSure, isHidden: true },
            ]}
          >
            {switches.map((one) => (
              <tr key={one.name}>
                <td>{nameOf(one)}</td>
                <td>
                  <Badge tone={one.isOn ? 'good' : 'bad'} text={one.isOn ? t.on : t.off} />
                </td>
                <td>{one.reason ?? '–'}</td>
                <td>{one.changedAt === null ? '–' : <Moment at={one.changedAt} />}</td>
                <td>
                  <Button onClick={() => setAsked(one)}>
                    {one.isOn ? t.turnOff(nameOf(one)) : t.turnOn(nameOf(one))}
                  </Button>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Loaded>
      {asked && <Flip one={asked} name={nameOf(asked)} onEnd={() => setAsked(null)} />}
    </section>
  );
}

function Flip({ one, name, onEnd }: Readonly<{ one: Switch; name: string; onEnd: () => void }>) {
  const t = useOperatorTexts().stops;
  const title = one.isOn ? t.turnOff(name) : t.turnOn(name);
  return (
    <ReasonDialog
      title={title}
      sure={t.switchSure}
      submit={title}
      isDanger={one.isOn}
      act={async (reason, factor) => {
        const params = { path: { name: one.name } };
        const body = { isOn: !one.isOn, reason, ...factor };
        await payload(client.POST('/api/v1/platform/switches/{name}', { params, body }));
        return t.switched;
      }}
      onEnd={onEnd}
    />
  );
}
