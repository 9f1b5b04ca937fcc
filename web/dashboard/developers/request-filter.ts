import { dayOf, oneOf, stated, textOf } from '../design/filter';

export const outcomes = ['answered', 'refused'] as const;
export const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

/** Which requests are shown; all of it is in the address. */
export type RequestFilter = Readonly<{
  outcome?: (typeof outcomes)[number] | undefined;
  method?: (typeof methods)[number] | undefined;
  apiKeyId?: string | undefined;
  /** The first day, in UTC. */
  since?: string | undefined;
  requestId?: string | undefined;
}>;

export function requestFilterOf(search: Readonly<Record<string, unknown>>): RequestFilter {
  const apiKeyId = textOf(search['apiKeyId']);
  return stated({
    outcome: oneOf(outcomes, search['outcome']),
    method: oneOf(methods, search['method']),
    apiKeyId: apiKeyId && /^[0-9a-f]{24}$/.test(apiKeyId) ? apiKeyId : undefined,
    since: dayOf(search['since']),
    requestId: textOf(search['requestId']),
  });
}

/** The filter as the API reads it. */
export const requestQueryOf = ({ outcome, ...filter }: RequestFilter) => ({
  ...filter,
  ...(outcome ? { refused: outcome === 'refused' } : {}),
});
