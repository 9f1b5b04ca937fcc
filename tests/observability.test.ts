import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { root } from '../sandbox/paths';
import { alerts, dashboards, expressions, namedIn, observability } from './expressions';

/** Alerts and dashboards, as far as they can be checked without a process of ours. What they name is compared with what
 *  the running processes export in tests/e2e/copies.test.ts. */

const promtool = process.env.PROMTOOL_PATH;
const ofPromtool = promtool ? it : it.skip;
const ran = (...args: string[]): string => execFileSync(promtool!, args, { encoding: 'utf8', cwd: observability });

type Case = { name: string; alert_rule_test: Array<{ alertname: string; exp_alerts: unknown[] }> };
const { tests: cases } = parse(readFileSync(join(observability, 'alerts.test.yml'), 'utf8')) as { tests: Case[] };

describe('B5: alerts', () => {
  it.each(alerts.map(({ alert }) => alert))('%s has a case in which it fires, and a quiet one', (alert) => {
    const own = cases.flatMap(({ alert_rule_test: all }) => all.filter(({ alertname }) => alertname === alert));
    expect(own.map(({ exp_alerts: expected }) => expected.length).sort()).toEqual([0, 1]);
  });

  it.each(alerts)('$alert leads to its section of a runbook', ({ alert, annotations }) => {
    const [file, section] = annotations.runbook!.split('#') as [string, string];
    expect(existsSync(join(root, file))).toBe(true);
    const titles = [...readFileSync(join(root, file), 'utf8').matchAll(/^## (\w+)$/gm)].map(([, title]) => title!);
    expect(titles.filter((title) => title.toLowerCase() === section)).toEqual([alert]);
    expect(titles.length).toBe(alerts.length);
  });

  ofPromtool('fire and stay quiet as their cases say', () => {
    expect(ran('test', 'rules', 'alerts.test.yml')).toContain('SUCCESS');
    expect(ran('check', 'config', 'prometheus.yml')).toContain(`${alerts.length} rules found`);
  });
});

describe('B5: dashboards', () => {
  it('are those of the six subjects, each panel with what it asks', () => {
    expect(dashboards.map(({ uid }) => uid).sort()).toEqual(
      ['chains', 'money-out', 'overview', 'payments', 'temporal', 'webhooks'].sort(),
    );
    for (const { file, uid, panels } of dashboards) {
      expect(file).toBe(`${uid}.json`);
      for (const { title, targets } of panels) expect([title, targets.length > 0]).toEqual([title, true]);
    }
    // What would be compared with nothing.
    const nameless = expressions.filter(({ expr }) => !namedIn(expr).metrics.length && !/\bup\b/.test(expr));
    expect(nameless).toEqual([]);
  });

  ofPromtool('ask what Prometheus understands', () => {
    const rules = expressions.map(({ expr }, n) => ({ record: `expression:${n}`, expr }));
    const file = join(mkdtempSync(join(tmpdir(), 'expressions-')), 'rules.yml');
    const checked = (all: typeof rules): string => {
      writeFileSync(file, JSON.stringify({ groups: [{ name: 'all', rules: all }] }));
      return ran('check', 'rules', file);
    };
    expect(checked(rules)).toContain(`${rules.length} rules found`);
    expect(() => checked([{ record: 'wrong', expr: 'sum by (a (b)' }])).toThrow();
  });
});
