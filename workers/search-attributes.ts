import type { Connection } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { searchAttributes } from '../workflows/messages';

const { INDEXED_VALUE_TYPE_KEYWORD, INDEXED_VALUE_TYPE_KEYWORD_LIST } = temporal.api.enums.v1.IndexedValueType;
const types = {
  KEYWORD: { type: INDEXED_VALUE_TYPE_KEYWORD, word: 'Keyword' },
  KEYWORD_LIST: { type: INDEXED_VALUE_TYPE_KEYWORD_LIST, word: 'KeywordList' },
} as const;

/** What the namespace must have: each search attribute's name, and its type as the API and the command line know it. */
export const attributeTypes = Object.values(searchAttributes).map(({ name, type }) => ({ name, ...types[type] }));

/** Adds the search attributes that the namespace does not have; another process may be doing the same. */
export async function registerSearchAttributes(
  connection: Pick<Connection, 'operatorService'>,
  namespace: string,
): Promise<void> {
  const service = connection.operatorService;
  const known = await service.listSearchAttributes({ namespace });
  const missing = attributeTypes.filter(({ name }) => !(name in (known.customAttributes ?? {})));
  if (!missing.length) return;
  await service
    .addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(missing.map(({ name, type }) => [name, type])),
    })
    .catch(async (error: unknown) => {
      const now = await service.listSearchAttributes({ namespace });
      if (missing.some(({ name }) => !(name in (now.customAttributes ?? {})))) throw error;
    });
}
