import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../sandbox/paths';

/** Every activity and timer has a summary: activities and timers come from workflows/summaries.ts alone, where one
 *  cannot be had without. The stack looks into the histories of real runs (`history` in tests/world.ts). */
const files = readdirSync(join(root, 'workflows')).filter((file) => file.endsWith('.ts') && file !== 'summaries.ts');

it('finds workflows that use it', () => {
  const users = files.filter((file) => readFileSync(join(root, 'workflows', file), 'utf8').includes("'./summaries'"));
  expect(users.length).toBeGreaterThan(7);
});

it.each(files)('%s makes no activity or timer of its own', (file) => {
  // An interceptor hands on what a workflow schedules.
  const text = readFileSync(join(root, 'workflows', file), 'utf8').replace('scheduleActivity: (input, next) =>', '');
  expect(
    text.match(/\b(proxyActivities|proxyLocalActivities|scheduleActivity|startChild|executeChild|sleep)\b/g),
  ).toBeNull();
  expect(text.match(/\bcondition\((?!wf\.allHandlersFinished\)).*/g)).toBeNull();
});
