import { queryOptions } from '@tanstack/react-query';
import { client, payload } from '../api/client';
import { queryClient } from '../api/queries';

const settings = () => payload(client.GET('/api/v1/settings'));
export const settingsQuery = queryOptions({ queryKey: ['settings'], queryFn: settings });
export type Settings = Awaited<ReturnType<typeof settings>>;

const branding = () => payload(client.GET('/api/v1/settings/branding'));
export const brandingQuery = queryOptions({ queryKey: ['branding'], queryFn: branding });
export type Branding = Awaited<ReturnType<typeof branding>>;

/** What is left out stays as it is: two people who change different settings do not undo each other. */
export const saveSettings = (body: Partial<Settings>): Promise<Settings> =>
  payload(client.PATCH('/api/v1/settings', { body }));
export const keepSettings = (now: Settings): unknown => queryClient.setQueryData(settingsQuery.queryKey, now);
export const keepBranding = (now: Branding): unknown => queryClient.setQueryData(brandingQuery.queryKey, now);
