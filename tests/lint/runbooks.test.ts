import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runbookOf, runbooks } from '../../commands/operators/runbooks';
import { operatorActs } from '../../commands/operators';
import type { IncidentKind } from '../../db/incidents';
import { root } from '../../sandbox/paths';

/** Every incident has a section of the runbook, which says how it ends as the code does. */

const kinds = Object.keys(runbooks) as IncidentKind[];
const text = readFileSync(join(root, 'docs/operations/incidents.md'), 'utf8');
const sections = new Map(
  text
    .split(/^## /m)
    .slice(1)
    .map((section) => [/^\S+/.exec(section)![0], section] as const),
);

describe('10: the runbook of incidents', () => {
  it('has one section for each kind, and no other', () => {
    expect([...sections.keys()].sort()).toEqual([...kinds].sort());
    for (const kind of kinds) expect(runbookOf(kind)).toBe(`operations/incidents.md#${kind}`);
  });

  it.each(kinds)('%s: says what ends it', (kind) => {
    const { endedBy, act } = runbooks[kind];
    const section = sections.get(kind)!.replaceAll(/\s+/g, ' ');
    const isByHand = endedBy === 'service' || endedBy === 'operator';
    if (isByHand) expect(section).toMatch(endedBy === 'service' ? /ends by itself/ : /[Rr]esolve the/);
    for (const request of [act, isByHand ? undefined : endedBy])
      if (request) {
        expect(section).toContain(`\`${request}\``);
        expect(operatorActs.map((one) => one.kind)).toContain(request);
      }
  });

  it('becomes trees of elements for the dashboard, without markup', () => {
    const script = `import { runbookSections } from ${JSON.stringify(join(root, 'web/dashboard/runbooks.mjs'))};
      process.stdout.write(JSON.stringify(runbookSections(${JSON.stringify(root)})));`;
    const told = JSON.parse(
      execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }),
    ) as Record<string, unknown[]>;
    expect(Object.keys(told).sort()).toEqual([...kinds].sort());
    for (const kind of kinds) expect(told[kind]!.length).toBeGreaterThan(1);
    expect(told['fee-cap']!.at(-1)).toEqual({
      tag: 'p',
      children: [
        'More: ',
        { tag: 'a', href: 'stuck-transactions/#a-fee-at-its-cap', children: ['a fee at its cap'] },
        '.',
      ],
    });
    expect(JSON.stringify(told)).not.toMatch(/<\w/);
  });
});
