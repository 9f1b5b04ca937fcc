import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { parseConfig, type ProcessName } from '../domain/config';
import { root } from '../sandbox/paths';
import { composeFile } from './compose-file';

/** What gives a deployment a Lightning node: the file beside docker-compose.yml, and the component for Kubernetes. Both
 *  give each process the same, and what is given lets it start in production. */

type Given = Readonly<Record<string, string>>;
type Service = Readonly<{ environment?: Given; secrets?: string[]; networks?: string[] | object }>;
type Compose = Readonly<{
  services: Readonly<Record<string, Service>>;
  secrets: Readonly<Record<string, { file: string }>>;
  networks: Readonly<Record<string, { internal?: boolean }>>;
}>;
const base = composeFile() as Compose;
const more = composeFile('docker-compose.lightning.yml') as Compose;

const settings = {
  LIGHTNING_URL: 'https://lnd:8080',
  LIGHTNING_PAYMENTS: 'true',
  LIGHTNING_WITHDRAWALS: 'true',
} as const;
const [tls, read] = ['LIGHTNING_TLS_FILE', 'LIGHTNING_READ_MACAROON_FILE'];
/** Files of each process, by the table of docs/operations/lightning.md. */
const filesOf: Readonly<Record<string, readonly [ProcessName, ...string[]]>> = {
  api: ['api'],
  'worker-payments': ['payments', tls, read],
  'worker-chain-bitcoin': ['chain', tls, read, 'LIGHTNING_INVOICE_MACAROON_FILE', 'LIGHTNING_PREIMAGE_KEY_FILE'],
  'worker-signer': ['signer', tls, 'LIGHTNING_PAY_MACAROON_FILE'],
};
const secretOf = (path: string): string => path.replace('/run/secrets/', '');

describe('docker-compose.lightning.yml', () => {
  it('changes the processes that have to do with it, and no other', () => {
    expect(Object.keys(more.services).sort()).toEqual(Object.keys(filesOf).sort());
    for (const name of Object.keys(more.services)) expect(Object.keys(base.services)).toContain(name);
  });

  it.each(Object.entries(filesOf))('gives %s what it needs, and no more', (name, [, ...files]) => {
    const { environment = {}, secrets = [], networks } = more.services[name]!;
    const names = Object.keys(environment);
    expect(names.filter((one) => one.endsWith('_FILE')).sort()).toEqual([...files].sort());
    for (const one of Object.keys(settings)) expect(environment[one]).toBe('${' + one + ':?}');
    expect(files.map((one) => secretOf(environment[one]!)).sort()).toEqual([...secrets].sort());
    for (const one of secrets) expect(more.secrets[one]).toEqual({ file: `./secrets/${one}` });
    expect(networks).toEqual(files.length ? ['lightning'] : undefined);
  });

  it('gives the signer no way out', () => {
    expect(more.networks).toEqual({ lightning: { internal: true } });
  });
});

type Patch = Readonly<{ target: { kind: string; name: string }; patch: string }>;
type Added = Readonly<{ op: string; path: string; value: Readonly<Record<string, unknown>> }>;
const folder = join(root, 'deploy/kubernetes');
const { patches } = parse(readFileSync(join(root, 'deploy/kubernetes/lightning/kustomization.yaml'), 'utf8')) as {
  patches: Patch[];
};
const addedTo = (name: string, list: string): Array<Added['value']> =>
  patches
    .filter(({ target }) => target.kind === 'Deployment' && target.name === name)
    .flatMap(({ patch }) => parse(patch) as Added[])
    .filter(({ path }) => path.endsWith(`/${list}/-`))
    .map(({ op, value }) => {
      expect(op).toBe('add');
      return value;
    });

describe('the component for Kubernetes', () => {
  it.each(Object.keys(filesOf))('gives %s the files that compose gives it', (name) => {
    const { environment = {}, secrets = [] } = more.services[name]!;
    const files = Object.entries(environment).filter(([one]) => one.endsWith('_FILE'));
    const env = addedTo(name, 'env').map((one) => [one.name, one.value]);
    expect(env.sort()).toEqual(files.sort());
    const mounted = addedTo(name, 'volumeMounts').map(({ name: of, mountPath }) => [of, mountPath]);
    expect(mounted.sort()).toEqual(secrets.map((one) => [one, `/run/secrets/${one}`]).sort());
    const volumes = addedTo(name, 'volumes');
    expect(volumes.map((one) => one.name).sort()).toEqual([...secrets].sort());
    for (const { name: of, secret } of volumes) expect(secret).toEqual({ secretName: of, defaultMode: 0o440 });
  });

  it('patches deployments that there are, and lets the signer reach one address', () => {
    const manifests = globSync('{base,lightning}/*.yaml', { cwd: folder })
      .filter((file) => !file.endsWith('kustomization.yaml'))
      .flatMap((file) =>
        parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map((one) => one.toJS() as Manifest),
      );
    type Manifest = { kind: string; metadata: { name: string }; spec: { podSelector?: object; egress?: object } };
    const named = (kind: string, name: string) =>
      manifests.find((one) => one.kind === kind && one.metadata.name === name);
    for (const { target } of patches) expect(named(target.kind, target.name)).toBeDefined();
    expect(named('NetworkPolicy', 'lightning')!.spec).toMatchObject({
      podSelector: { matchLabels: { app: 'worker-signer' } },
      egress: [{ to: [{ ipBlock: { cidr: '192.0.2.2/32' } }], ports: [{ port: 8080 }] }],
    });
  });
});

it.each(Object.entries(filesOf))('%s would start with it in production', (name, [process]) => {
  const filled = { ...base.services[name]!.environment, ...more.services[name]!.environment, ...settings };
  const example = (variable: string, value: unknown): string =>
    String(value).replace(/\$\{([A-Z_]+)(?::-([^{}]*)|:?\?[^{}]*)\}/g, (_, one: string, fallback?: string) =>
      one === 'SMTP_URL'
        ? 'smtps://mail.example'
        : (fallback ?? (one === 'ETH_SWEEPER_CONTRACT' ? '' : one.endsWith('_URL') ? 'https://pay.example' : 'given')),
    );
  const env = Object.fromEntries(Object.entries(filled).map(([one, value]) => [one, example(one, value)]));
  const hex = (path: string): boolean => /secrets-key|preimage-key/.test(path);
  const config = parseConfig(
    env,
    (path) => (hex(path) ? 'ab'.repeat(32) : path.endsWith('signer-nodes') ? '' : 'secret'),
    process,
  );
  expect([config.isProduction, config.LIGHTNING_URL]).toEqual([true, settings.LIGHTNING_URL]);
});
