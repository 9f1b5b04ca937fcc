import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dynamicSettings, serverSettings, uiSettings } from '../sandbox/parts/temporal-on-postgres/settings';
import { root } from '../sandbox/paths';
import { fixedPorts, temporalPorts } from '../sandbox/stack/ports';
import { chosenStore, placeOf, refuseOtherStore, type TemporalStore } from '../sandbox/temporal-store';

describe('the server of Temporal on PostgreSQL', () => {
  const postgres = { host: '127.0.0.1', port: '54320', password: 'secret' };
  const settings = serverSettings(temporalPorts(fixedPorts), postgres, '/place/dynamic.yaml') as Readonly<{
    persistence: { numHistoryShards: number; datastores: Record<string, { sql: Record<string, unknown> }> };
    services: Record<string, { rpc: Record<string, unknown> }>;
  }>;

  it('listens on loopback alone, on a port of its own for each service', () => {
    const rpcs = Object.values(settings.services).map(({ rpc }) => rpc);
    expect(rpcs.map(({ bindOnIP }) => bindOnIP)).toEqual(Array.from({ length: 4 }, () => '127.0.0.1'));
    const ports = rpcs.flatMap(({ grpcPort, membershipPort }) => [grpcPort, membershipPort]);
    expect(new Set([...ports, fixedPorts.temporalUi]).size).toBe(9);
    expect(Object.values(fixedPorts)).toEqual(expect.arrayContaining(ports));
    expect(settings.services['frontend']?.rpc['grpcPort']).toBe(7233);
    expect(uiSettings(8233, 7233)).toMatchObject({
      host: '127.0.0.1',
      port: 8233,
      temporalGrpcAddress: '127.0.0.1:7233',
    });
  });

  it('has 128 history shards, and two databases that it enters as a role of its own', () => {
    expect(settings.persistence.numHistoryShards).toBe(128);
    expect(Object.values(settings.persistence.datastores).map(({ sql }) => [sql['databaseName'], sql['user']])).toEqual(
      [
        ['temporal', 'cp_temporal'],
        ['temporal_visibility', 'cp_temporal'],
      ],
    );
  });

  it('is set as the development server sets itself', () => {
    expect(dynamicSettings()).toMatchObject({
      'system.forceSearchAttributesCacheRefreshOnRead': [{ value: true, constraints: {} }],
      'history.persistenceMaxQPS': [{ value: 45_000, constraints: {} }],
    });
  });

  it('is of the versions that production runs', () => {
    const module = readFileSync(join(root, 'sandbox', 'setup', 'temporal', 'go.mod'), 'utf8');
    const compose = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
    for (const [path, image] of [
      ['go.temporal.io/server', 'temporalio/auto-setup'],
      ['github.com/temporalio/ui-server/v2', 'temporalio/ui'],
    ]) {
      const version = new RegExp(`^\\t${path} v(\\S+)`, 'm').exec(module)?.[1];
      expect(compose).toMatch(new RegExp(`image: ${image}:${version}\\n`));
    }
  });
});

describe('--temporal', () => {
  type Chosen = Readonly<{ store: string; rest: string[] }>;
  /** Plain JavaScript, because it runs before anything is compiled. */
  const script: string = join(root, 'sandbox', 'setup', 'temporal-store.mjs');
  const parse = async (args: readonly string[], env: object = {}): Promise<Chosen> =>
    ((await import(script)) as { temporalStore: (args: readonly string[], env: object) => Chosen }).temporalStore(
      args,
      env,
    );

  it('is taken out of the arguments of a command, wherever it stands', async () => {
    expect(await parse(['e2e/payments', '-t', 'a b'])).toEqual({
      store: 'sqlite',
      rest: ['e2e/payments', '-t', 'a b'],
    });
    expect(await parse(['--temporal', 'postgres', 'e2e'])).toEqual({ store: 'postgres', rest: ['e2e'] });
    expect(await parse(['create', '--temporal=postgres'])).toEqual({ store: 'postgres', rest: ['create'] });
    expect((await parse([], { SANDBOX_TEMPORAL: 'postgres' })).store).toBe('postgres');
    expect((await parse(['--temporal', 'sqlite'], { SANDBOX_TEMPORAL: 'postgres' })).store).toBe('sqlite');
  });

  it('is refused with anything else', async () => {
    await expect(parse(['--temporal', 'mysql'])).rejects.toThrow("--temporal is sqlite or postgres, not 'mysql'");
    await expect(parse(['--temporal'])).rejects.toThrow("not ''");
    expect(() => chosenStore({ SANDBOX_TEMPORAL: 'mysql' })).toThrow("not 'mysql'");
    expect(['sqlite', 'postgres'].map((one) => chosenStore({ SANDBOX_TEMPORAL: one }))).toEqual(['sqlite', 'postgres']);
    expect(chosenStore({})).toBe('sqlite');
  });
});

describe('a data folder keeps to the store that it was begun with', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-store-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));
  const refused =
    (temporalStore: TemporalStore, env = {}) =>
    () =>
      refuseOtherStore({ dataDir, temporalStore, env });

  it('and a new one takes either', () => {
    for (const store of ['sqlite', 'postgres'] as const) expect(refused(store)).not.toThrow();
  });

  it('begun with the development server', () => {
    writeFileSync(placeOf(dataDir, 'sqlite'), '');
    expect(refused('sqlite')).not.toThrow();
    expect(refused('postgres')).toThrow('are kept by --temporal sqlite');
  });

  it('begun with PostgreSQL', () => {
    mkdirSync(placeOf(dataDir, 'postgres'));
    expect(refused('postgres')).not.toThrow();
    expect(refused('sqlite')).toThrow('are kept by --temporal postgres');
  });

  it('and servers that somebody else runs hold none of it', () => {
    expect(refused('postgres', { DATABASE_URL: 'postgres://elsewhere' })).toThrow('unset DATABASE_URL,');
    expect(refused('postgres', { TEMPORAL_ADDRESS: 'elsewhere:7233' })).toThrow('unset TEMPORAL_ADDRESS,');
    expect(refused('sqlite', { TEMPORAL_ADDRESS: 'elsewhere:7233' })).not.toThrow();
  });
});
