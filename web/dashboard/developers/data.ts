import { client, payload } from '../api/client';
import { queryClient } from '../api/queries';
import type { DeliveryFilter } from './delivery-filter';

/** What the pages for developers read. */

export const keysPerPage = 25;
export const readKeys = (page: number) =>
  payload(client.GET('/api/v1/api-keys', { params: { query: { page, limit: keysPerPage } } }));
export type Key = Awaited<ReturnType<typeof readKeys>>['items'][number];

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
