import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../../sandbox/paths';
import { ended } from '../child';
import { python, pythonSaid } from '../python';

/** Clients that others' generators make of the served API reference, type-checked, and a payment that each creates. */

const modules = join(root, 'node_modules');
type Env = Record<string, string>;

async function node(cwd: string, args: readonly string[], env: Env = {}): Promise<string> {
  const { code, out, errors } = await ended(spawn(process.execPath, args, { cwd, env: { ...process.env, ...env } }));
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}\n${out}\n${errors}`);
  return out;
}

const withFetch = `import createClient from 'openapi-fetch';
import type { paths } from './schema';
const { API_URL, API_KEY, ORDER_ID } = process.env as Record<string, string>;
const client = createClient<paths>({ baseUrl: API_URL, headers: { Authorization: \`Bearer \${API_KEY}\` } });
async function main(): Promise<void> {
  const body = { amount: 7, currency: 'BTC', merchantOrderId: ORDER_ID };
  const { data, error } = await client.POST('/api/v1/payments', { body });
  if (!data) throw new Error(JSON.stringify(error));
  const id: string = data.paymentId;
  console.log(id);
}
void main();
`;
const withHey = `import { createPayment } from './client';
import { client } from './client/client.gen';
const { API_URL, API_KEY, ORDER_ID } = process.env as Record<string, string>;
client.setConfig({ baseUrl: API_URL, auth: API_KEY });
async function main(): Promise<void> {
  const { data, error } = await createPayment({ body: { amount: 7, currency: 'BTC', merchantOrderId: ORDER_ID } });
  if (!data) throw new Error(JSON.stringify(error));
  const id: string = data.paymentId;
  console.log(id);
}
void main();
`;
const withPython = `import os
from payments_client import AuthenticatedClient
from payments_client.api.payments import create_payment
from payments_client.models import CreatedPayment, CreatePaymentRequest

client = AuthenticatedClient(base_url=os.environ["API_URL"], token=os.environ["API_KEY"])
body = CreatePaymentRequest(amount=7, currency="BTC", merchant_order_id=os.environ["ORDER_ID"])
payment = create_payment.sync(client=client, body=body)
assert isinstance(payment, CreatedPayment), payment
print(payment.payment_id)
`;

/** Type-checks and compiles a program with its client, and runs it. */
async function typescript(folder: string, program: string, env: Env): Promise<string> {
  writeFileSync(join(folder, 'program.ts'), program);
  symlinkSync(modules, join(folder, 'node_modules'));
  const compiler = join(modules, 'typescript7', 'bin', 'tsc');
  const options = ['--outDir', 'out', '--module', 'node20', '--target', 'es2023', '--strict', '--skipLibCheck'];
  const libraries = ['--types', 'node', '--lib', 'es2024,dom,dom.iterable'];
  await node(folder, [compiler, ...options, ...libraries, 'program.ts']);
  return node(folder, [join('out', 'program.js')], env);
}

/** By generator: makes a client of `document` in `folder`, and returns the id of the payment that it created. */
export const generators: Readonly<Record<string, (document: string, folder: string, env: Env) => Promise<string>>> = {
  async 'openapi-typescript'(document, folder, env) {
    await node(folder, [join(modules, 'openapi-typescript', 'bin', 'cli.js'), document, '-o', 'schema.ts']);
    return typescript(folder, withFetch, env);
  },
  async '@hey-api/openapi-ts'(document, folder, env) {
    const cli = join(modules, '@hey-api', 'openapi-ts', 'bin', 'run.js');
    await node(folder, [cli, '-i', document, '-o', 'client', '-c', '@hey-api/client-fetch', '--no-log-file']);
    return typescript(folder, withHey, env);
  },
  async 'openapi-python-client'(document, folder, env) {
    const config = join(folder, 'config.yaml');
    writeFileSync(config, 'post_hooks: []\n'); // nobody reads what it makes: it is not formatted
    const where = ['--path', document, '--output-path', join(folder, 'payments_client'), '--config', config];
    const program = join(dirname(process.env.PYTHON_PATH ?? ''), 'openapi-python-client');
    const { out, errors } = await pythonSaid([program, 'generate', ...where, '--meta', 'none']);
    // What it does not know is files: pictures, statements, a table that is sent.
    const lost = [...`${out}\n${errors}`.matchAll(/^(WARNING|ERROR|Unable).*(\n(?!\n).*)*/gm)].map(([text]) =>
      text.replaceAll('\n', ' '),
    );
    const unknown = lost.filter((text) => !/ (GET \/(icons|logos)\/|GET .*\.pdf |POST .*\/import )/.test(text));
    if (unknown.length) throw new Error(`openapi-python-client leaves out\n${unknown.join('\n')}`);
    const file = join(folder, 'program.py');
    writeFileSync(file, withPython);
    return python([file], { ...env, PYTHONPATH: folder });
  },
};

/** Runs `act` in a folder of its own. */
export async function inFolder<T>(act: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'generated-'));
  try {
    return await act(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
