import { oneOf, stated, textOf } from '../design/filter';
import { requestStates, type IncidentState, type MerchantStatus, type RequestState } from './data';

/** What the pages for operators show, as an address states it. */

type Search = Readonly<Record<string, unknown>>;

export type FindFilter = Readonly<{ q?: string | undefined }>;
export const findFilterOf = (search: Search): FindFilter => stated({ q: textOf(search['q']) });

export const incidentStates = ['open', 'resolved'] as const satisfies readonly IncidentState[];
export type IncidentFilter = Readonly<{ state?: IncidentState | undefined; kind?: string | undefined }>;
export const incidentFilterOf = (search: Search): IncidentFilter =>
  stated({ state: oneOf(incidentStates, search['state']), kind: textOf(search['kind']) });

export const merchantStatuses = ['active', 'suspended'] as const satisfies readonly MerchantStatus[];
export type MerchantFilter = Readonly<{ name?: string | undefined; status?: MerchantStatus | undefined }>;
export const merchantFilterOf = (search: Search): MerchantFilter =>
  stated({ name: textOf(search['name']), status: oneOf(merchantStatuses, search['status']) });

export type RequestFilter = Readonly<{ state?: RequestState | undefined }>;
export const requestStateOf = (search: Search): RequestFilter =>
  stated({ state: oneOf(requestStates, search['state']) });
