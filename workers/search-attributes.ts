import type { Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { searchAttributes } from '../workflows/messages';

/** Adds the search attributes that the namespace does not have; another process may be doing the same. */
export async function registerSearchAttributes(
  connection: Pick<Connection, 'operatorService'>,
  namespace: string,
): Promise<void> {
  const names = Object.keys(searchAttributes);
  const service = connection.operatorService;
  const known = await service.listSearchAttributes({ namespace });
  const missing = names.filter((name) => !(name in (known.customAttributes ?? {})));
  if (!missing.length) return;
  const keyword = temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD;
  await service
    .addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(missing.map((name) => [name, keyword])) })
    .catch(async (error: unknown) => {
      const now = await service.listSearchAttributes({ namespace });
      if (missing.some((name) => !(name in (now.customAttributes ?? {})))) throw error;
    });
}
