import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { compare } from '../../../domain/money';
import { Badge } from '../design/badge';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { Loaded } from '../design/loaded';
import { Moment } from '../design/moment';
import { useNumbers } from '../design/show';
import { Table } from '../design/table';
import { AskForAct, type FieldName, type Kind } from './ask';
import { treasuryQuery, type Treasury } from './data';
import { OperatorsFrame } from './frame';
import type { OperatorTexts } from './texts/en';
import { useOperatorTexts } from './texts/use';

/** What lies where, against what is owed. */
export function TreasuryPage() {
  const query = useQuery(treasuryQuery);
  return (
    <OperatorsFrame>
      <Loaded query={query} lines={10}>
        {({ assets, wallets }) => (
          <>
            <Assets assets={assets} />
            <Wallets wallets={wallets} />
            <Places assets={assets} />
          </>
        )}
      </Loaded>
    </OperatorsFrame>
  );
}

type Asset = Treasury['assets'][number];
type Wallet = Treasury['wallets'][number];

/** What an address is for; a hot wallet is one that the treasury sends from. */
function roleOf({ roles }: OperatorTexts['treasury'], { role, lane }: Pick<Wallet, 'role' | 'lane'>): string {
  if (lane === 'dropped') return roles.dropped;
  return role === 'treasury' && lane === 'used' ? roles.lane : roles[role];
}

function Assets({ assets }: Pick<Treasury, 'assets'>) {
  const t = useOperatorTexts().treasury;
  const numbers = useNumbers();
  const amounts = [t.held, t.owed, t.free].map((name) => ({ name, isAmount: true }));
  return (
    <section className={css.card} aria-label={t.title}>
      <h2>{t.title}</h2>
      <p className={css.hint}>{t.why}</p>
      <Table label={t.title} columns={[{ name: t.asset }, ...amounts, { name: t.owedFor }, { name: t.compared }]}>
        {assets.map((one) => (
          <tr key={one.currency}>
            <td>{one.currency}</td>
            <td className={css.end}>{numbers.crypto(one.treasury, '')}</td>
            <td className={css.end}>{numbers.crypto(one.owed, '')}</td>
            <td className={css.end}>{numbers.crypto(one.free, '')}</td>
            <td>
              {one.owedFor.length === 0
                ? '–'
                : one.owedFor.map(({ account, amount }) => (
                    <div key={account}>{`${t.accounts[account] ?? account}: ${numbers.crypto(amount, '')}`}</div>
                  ))}
            </td>
            <td>
              <Comparison asset={one} />
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

function Comparison({ asset: { compared, currency } }: Readonly<{ asset: Asset }>) {
  const t = useOperatorTexts().treasury;
  const numbers = useNumbers();
  if (compared === null) return t.never;
  const isExplained = compare(compared.unexplained, '0') === 0;
  return (
    <>
      <Badge
        tone={isExplained ? 'good' : 'bad'}
        text={isExplained ? t.fits : t.differs(numbers.signed(compared.unexplained, currency))}
      />
      <div className={css.soft}>
        {t.block(compared.height)} <Moment at={compared.at} />
      </div>
    </>
  );
}

type Asked = Readonly<{ kind: Kind; about: Partial<Record<FieldName, string>> }>;

function Wallets({ wallets }: Pick<Treasury, 'wallets'>) {
  const t = useOperatorTexts().treasury;
  const [asked, setAsked] = useState<Asked | null>(null);
  const columns = [
    { name: t.network },
    { name: t.address },
    { name: t.gas, isAmount: true },
    { name: t.state },
    { name: t.waits },
  ];
  return (
    <section className={css.card} aria-label={t.wallets}>
      <h2>{t.wallets}</h2>
      <p className={css.hint}>{t.walletsHint}</p>
      {wallets.length === 0 ? (
        <p className={css.empty}>{t.noWallet}</p>
      ) : (
        <Table label={t.wallets} columns={columns}>
          {wallets.map((one) => (
            <tr key={`${one.network}/${one.address}`}>
              <td>{one.network}</td>
              <td>
                <span className={css.code}>{one.address}</span>
                <div className={css.soft}>{`${roleOf(t, one)} ${one.index}`}</div>
              </td>
              <td className={css.end}>
                <Gas wallet={one} />
              </td>
              <td>
                <State wallet={one} onAsk={setAsked} />
              </td>
              <td>
                <Waiting wallet={one} onAsk={setAsked} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {asked && <AskForAct kind={asked.kind} about={asked.about} onEnd={() => setAsked(null)} />}
    </section>
  );
}

function Gas({ wallet }: Readonly<{ wallet: Wallet }>) {
  const t = useOperatorTexts().treasury;
  const numbers = useNumbers();
  const { balance, native, gasWanted, lane } = wallet;
  const isLow = lane === 'used' && gasWanted !== null && compare(balance, gasWanted) < 0;
  return (
    <>
      {numbers.crypto(balance, native)}
      {gasWanted !== null && <div className={css.soft}>{t.wants(numbers.crypto(gasWanted, native))}</div>}
      {isLow && <Badge tone="warn" text={t.low} />}
    </>
  );
}

type WithActs = Readonly<{ wallet: Wallet; onAsk: (asked: Asked) => void }>;

function State({ wallet, onAsk }: WithActs) {
  const t = useOperatorTexts().treasury;
  const { network, address, frozenReason, isBlocked, nextNonce } = wallet;
  return (
    <>
      {frozenReason !== null ? (
        <Badge tone="bad" text={t.frozen(frozenReason)} />
      ) : (
        <Badge tone={isBlocked ? 'warn' : 'good'} text={isBlocked ? t.blocked : t.ready} />
      )}
      <div className={css.soft}>{t.nonce(String(nextNonce))}</div>
      {frozenReason !== null && (
        <Button
          label={`${t.unfreeze}: ${address}`}
          onClick={() => onAsk({ kind: 'unfreeze-wallet', about: { network, address } })}
        >
          {t.unfreeze}
        </Button>
      )}
    </>
  );
}

/** What holds the wallet up, and what operators may ask for about it. */
function Waiting({ wallet: { waiting, behind }, onAsk }: WithActs) {
  const t = useOperatorTexts().treasury;
  const numbers = useNumbers();
  if (waiting === null) return '–';
  const { intentId } = waiting;
  return (
    <>
      <Link to="/operators/find" search={{ q: intentId }}>
        {t.intent(intentId)}
      </Link>
      <div>{`${waiting.kind} ${waiting.ref}`}</div>
      <div className={css.code}>{waiting.txId}</div>
      <div>{t.price(waiting.unitPrice, waiting.maxUnitPrice)}</div>
      <div className={css.soft}>
        <Moment at={waiting.signedAt} />
      </div>
      {behind > 0 && <div className={css.soft}>{t.behind(numbers.count(behind))}</div>}
      <div className={css.row}>
        <Button
          label={`${t.raise}: ${t.intent(intentId)}`}
          onClick={() => onAsk({ kind: 'raise-cap', about: { intentId } })}
        >
          {t.raise}
        </Button>
        <Button
          label={`${t.replace}: ${t.intent(intentId)}`}
          onClick={() => onAsk({ kind: 'replace-blocker', about: { intentId } })}
        >
          {t.replace}
        </Button>
      </div>
    </>
  );
}

function Places({ assets }: Pick<Treasury, 'assets'>) {
  const t = useOperatorTexts().treasury;
  const numbers = useNumbers();
  const rows = assets.flatMap(({ currency, addresses }) => addresses.map((one) => ({ ...one, currency })));
  const amounts = [t.canLeave, t.taken].map((name) => ({ name, isAmount: true }));
  return (
    <section className={css.card} aria-label={t.places}>
      <h2>{t.places}</h2>
      {rows.length === 0 ? (
        <p className={css.empty}>{t.noPlace}</p>
      ) : (
        <Table label={t.places} columns={[{ name: t.asset }, { name: t.address }, { name: t.role }, ...amounts]}>
          {rows.map((one) => (
            <tr key={`${one.currency}/${one.role}/${one.address}`}>
              <td>{one.currency}</td>
              <td className={css.code}>{one.address}</td>
              <td>{roleOf(t, one)}</td>
              <td className={css.end}>{numbers.crypto(one.free, one.currency)}</td>
              <td className={css.end}>{numbers.crypto(one.taken, one.currency)}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
