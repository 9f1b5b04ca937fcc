import { queryOptions } from '@tanstack/react-query';
import type { OrderState } from '../../../domain/conversions/swap';
import { client, payload } from '../api/client';
import { queryClient } from '../api/queries';

/** What the pages for operators read. */

/** Rows that a list begins with, and grows by: a page costs as much as what it shows. */
const mostRows = 25;
/** Each row has several lines. */
const mostTallRows = 15;

const find = (q: string) => payload(client.GET('/api/v1/platform/find', { params: { query: { q } } }));

export const foundQuery = (q: string) => queryOptions({ queryKey: ['platform', 'find', q], queryFn: () => find(q) });
export type Found = Awaited<ReturnType<typeof find>>;
export type FoundRecord = Found['records'][number];

const overview = () => payload(client.GET('/api/v1/platform/overview'));
export const overviewQuery = queryOptions({
  queryKey: ['platform', 'overview'],
  queryFn: overview,
  refetchInterval: 10_000,
});
export type Overview = Awaited<ReturnType<typeof overview>>;

export type IncidentState = 'open' | 'resolved';
export const readIncidents = (state: IncidentState, kind: string | undefined, cursor: string | null) =>
  payload(
    client.GET('/api/v1/platform/incidents', {
      params: { query: { state, ...(kind ? { kind } : {}), ...(cursor ? { cursor } : {}), limit: mostRows } as never },
    }),
  );
export type Incident = Awaited<ReturnType<typeof readIncidents>>['items'][number];
const incident = (id: string) =>
  payload(client.GET('/api/v1/platform/incidents/{incident}', { params: { path: { incident: id } } }));
export const incidentQuery = (id: string) =>
  queryOptions({ queryKey: ['platform', 'incidents', 'one', id], queryFn: () => incident(id) });

export type MerchantStatus = 'active' | 'suspended';
export const readMerchants = (
  filter: Readonly<{
    name?: string | undefined;
    status?: MerchantStatus | undefined;
    registration?: RegistrationState | undefined;
  }>,
  cursor: string | null,
) => {
  const { name, status, registration } = filter;
  const query = {
    ...(name ? { name } : {}),
    ...(status ? { status } : {}),
    ...(registration ? { registration } : {}),
    ...(cursor ? { cursor } : {}),
    limit: mostRows,
  };
  return payload(client.GET('/api/v1/platform/merchants', { params: { query } }));
};
export type Merchant = Awaited<ReturnType<typeof readMerchants>>['items'][number];
const merchant = (merchantId: string) =>
  payload(client.GET('/api/v1/platform/merchants/{merchantId}', { params: { path: { merchantId } } }));
export const merchantQuery = (id: string) =>
  queryOptions({ queryKey: ['platform', 'merchants', 'one', id], queryFn: () => merchant(id) });
export type MerchantPage = Awaited<ReturnType<typeof merchant>>;

const limits = (merchantId: string | undefined) =>
  payload(client.GET('/api/v1/platform/egress-limits', { params: { query: merchantId ? { merchantId } : {} } }));
/** What one merchant may send; without an id, all together. */
export const limitsQuery = (merchantId?: string) =>
  queryOptions({ queryKey: ['platform', 'limits', merchantId], queryFn: () => limits(merchantId) });
export type Limits = Awaited<ReturnType<typeof limits>>;

export const requestStates = ['open', 'executed', 'cancelled', 'expired'] as const;
export type RequestState = (typeof requestStates)[number];
export const readRequests = (state: RequestState, cursor: string | null) =>
  payload(
    client.GET('/api/v1/platform/operator-requests', {
      params: { query: { state, ...(cursor ? { cursor } : {}), limit: mostRows } },
    }),
  );
export type Request = Awaited<ReturnType<typeof readRequests>>['items'][number];

const freezes = () => payload(client.GET('/api/v1/platform/egress-freezes'));
export const freezesQuery = queryOptions({ queryKey: ['platform', 'freezes'], queryFn: freezes });
const switches = () => payload(client.GET('/api/v1/platform/switches'));
export const switchesQuery = queryOptions({ queryKey: ['platform', 'switches'], queryFn: switches });
export type Switch = Awaited<ReturnType<typeof switches>>[number];

export const screenStatuses = ['flagged', 'clear', 'unavailable', 'skipped'] as const;
export const severities = ['severe', 'high', 'medium', 'low'] as const;
export type ScreenStatus = (typeof screenStatuses)[number];
export type Severity = (typeof severities)[number];
export const readScreenings = (status: ScreenStatus, severity: Severity | undefined, cursor: string | null) => {
  const query = { status, ...(severity ? { severity } : {}), ...(cursor ? { cursor } : {}), limit: mostRows };
  return payload(client.GET('/api/v1/platform/screenings', { params: { query } }));
};
export type Screening = Awaited<ReturnType<typeof readScreenings>>['items'][number];

export const readSwapOrders = (isOpen: boolean, state: OrderState | undefined, cursor: string | null) => {
  const query = { isOpen, ...(state ? { state } : {}), ...(cursor ? { cursor } : {}), limit: mostTallRows };
  return payload(client.GET('/api/v1/platform/swap-orders', { params: { query } }));
};
export type SwapOrder = Awaited<ReturnType<typeof readSwapOrders>>['items'][number];

export const registrationStates = ['waiting', 'approved', 'refused'] as const;
export type RegistrationState = (typeof registrationStates)[number];
export const readRegistrations = (
  { state, code }: Readonly<{ state?: RegistrationState | undefined; code?: string | undefined }>,
  cursor: string | null,
) => {
  const query = {
    ...(state ? { state } : {}),
    ...(code ? { inviteCodeId: code } : {}),
    ...(cursor ? { cursor } : {}),
    limit: mostRows,
  };
  return payload(client.GET('/api/v1/platform/registrations', { params: { query } }));
};
export type Registration = Awaited<ReturnType<typeof readRegistrations>>['items'][number];
export const readInviteCodes = (cursor: string | null) =>
  payload(
    client.GET('/api/v1/platform/invite-codes', {
      params: { query: { ...(cursor ? { cursor } : {}), limit: mostRows } },
    }),
  );
export type InviteCode = Awaited<ReturnType<typeof readInviteCodes>>['items'][number];

const exposure = () => payload(client.GET('/api/v1/platform/exposure'));
export const exposureQuery = queryOptions({ queryKey: ['platform', 'exposure'], queryFn: exposure });
export type Exposure = Awaited<ReturnType<typeof exposure>>;

const treasury = () => payload(client.GET('/api/v1/platform/treasury'));
export const treasuryQuery = queryOptions({
  queryKey: ['platform', 'treasury'],
  queryFn: treasury,
  refetchInterval: 30_000,
});
export type Treasury = Awaited<ReturnType<typeof treasury>>;

const recoveries = () => payload(client.GET('/api/v1/platform/recoveries'));
export const recoveriesQuery = queryOptions({ queryKey: ['platform', 'recoveries'], queryFn: recoveries });
export type Recoveries = Awaited<ReturnType<typeof recoveries>>;
export const readUnclaimed = (cursor: string | null) =>
  payload(
    client.GET('/api/v1/platform/unclaimed-deposits', {
      params: { query: { ...(cursor ? { cursor } : {}), limit: mostRows } },
    }),
  );
export type Unclaimed = Awaited<ReturnType<typeof readUnclaimed>>['items'][number];

/** Everything that these pages show is read anew. */
export const renewPlatform = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['platform'] });
