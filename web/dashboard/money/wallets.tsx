import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { isByLightning } from '../../../domain/lightning/currency';
import { currenciesQuery, type Me } from '../api/queries';
import { Badge } from '../design/badge';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, Notice, Skeleton } from '../design/feedback';
import { Moment } from '../design/moment';
import { Copy } from '../design/show';
import { Table } from '../design/table';
import { useTexts } from '../texts/texts';
import { walletsQuery, type Wallet } from './data';
import { MoneyPage, useMoneyTexts } from './section';
import { AddWallet, DecideWallet, RepointWallet, type WalletDecision } from './wallet-acts';

/** Where settled money goes, per currency. */
export function WalletsPage() {
  const t = useTexts();
  const words = useMoneyTexts().wallets;
  const [isAdding, setAdding] = useState(false);
  const list = useQuery({ ...walletsQuery, refetchInterval: 30_000 });
  const currencies = useQuery(currenciesQuery).data ?? [];
  const active = (list.data ?? []).filter(({ isActive }) => isActive);
  const free = currencies.filter(({ currency }) => !active.some((wallet) => wallet.currency === currency));
  const reasonOf = (me: Me): string | undefined =>
    !mayCall(me, access.addWallet.may) ? t.needs('wallets:manage') : free.length ? undefined : words.allThere;
  return (
    <MoneyPage
      title={words.title}
      permission="wallets:view"
      acts={(me) => (
        <Button look="primary" reason={reasonOf(me)} onClick={() => setAdding(true)}>
          {words.add}
        </Button>
      )}
    >
      {(me) => (
        <>
          {list.isPending && <Skeleton lines={6} />}
          {list.isError && <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />}
          {active.map((wallet) => (
            <Active key={wallet.id} wallet={wallet} me={me} />
          ))}
          {list.data && !active.length && (
            <section className={css.card}>
              <p className={css.empty}>{words.none}</p>
            </section>
          )}
          <Past wallets={(list.data ?? []).filter(({ isActive }) => !isActive)} />
          {isAdding && <AddWallet currencies={free} onEnd={() => setAdding(false)} />}
        </>
      )}
    </MoneyPage>
  );
}

function Active({ wallet, me }: Readonly<{ wallet: Wallet; me: Me }>) {
  const t = useTexts();
  const words = useMoneyTexts().wallets;
  const [asked, setAsked] = useState<WalletDecision | 'repoint' | null>(null);
  const reason = mayCall(me, access.repointWallet.may) ? undefined : t.needs('wallets:manage');
  const end = () => setAsked(null);
  const byLightning = isByLightning(wallet.currency);
  return (
    <section className={css.card} aria-labelledby={wallet.id}>
      <div className={`${css.row} ${css.between}`}>
        <h2 id={wallet.id}>{wallet.currency}</h2>
        <Badge
          tone={wallet.custody === 'external' ? 'busy' : 'plain'}
          text={words.custodies[wallet.custody as 'platform' | 'external']}
        />
      </div>
      <p className={css.soft}>
        {byLightning ? words.custodyWhy.lightning : words.custodyWhy[wallet.custody as 'platform' | 'external']}
      </p>
      <Copy value={wallet.settlementAddress} label={byLightning ? words.nodeKey : words.settlementAddress} />
      {wallet.pendingChange && <Pending wallet={wallet} me={me} reason={reason} onAsk={setAsked} />}
      <div className={css.row}>
        {!byLightning && (
          <Button label={words.repointOf(wallet.currency)} reason={reason} onClick={() => setAsked('repoint')}>
            {words.repoint}
          </Button>
        )}
        <Button
          look="danger"
          label={words.deactivateOf(wallet.currency)}
          reason={reason}
          onClick={() => setAsked('deactivate')}
        >
          {words.decisions.deactivate.name}
        </Button>
      </div>
      {asked === 'repoint' && <RepointWallet wallet={wallet} onEnd={end} />}
      {asked && asked !== 'repoint' && <DecideWallet wallet={wallet} decision={asked} onEnd={end} />}
    </section>
  );
}

/** Another settlement address that was asked for: who, when it counts, and what a second person may do. */
function Pending(
  props: Readonly<{
    wallet: Wallet;
    me: Me;
    reason: string | undefined;
    onAsk: (decision: WalletDecision) => void;
  }>,
) {
  const { wallet, me, reason, onAsk } = props;
  const words = useMoneyTexts().wallets;
  const { settlementAddress, status, activeAt, requestedBy } = wallet.pendingChange!;
  const isWaiting = status === 'awaiting_approval';
  return (
    <Notice tone="warn">
      <p>
        {isWaiting ? words.waits(requestedBy) : words.cools(requestedBy)} {!isWaiting && <Moment at={activeAt} />}
      </p>
      <p className={css.code}>{settlementAddress}</p>
      <div className={css.row}>
        {isWaiting && (
          <Button
            reason={reason ?? (requestedBy === me.email ? words.secondPerson : undefined)}
            onClick={() => onAsk('approve')}
          >
            {words.decisions.approve.name}
          </Button>
        )}
        <Button look="danger" reason={reason} onClick={() => onAsk('reject')}>
          {words.decisions.reject.name}
        </Button>
      </div>
    </Notice>
  );
}

function Past({ wallets }: Readonly<{ wallets: readonly Wallet[] }>) {
  const t = useTexts();
  const words = useMoneyTexts().wallets;
  if (!wallets.length) return null;
  return (
    <section className={css.card} aria-labelledby="past">
      <h2 id="past">{words.past}</h2>
      <Table
        label={words.past}
        columns={[{ name: t.payments.currency }, { name: words.settlementAddress }, { name: t.created }]}
      >
        {wallets.map(({ id, currency, settlementAddress, createdAt }) => (
          <tr key={id}>
            <td>{currency}</td>
            <td className={css.code}>{settlementAddress}</td>
            <td>
              <Moment at={createdAt} />
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
