import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../sandbox/paths';
import { startOptions, workflowTypes, type WorkflowType } from '../../workflows/start-options';

/** What operators read of a workflow and find it by. */

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const types = Object.keys(workflowTypes) as WorkflowType[];

it('knows every workflow', () => {
  const exported = [...read('workflows/index.ts').matchAll(/export \{ ([^}]+) \} from/g)];
  expect(types.toSorted()).toEqual(exported.flatMap(([, names]) => names!.split(', ')).toSorted());
});

it.each(types)('says in the list what %s is, and of which kind', (type) => {
  const { staticSummary, typedSearchAttributes } = startOptions(type);
  expect(staticSummary).toMatch(/^[A-Z].{3,}/);
  expect(typedSearchAttributes.map(({ key, value }) => [key.name, value])).toEqual([
    ['Kind', expect.stringMatching(/^[a-z]+$/)],
  ]);
});

it('takes attributes by their names, and the summary of whoever asks', () => {
  const { staticSummary, typedSearchAttributes } = startOptions('refund', {
    ...{ summary: 'Refund of 1 ETH', PaymentId: 'p', Kind: 'other', orderId: 'ann@example.com' },
  });
  expect(staticSummary).toBe('Refund of 1 ETH');
  expect(Object.fromEntries(typedSearchAttributes.map(({ key, value }) => [key.name, value]))).toEqual({
    PaymentId: 'p',
    Kind: 'refund',
  });
});

it('starts every workflow with it, and none with a memo', () => {
  const files = ['api', 'workers', 'activities', 'commands', 'sandbox'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(folder, file)),
  );
  const starts = files.flatMap((file) => {
    const text = read(file);
    expect([file, /\bmemo:/.test(text)]).toEqual([file, false]);
    return [...text.matchAll(/workflow\s*\.(?:start|signalWithStart|execute)\b|new WithStartWorkflowOperation/g)].map(
      ({ index }) => ({ file, text: text.slice(index, index + 250) }),
    );
  });
  expect(starts.length).toBeGreaterThan(4);
  for (const { file, text } of starts)
    expect([file, text]).toEqual([file, expect.stringMatching(/\.\.\.(startO|o)ptions\b/)]);
});
