import type { Config } from '../../domain/config';

/** Where the Temporal UI is, and which namespace is ours. */
export type TemporalPlace = Readonly<{ config: Pick<Config, 'TEMPORAL_UI_URL' | 'TEMPORAL_NAMESPACE'> }>;

/** Where the Temporal UI shows the workflow; null where no UI is configured. */
export function workflowUrl({ config }: TemporalPlace, id: string): string | null {
  if (!config.TEMPORAL_UI_URL) return null;
  const base = config.TEMPORAL_UI_URL.replace(/\/+$/, '');
  return `${base}/namespaces/${encodeURIComponent(config.TEMPORAL_NAMESPACE)}/workflows/${encodeURIComponent(id)}`;
}
