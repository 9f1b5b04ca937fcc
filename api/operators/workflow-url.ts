import type { ApiDeps } from '../http/deps';

/** Where the Temporal UI shows the workflow; null where no UI is configured. */
export function workflowUrl({ config }: Pick<ApiDeps, 'config'>, id: string): string | null {
  if (!config.TEMPORAL_UI_URL) return null;
  const base = config.TEMPORAL_UI_URL.replace(/\/+$/, '');
  return `${base}/namespaces/${encodeURIComponent(config.TEMPORAL_NAMESPACE)}/workflows/${encodeURIComponent(id)}`;
}
