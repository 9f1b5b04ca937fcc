import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { roles as databaseRoles } from '../db/roles/roles';
import { networks } from '../domain/chains/assets';
import { asked, parseConfig, type ProcessName } from '../domain/config';
import { configSchema } from '../domain/settings';
import { composeFile } from './compose-file';

/** The manifests for Kubernetes say of each process what docker-compose.yml says of it. */

type Container = {
  args: string[];
  envFrom?: Array<{ configMapRef?: { name: string }; secretRef?: { name: string } }>;
  env?: Array<{ name: string; value?: string; valueFrom?: object }>;
  volumeMounts: Array<{ name: string; mountPath: string }>;
  securityContext: object;
  startupProbe?: object;
  readinessProbe?: object;
  livenessProbe?: object;
  resources: { requests: object; limits: { memory: string } };
};
type Pod = {
  metadata: { labels: Record<string, string> };
  spec: {
    automountServiceAccountToken: boolean;
    securityContext: object;
    containers: [Container];
    volumes: Array<{ name: string; secret?: { secretName: string; defaultMode: number } }>;
  };
};
type Manifest = {
  kind: string;
  metadata: { name: string };
  spec: { replicas?: number; template: Pod; strategy?: { type: string } };
};

const folder = join(__dirname, '../deploy/kubernetes');
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
const files = globSync('**/*.yaml', { cwd: folder }).sort();
const manifests = files
  .filter((file) => !file.endsWith('kustomization.yaml'))
  .flatMap((file) => parseAllDocuments(read(file)).map((one) => one.toJS() as Manifest));

/** With every network on, and nodes of the signer's own: what the components add at the end of lists of others. */
type Patch = { target: { kind: string; name: string }; patch: string };
const components = files.filter((one) => /^(networks\/\w+|signer-nodes)\/kustomization\.yaml$/.test(one));
for (const file of components) {
  const { patches } = parse(read(file)) as { patches: Patch[] };
  for (const { target, patch } of patches) {
    const changed = manifests.find(({ kind, metadata }) => kind === target.kind && metadata.name === target.name);
    for (const { op, path, value } of parse(patch) as Array<{ op: string; path: string; value: unknown }>) {
      const [, ...keys] = path.split('/');
      if (op !== 'add' || keys.pop() !== '-') throw new Error(`${file}: ${op} ${path}`);
      const list = keys.reduce<unknown>((of, key) => (of as Record<string, unknown>)[key], changed);
      (list as unknown[]).push(value);
    }
  }
}
const processes = manifests
  .filter(({ kind }) => kind === 'Deployment' || kind === 'Job')
  .map((one) => [one.metadata.name, one] as const);
const running = processes.filter(([, { kind }]) => kind === 'Deployment');
const containerOf = ({ spec }: Manifest): Container => spec.template.spec.containers[0];
const secretsOf = ({ spec }: Manifest): string[] =>
  spec.template.spec.volumes.flatMap(({ secret }) => (secret ? [secret.secretName] : [])).sort();

const compose = composeFile() as {
  services: Record<string, { build?: string; command?: string[]; secrets?: string[] }>;
};
const known = Object.keys(configSchema.properties);

/** The variables of a file of the example; of a network that it does not have, what its operator writes. */
const variablesOf = (name: string): Record<string, string> => {
  const file = `example/${name}.env`;
  if (!existsSync(join(folder, file))) return ofNode(name.replace('node-', ''));
  return Object.fromEntries(
    read(file)
      .split('\n')
      .filter((line) => line && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
};
const ofNode = (network: string): Record<string, string> => {
  const { kind, settings } = networks[network as keyof typeof networks];
  return {
    [`${settings.prefix}_RPC_URL`]: 'https://node.example',
    ...(kind === 'utxo' ? { [`${settings.prefix}_RPC_USER`]: 'payments' } : {}),
  };
};

/** What a process is given, as the example fills it in; the addresses of the database are the operator's. */
function environmentOf(one: Manifest): Record<string, string> {
  const { env = [], envFrom = [] } = containerOf(one);
  const given = envFrom.map(({ configMapRef, secretRef }) => (configMapRef ?? secretRef)!.name);
  return Object.assign(
    {},
    ...given.map((name) =>
      name.startsWith('database-') ? { DATABASE_URL: `postgres://${name}@db:5432/payments` } : variablesOf(name),
    ),
    Object.fromEntries(env.map(({ name, value }) => [name, value ?? '100.64.0.1'])),
  ) as Record<string, string>;
}
const processOf = (one: Manifest): ProcessName =>
  /(api|checkout|payments|chain|signer)/.exec(containerOf(one).args[0]!.replace('dist/', ''))![1] as ProcessName;

it('has the processes of compose, each with its command and its files of secrets', () => {
  const ours = Object.entries(compose.services).filter(([, { build }]) => build);
  expect(processes.map(([name]) => name).sort()).toEqual(ours.map(([name]) => name).sort());
  for (const [name, one] of processes) {
    const { command, secrets = [] } = compose.services[name]!;
    expect([name, containerOf(one).args, secretsOf(one)]).toEqual([name, command, [...secrets].sort()]);
  }
});

it.each(running)('%s would start in production, given its secrets', (name, one) => {
  const env = environmentOf(one);
  for (const variable of Object.keys(env))
    expect(known).toContain(known.includes(variable) ? variable : variable.replace(/_FILE$/, ''));
  const config = parseConfig(
    { ...env, NETWORKS: Object.keys(networks).join(',') },
    (path) => {
      const { volumeMounts } = containerOf(one);
      expect([name, volumeMounts.map(({ mountPath }) => mountPath)]).toEqual([name, expect.arrayContaining([path])]);
      if (path.endsWith('signer-nodes'))
        return JSON.stringify({ xrpl: 'https://signer.example', tron: 'https://signer.example' });
      return path.endsWith('secrets-key') ? 'ab'.repeat(32) : 'secret';
    },
    processOf(one),
  );
  expect(config.isProduction).toBe(true);
});

it.each(running)('%s has the role and the secrets that it is asked for, and no others', (name, one) => {
  const needed: readonly string[] = asked[processOf(one)];
  const roles = (containerOf(one).envFrom ?? []).flatMap(({ secretRef }) =>
    secretRef?.name.startsWith('database-') ? [secretRef.name.replace('database-', '')] : [],
  );
  const role = processOf(one);
  expect([name, roles]).toEqual([name, needed.includes('DATABASE_URL') ? [role] : []]);
  for (const known of roles) expect(databaseRoles as readonly string[]).toContain(known);
  expect(secretsOf(one).includes('secrets-key')).toBe(needed.includes('SECRETS_KEY'));
  expect(secretsOf(one).includes('signer-seed')).toBe(name === 'worker-signer');
});

it.each(processes)('%s is an ordinary user who writes nothing but memory', (_, one) => {
  const { spec } = one.spec.template;
  expect(spec.automountServiceAccountToken).toBe(false);
  expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  expect(containerOf(one).securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  expect(containerOf(one).resources.limits.memory).toMatch(/Mi|Gi/);
  for (const { secret } of spec.volumes) if (secret) expect(secret.defaultMode).toBe(0o440);
});

it.each(running)('%s says when it has started, when it can work and whether it lives', (_, one) => {
  const { startupProbe, readinessProbe, livenessProbe } = containerOf(one);
  expect([startupProbe, readinessProbe, livenessProbe]).toMatchObject([
    { httpGet: { path: '/healthz' } },
    { httpGet: { path: '/readyz' } },
    { httpGet: { path: '/healthz' } },
  ]);
});

it('lets one signer hold the keys, with no way out but to its own nodes', () => {
  const signer = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'worker-signer')!;
  expect([signer.spec.replicas, signer.spec.strategy]).toEqual([1, { type: 'Recreate' }]);
  for (const [name, { spec }] of running)
    expect([name, 'way-out' in spec.template.metadata.labels]).toEqual([
      name,
      !['worker-signer', 'checkout'].includes(name),
    ]);
  const outside = manifests.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'outside')!;
  expect(outside.spec).toMatchObject({ podSelector: { matchExpressions: [{ key: 'way-out', operator: 'Exists' }] } });
});

type Policy = Manifest & {
  spec: {
    podSelector: { matchLabels?: Record<string, string> };
    egress?: Array<{ to: Array<{ ipBlock?: { cidr: string } }>; ports?: Array<{ port: number }> }>;
  };
};

it('lets the signer reach single addresses at one port, by components that are taken where it has nodes', () => {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy') as Policy[];
  const ofSigner = policies.filter(({ spec }) => spec.podSelector.matchLabels?.app === 'worker-signer');
  expect(ofSigner.map(({ metadata }) => metadata.name)).toEqual(['lightning', 'signer-nodes']);
  for (const { to, ports } of ofSigner.flatMap(({ spec }) => spec.egress!)) {
    expect(to.map(({ ipBlock }) => ipBlock?.cidr)).toEqual([expect.stringMatching(/^192\.0\.2\.\d+\/32$/)]);
    expect(ports).toHaveLength(1);
  }
  expect(read('base/kustomization.yaml')).not.toMatch(/signer-nodes|lightning/);
  const { patches } = parse(read('example/kustomization.yaml').replaceAll(/^# (?=patches:| {2})/gm, '')) as {
    patches: Patch[];
  };
  const [{ target, patch }] = patches as [Patch];
  expect(target).toEqual({ kind: 'NetworkPolicy', name: 'signer-nodes' });
  expect(parse(patch)).toMatchObject([{ op: 'replace', path: '/spec/egress/0', value: { ports: [{ port: 443 }] } }]);
});

it.each(files.filter((file) => file.endsWith('kustomization.yaml')))('%s names files that are there', (file) => {
  const {
    resources = [],
    configMapGenerator = [],
    secretGenerator = [],
  } = parse(read(file)) as {
    resources?: string[];
    configMapGenerator?: Array<{ envs: string[] }>;
    secretGenerator?: Array<{ envs?: string[] }>;
  };
  const generated = [...configMapGenerator, ...secretGenerator].flatMap(({ envs = [] }) => envs);
  const named = [...resources, ...generated.filter((one) => !one.startsWith('secrets/'))];
  for (const one of named) expect([one, existsSync(join(folder, file, '..', one))]).toEqual([one, true]);
  if (!file.startsWith('base')) return;
  const beside = files.filter((one) => one.startsWith('base/') && one !== file).map((one) => one.slice('base/'.length));
  expect([...resources].sort()).toEqual(beside);
});

const validating = process.env.PYTHON_PATH ? it : it.skip;
validating('is what Kubernetes takes, by its own schemas', () => {
  const named = files.filter((file) => !file.endsWith('kustomization.yaml')).map((file) => join(folder, file));
  const validate = ['-m', 'kubernetes_validate', '--strict', '--kubernetes-version', '1.33', ...named];
  const { status, stdout, stderr } = spawnSync(process.env.PYTHON_PATH!, validate, { encoding: 'utf8' });
  expect({ status, said: status === 0 ? '' : stdout + stderr }).toEqual({ status: 0, said: '' });
});
