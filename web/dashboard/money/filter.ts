import { entrySources, entryTypes, type EntrySource, type EntryType } from '../../../domain/ledger/entry';
import { dayOf, oneOf, periodOf, stated, textOf } from '../design/filter';

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
