import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporalBinary } from '../../sandbox/binaries';
import { root } from '../../sandbox/paths';

/** What workflows hand on of a trace, on a real Temporal. Decision: 0053. */

type Span = { name: string; traceId: string; spanId: string; parentSpanId: string };
type Told = { runId: string; told: Record<string, string | null>; spans: Span[] };

it('workflows hand a trace on to their activities, an update its own, and replay with and without', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(__dirname, 'traced.cjs')], {
    cwd: root,
    env: { ...process.env, TEMPORAL_CLI_PATH: temporalBinary() },
  });
  // The server has logged before it.
  const { runId, told, spans } = JSON.parse(stdout.trim().split('\n').at(-1)!) as Told;
  const [a, b, c] = ['a', 'b', 'c'].map((digit) => digit.repeat(32));
  const asked = (traceId: string | undefined): Span =>
    spans.find((span) => span.name === 'ask' && span.traceId === traceId)!;
  const one = (name: string): Span => spans.find((span) => span.name === name)!;

  const run = runId.replaceAll('-', '').slice(16);
  expect(one('workflow mail')).toMatchObject({ traceId: a, spanId: run, parentSpanId: asked(a).spanId });
  expect(one('sendMail')).toMatchObject({ traceId: a, parentSpanId: run });
  // What was asked for outside of a trace is in none.
  expect(told).toMatchObject({ untraced: null });

  expect(one('advancePayment')).toMatchObject({ traceId: b });
  expect(one('refreshQuote')).toMatchObject({ traceId: c, parentSpanId: asked(c).spanId });
  expect(told.refreshQuote).toBe(`00-${c}-${one('refreshQuote').spanId}-01`);
  // Each once: neither a replay nor a run that was terminated has made another.
  expect(spans.map(({ name }) => name).sort()).toEqual(
    ['advancePayment', 'ask', 'ask', 'ask', 'refreshQuote', 'sendMail', 'workflow mail'].sort(),
  );
});
