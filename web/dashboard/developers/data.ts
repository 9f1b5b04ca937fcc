import { client, payload } from '../api/client';
import { ApiError } from '../api/errors';
import { queryClient } from '../api/queries';
import type { DeliveryFilter } from './delivery-filter';
import { requestQueryOf, type RequestFilter } from './request-filter';

/** What the pages for developers read. */

export const keysPerPage = 25;
export const readKeys = (page: number) =>
  payload(client.GET('/api/v1/api-keys', { params: { query: { page, limit: keysPerPage } } }));
export type Key = Awaited<ReturnType<typeof readKeys>>['items'][number];
export const keyNamesQuery = {
  queryKey: ['api-keys', 'names'],
  queryFn: () => payload(client.GET('/api/v1/api-keys', { params: { query: { limit: 100 } } })),
};

const readEndpoints = () => payload(client.GET('/api/v1/webhook-endpoints', { params: { query: { limit: 100 } } }));
export type Endpoint = Awaited<ReturnType<typeof readEndpoints>>['items'][number];
export const endpointsQuery = { queryKey: ['webhook-endpoints'], queryFn: readEndpoints };

export const eventTypesQuery = {
  queryKey: ['event-types'],
  queryFn: () => payload(client.GET('/api/v1/webhook-event-types')),
  staleTime: Infinity,
};

export const renewEndpoints = async (): Promise<void> => {
  await Promise.all(
    ['webhook-endpoints', 'webhook-endpoint', 'deliveries'].map((name) =>
      queryClient.invalidateQueries({ queryKey: [name] }),
    ),
  );
};

export const readDeliveries = (filter: DeliveryFilter, cursor: string | null) =>
  payload(
    client.GET('/api/v1/webhook-deliveries', {
      params: { query: { ...filter, ...(cursor ? { cursor } : {}), limit: 25 } },
    }),
  );
export type Delivery = Awaited<ReturnType<typeof readDeliveries>>['items'][number];

export const readRequests = (filter: RequestFilter, cursor: string | null) =>
  payload(
    client.GET('/api/v1/request-logs', {
      params: { query: { ...requestQueryOf(filter), ...(cursor ? { cursor } : {}), limit: 25 } },
    }),
  );
export type LoggedRequest = Awaited<ReturnType<typeof readRequests>>['items'][number];

/** The reason that is kept of a refusal in general words; null where there is none. */
export async function readReason(requestId: string) {
  try {
    return await payload(client.GET('/api/v1/request-logs/{requestId}', { params: { path: { requestId } } }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
