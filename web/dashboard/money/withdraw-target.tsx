import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { isByLightning } from '../../../domain/lightning/currency';
import { currenciesQuery } from '../api/queries';
import css from '../design/design.module.css';
import { ErrorNotice, Notice, Skeleton } from '../design/feedback';
import { Choice, Field } from '../design/field';
import { entriesAtOnce, isAbout, whitelistQuery, type WhitelistEntry } from './data';
import { useMoneyTexts } from './section';

/** The currencies that can be sent now. */
export function usePayable() {
  const { data } = useQuery(currenciesQuery);
  return (data ?? []).filter(({ payout }) => payout);
}

type Target = Readonly<{ currency: string; target: string; tag: string }>;
type Props = Readonly<{ value: Target; onChange: (change: Partial<Target>) => void }>;

/** Whether a withdrawal names its receiver by an entry of the whitelist. By Lightning it names an invoice. */
export const picksEntry = ({ currency }: Pick<Target, 'currency'>, mayPick: boolean): boolean =>
  mayPick && !isByLightning(currency);

/** Where a withdrawal goes: one of the whitelist, its address where a person may not read the whitelist, or an invoice
 *  of Lightning. */
export function WithdrawTarget({ mayPick, ...props }: Props & Readonly<{ mayPick: boolean }>) {
  if (isByLightning(props.value.currency)) return <Invoice {...props} />;
  return mayPick ? <Listed {...props} /> : <Typed {...props} />;
}

function Invoice({ value, onChange }: Props) {
  const words = useMoneyTexts().withdraw;
  return (
    <Field
      label={words.invoice}
      hint={words.invoiceHint}
      isCode
      maxLength={2000}
      autoComplete="off"
      spellCheck={false}
      value={value.target}
      onChange={(event) => onChange({ target: event.target.value })}
    />
  );
}

function Typed({ value, onChange }: Props) {
  const words = useMoneyTexts().withdraw;
  const asset = usePayable().find(({ currency }) => currency === value.currency);
  return (
    <>
      <Field
        label={words.address}
        hint={words.addressHint}
        isCode
        maxLength={120}
        value={value.target}
        onChange={(event) => onChange({ target: event.target.value })}
      />
      {asset?.requiresDestinationTag && (
        <Field
          label={words.tag}
          maxLength={64}
          value={value.tag}
          onChange={(event) => onChange({ tag: event.target.value })}
        />
      )}
    </>
  );
}

function Listed({ value, onChange }: Props) {
  const words = useMoneyTexts().withdraw;
  const list = useQuery(whitelistQuery);
  const listed = (list.data?.wallets ?? []).filter(({ currency }) => currency === value.currency);
  const usable = listed.filter(({ activeAt }) => Date.parse(activeAt) <= Date.now());
  return (
    <>
      {list.isPending && <Skeleton lines={1} />}
      <ErrorNotice error={list.error} onRetry={() => void list.refetch()} />
      {usable.length > 0 && (
        <Picker entries={usable} chosen={value.target} onChoose={(target) => onChange({ target })} />
      )}
      {list.data && !usable.length && <Notice tone="warn">{words.noTarget(value.currency)}</Notice>}
      {listed.length > usable.length && <p className={css.soft}>{words.cooling(listed.length - usable.length)}</p>}
    </>
  );
}

/** One of many entries: no more are offered at once than a person reads, and a field finds the others. */
function Picker(
  props: Readonly<{ entries: readonly WhitelistEntry[]; chosen: string; onChoose: (id: string) => void }>,
) {
  const { entries, chosen, onChoose } = props;
  const words = useMoneyTexts();
  const [typed, setTyped] = useState('');
  const found = entries.filter((entry) => entry.id === chosen || isAbout(entry, typed));
  const offered = found.slice(0, entriesAtOnce);
  const picked = found.find(({ id }) => id === chosen);
  if (picked && !offered.includes(picked)) offered.push(picked);
  return (
    <>
      {entries.length > entriesAtOnce && (
        <Field
          label={words.whitelist.find}
          type="search"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      )}
      <Choice
        label={words.withdraw.target}
        hint={found.length > offered.length && words.withdraw.offered(offered.length, found.length)}
        value={chosen}
        options={[['', words.withdraw.choose], ...offered.map((entry) => [entry.id, nameOf(entry)] as const)]}
        onChange={onChoose}
      />
    </>
  );
}

const nameOf = ({ label, address, destinationTag: tag }: WhitelistEntry): string => {
  const receiver = tag ? `${address} / ${tag}` : (address ?? '');
  return label ? `${label}: ${receiver}` : receiver;
};
