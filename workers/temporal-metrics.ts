import type { TelemetryOptions } from '@temporalio/worker';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

/** Metrics of the Temporal SDK: latency of tasks, slots, requests and their failures. Its native part serves them on a
 *  port of its own, on loopback; the internal port of the process hands them on. */
export type TemporalMetrics = Readonly<{ telemetry: TelemetryOptions; text(): Promise<string> }>;

/** Labels of the SDK are names of this code: queues, workflows, activities. */
export async function temporalMetrics(role: string): Promise<TemporalMetrics> {
  const bindAddress = `127.0.0.1:${await freePort()}`;
  return {
    telemetry: {
      metrics: {
        prometheus: { bindAddress, useSecondsForDurations: true, countersTotalSuffix: true, unitSuffix: true },
        attachServiceName: false,
        globalTags: { role },
      },
    },
    text: async () => {
      const answer = await fetch(`http://${bindAddress}/metrics`, { signal: AbortSignal.timeout(5000) });
      return answer.text();
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
