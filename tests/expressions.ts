import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../sandbox/paths';

/** What alerts and dashboards of deploy/observability ask Prometheus. */

export const observability = join(root, 'deploy/observability');
type Rule = Readonly<{ alert: string; expr: string; annotations: Readonly<Record<string, string>> }>;
type Panel = Readonly<{ title: string; targets: ReadonlyArray<{ expr: string; legendFormat: string }> }>;

export const alerts = (
  parse(readFileSync(join(observability, 'alerts.yml'), 'utf8')) as { groups: Array<{ rules: Rule[] }> }
).groups.flatMap(({ rules }) => rules);

export const dashboards = readdirSync(join(observability, 'dashboards')).map((file) => ({
  file,
  ...(JSON.parse(readFileSync(join(observability, 'dashboards', file), 'utf8')) as { uid: string; panels: Panel[] }),
}));

/** Every expression with its place. */
export const expressions: ReadonlyArray<Readonly<{ place: string; expr: string }>> = [
  ...alerts.map(({ alert, expr }) => ({ place: alert, expr })),
  ...dashboards.flatMap(({ file, panels }) =>
    panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ place: `${file}: ${title}`, expr }))),
  ),
];

/** Labels that Prometheus adds. */
const ofPrometheus = ['job', 'instance'];

/** Metrics that an expression names, and labels that it groups or selects by. */
export const namedIn = (expr: string): { metrics: string[]; labels: string[] } => ({
  metrics: [...expr.matchAll(/\b(?:payments|http|api|database|nodejs|process|temporal)_\w+/g)].map(([name]) => name),
  labels: [
    ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list]) => list!.split(/, ?/)),
    ...[...expr.matchAll(/(\w+)(?:!?=|[!=]~)"/g)].map(([, name]) => name!),
  ].filter((label) => !ofPrometheus.includes(label)),
});

/** What a scrape of the processes has: names of series, names of declared metrics, and labels. */
export function seriesOf(text: string): { metrics: Set<string>; labels: Set<string> } {
  const metrics = new Set<string>();
  const labels = new Set<string>();
  for (const line of text.split('\n')) {
    const [, declared] = /^# TYPE (\w+) /.exec(line) ?? [];
    const [, name, own = ''] = /^(\w+)(?:\{(.*)\})? /.exec(line) ?? [];
    if (declared) metrics.add(declared);
    if (name) metrics.add(name);
    for (const [, label] of own.matchAll(/(\w+)="/g)) labels.add(label!);
  }
  return { metrics, labels };
}
