import { conversionStatuses } from '../../../domain/conversions/conversion';
import { entrySources, entryTypes, type EntrySource, type EntryType } from '../../../domain/ledger/entry';
import { batchStatuses } from '../../../domain/payouts/payout';
import { withdrawalStatuses } from '../../../domain/withdrawals/withdrawal';
import { dayOf, oneOf, onlyOn, pageOf, periodOf, stated, textOf } from '../design/filter';

type Search = Readonly<Record<string, unknown>>;

/** What a page of the ledger shows; `before`: the cursor of an older page. */
export type LedgerFilter = Readonly<{
  type?: EntryType | undefined;
  source?: EntrySource | undefined;
  id?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  before?: string | undefined;
}>;

export const ledgerFilterOf = (search: Search): LedgerFilter =>
  stated({
    type: oneOf(entryTypes, search['type']),
    source: oneOf(entrySources, search['source']),
    id: textOf(search['id'])?.slice(0, 100),
    from: dayOf(search['from']),
    to: dayOf(search['to']),
    before: /^\d{1,18}$/.exec(String(search['before'] ?? ''))?.[0],
  });

/** The filter as the API reads it, without the cursor. */
export const ledgerQueryOf = ({ type, source, id, from, to }: LedgerFilter) => ({
  ...(type ? { type } : {}),
  ...(source ? { sourceType: source } : {}),
  ...(id ? { sourceId: id } : {}),
  ...periodOf({ from, to }),
});

/** What a list of outgoing money or conversions shows. */
export type ListFilter<Status extends string> = Readonly<{
  status?: Status | undefined;
  /** Only what is held before it is signed. */
  held?: true | undefined;
  currency?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  page?: number | undefined;
}>;

const listFilterOf =
  <Status extends string>(statuses: readonly Status[]) =>
  (search: Search): ListFilter<Status> =>
    stated({
      status: oneOf(statuses, search['status']),
      currency: textOf(search['currency'])?.slice(0, 32),
      from: dayOf(search['from']),
      to: dayOf(search['to']),
      page: pageOf(search['page']),
    });

export const conversionFilterOf = listFilterOf(conversionStatuses);
/** Of money that leaves. */
const sentFilterOf = <Status extends string>(statuses: readonly Status[]) => {
  const shared = listFilterOf(statuses);
  return (search: Search): ListFilter<Status> => stated({ ...shared(search), held: onlyOn(search['held']) });
};
export const payoutFilterOf = sentFilterOf(batchStatuses);
export const withdrawalFilterOf = sentFilterOf(withdrawalStatuses);

export const perPage = 25;
/** The filter as the API reads it. */
export const listQueryOf = <Status extends string>({ status, from, to, page }: ListFilter<Status>) => ({
  ...(status ? { status } : {}),
  ...periodOf({ from, to }),
  page: page ?? 1,
  limit: perPage,
});
export const heldQueryOf = ({ held }: Readonly<{ held?: true | undefined }>) => (held ? { held: '1' as const } : {});
