import fc from 'fast-check';
import { afterAttempt, retryPausesMs } from '../../domain/webhooks/delivery';

const after = (
  n: number,
  over: { statusCode?: number | null; retryAfterMs?: number | null } = {},
  jitter = 1,
  scale = 1,
) => afterAttempt(n, { statusCode: 500, retryAfterMs: null, ...over }, jitter, scale);
const hour = 3_600_000;
const last = retryPausesMs.length + 1;

it('is over with any answer from 200 to 299', () => {
  for (const statusCode of [200, 201, 202, 204, 299])
    expect(after(1, { statusCode })).toEqual({ status: 'succeeded', nextInMs: null });
});

it('tries again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h', () => {
  const pauses = Array.from({ length: last - 1 }, (_, index) => after(index + 1).nextInMs);
  expect(pauses).toEqual([5000, 300_000, 1_800_000, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hour)]);
  expect(retryPausesMs.reduce((sum, pause) => sum + pause, 0) / hour).toBeCloseTo(75.6, 1);
});

it('tries again after everything that is no success: silence, redirects, refusals, faults', () => {
  for (const statusCode of [null, 199, 300, 301, 302, 307, 400, 401, 404, 408, 429, 500, 503])
    expect(after(1, { statusCode })).toEqual({ status: 'retrying', nextInMs: 5000 });
});

it('gives up after the tenth attempt', () => {
  expect(last).toBe(10);
  expect(after(last - 1).status).toBe('retrying');
  for (const n of [last, last + 1, 1000]) expect(after(n)).toEqual({ status: 'failed', nextInMs: null });
  expect(after(last, { retryAfterMs: hour })).toEqual({ status: 'failed', nextInMs: null });
  expect(after(last, { statusCode: 200 }).status).toBe('succeeded');
});

it('ends at once where the receiver says 410', () => {
  expect(after(1, { statusCode: 410, retryAfterMs: 1000 })).toEqual({ status: 'failed', nextInMs: null });
});

it('waits as long as the receiver asks, up to a day, and never less than the schedule', () => {
  expect(after(1, { statusCode: 429, retryAfterMs: 60_000 }).nextInMs).toBe(60_000);
  expect(after(3, { statusCode: 503, retryAfterMs: 60_000 }).nextInMs).toBe(1_800_000);
  expect(after(1, { statusCode: 503, retryAfterMs: 48 * hour }).nextInMs).toBe(24 * hour);
  expect(after(1, { statusCode: 503, retryAfterMs: 0 }).nextInMs).toBe(5000);
});

it('spreads its own pauses, not the one that was asked for', () => {
  expect(after(2, {}, 0.9).nextInMs).toBe(270_000);
  expect(after(2, {}, 1.1).nextInMs).toBe(330_000);
  expect(after(1, { retryAfterMs: 60_000 }, 1.1).nextInMs).toBe(60_000);
});

it('runs the same schedule faster in tests', () => {
  expect(after(2, {}, 1, 0.001).nextInMs).toBe(300);
  expect(after(1, { retryAfterMs: hour }, 1, 0.001).nextInMs).toBe(3600);
  expect(after(2, { statusCode: 200 }, 1, 0.001).nextInMs).toBeNull();
});

it('always says when, and only where there is another attempt', () => {
  const statusCode = fc.option(fc.integer({ min: 100, max: 599 }));
  const retryAfterMs = fc.option(fc.nat(10 ** 9));
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      statusCode,
      retryAfterMs,
      fc.double({ min: 0.9, max: 1.1, noNaN: true }),
      (n, code, asked, jitter) => {
        const { status, nextInMs } = after(n, { statusCode: code, retryAfterMs: asked }, jitter);
        expect(nextInMs !== null).toBe(status === 'retrying');
        if (nextInMs === null) return;
        expect(Number.isSafeInteger(nextInMs)).toBe(true);
        expect(nextInMs).toBeGreaterThanOrEqual(Math.round(retryPausesMs[n - 1]! * jitter));
        expect(nextInMs).toBeLessThanOrEqual(24 * hour * 1.1);
      },
    ),
  );
});
