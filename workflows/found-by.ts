import * as wf from '@temporalio/workflow';
import { findableTxIds } from '../domain/txmanager/findable';
import { searchAttributes } from './messages';

const known = (): readonly string[] => wf.workflowInfo().typedSearchAttributes.get(searchAttributes.TxId) ?? [];

/** The attribute `TxId` with these transactions first, then with those by which the workflow is found already; none
 *  where there is none. A replay does not compare what an attribute is set to, so it may go into any command that sets
 *  others. Decision: 0063. */
export function foundBy(txIds: readonly string[] = []) {
  const all = [...new Set([...txIds, ...known()])].slice(0, findableTxIds);
  return all.length ? [{ key: searchAttributes.TxId, value: all }] : [];
}

/** Has a workflow that sets no other attribute found by the transactions that it has sent: its last act, because it
 *  costs three events, two of them for the patch. */
export function endFoundBy(txIds: readonly string[]): void {
  const before = known();
  if (before.length < findableTxIds && txIds.some((txId) => !before.includes(txId)) && wf.patched('tx-id'))
    wf.upsertSearchAttributes(foundBy(txIds));
}
