import { orderStates, type OrderState } from '../../../domain/conversions/swap';
import { oneOf, stated, textOf } from '../design/filter';
import { auditFilterOf, type AuditFilter } from '../team/audit-filter';
import {
  registrationStates,
  requestStates,
  screenStatuses,
  severities,
  type IncidentState,
  type MerchantStatus,
  type RegistrationState,
  type RequestState,
  type ScreenStatus,
  type Severity,
} from './data';

/** What the pages for operators show, as an address states it. */

type Search = Readonly<Record<string, unknown>>;

export type FindFilter = Readonly<{ q?: string | undefined }>;
export const findFilterOf = (search: Search): FindFilter => stated({ q: textOf(search['q']) });

export const incidentStates = ['open', 'resolved'] as const satisfies readonly IncidentState[];
export type IncidentFilter = Readonly<{ state?: IncidentState | undefined; kind?: string | undefined }>;
export const incidentFilterOf = (search: Search): IncidentFilter =>
  stated({ state: oneOf(incidentStates, search['state']), kind: textOf(search['kind']) });

export const merchantStatuses = ['active', 'suspended'] as const satisfies readonly MerchantStatus[];
export type MerchantFilter = Readonly<{
  name?: string | undefined;
  status?: MerchantStatus | undefined;
  registration?: RegistrationState | undefined;
}>;
export const merchantFilterOf = (search: Search): MerchantFilter =>
  stated({
    name: textOf(search['name']),
    status: oneOf(merchantStatuses, search['status']),
    registration: oneOf(registrationStates, search['registration']),
  });

export type RequestFilter = Readonly<{ state?: RequestState | undefined }>;
export const requestStateOf = (search: Search): RequestFilter =>
  stated({ state: oneOf(requestStates, search['state']) });

const idOf = (value: unknown): string | undefined => {
  const text = textOf(value)?.toLowerCase();
  return text !== undefined && /^[0-9a-f]{24}$/.test(text) ? text : undefined;
};

export type PlatformAuditFilter = AuditFilter & Readonly<{ merchant?: string | undefined }>;
export const platformAuditFilterOf = (search: Search): PlatformAuditFilter =>
  stated({ ...auditFilterOf(search), merchant: idOf(search['merchant']) });

export type ScreeningFilter = Readonly<{ status?: ScreenStatus | undefined; severity?: Severity | undefined }>;
export const screeningFilterOf = (search: Search): ScreeningFilter =>
  stated({ status: oneOf(screenStatuses, search['status']), severity: oneOf(severities, search['severity']) });

export type OrderFilter = Readonly<{ which?: 'open' | 'all' | undefined; state?: OrderState | undefined }>;
export const orderFilterOf = (search: Search): OrderFilter =>
  stated({ which: oneOf(['open', 'all'] as const, search['which']), state: oneOf(orderStates, search['state']) });

export type RegistrationFilter = Readonly<{ state?: RegistrationState | undefined; code?: string | undefined }>;
export const registrationFilterOf = (search: Search): RegistrationFilter =>
  stated({ state: oneOf(registrationStates, search['state']), code: idOf(search['code']) });
