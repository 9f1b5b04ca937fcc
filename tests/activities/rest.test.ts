import { getEventListeners } from 'node:events';
import { restUntil } from '../../activities/rest';

const took = async (rest: Promise<void>): Promise<number> => {
  const startedAt = performance.now();
  await rest;
  return performance.now() - startedAt;
};

it('rests its time, and leaves nothing behind', async () => {
  const { signal } = new AbortController();
  expect(await took(restUntil(50, signal))).toBeGreaterThan(45);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('ends with its worker, also with one that ended before', async () => {
  const worker = new AbortController();
  setTimeout(() => worker.abort(), 20);
  expect(await took(restUntil(10_000, worker.signal))).toBeLessThan(5000);
  expect(await took(restUntil(10_000, worker.signal))).toBeLessThan(5000);
  expect(getEventListeners(worker.signal, 'abort')).toEqual([]);
});
