// Pins every image of docker-compose.yml and Dockerfile to the digest that its tag has now, so that a deployment
// starts the bytes that the release was tested with. Needs no package.
//
//   node deploy/pin-images.mjs                     asks the registries and writes both files
//   node deploy/pin-images.mjs --check             writes nothing; 1 where an image is not pinned or its tag has moved
//   --registry http://127.0.0.1:5000               asks this registry (a mirror) for every image
//   --folder <path>                                where the files are; the repository unless told
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const files = ['docker-compose.yml', 'Dockerfile'];
/** Where an image is named. */
const named = {
  'docker-compose.yml': /^(\s+image:\s*)(\S+)/gm,
  Dockerfile: /^(FROM\s+)(\S+)/gm,
};
/** A version of at least two numbers: a tag such as `18-bookworm` moves with every release of the image. */
const exactTag = /^v?\d+\.\d+(\.\d+)*([-.+]\w+)*$/;
const digestForm = /^sha256:[0-9a-f]{64}$/;
/** The list of all platforms first: its digest is the same wherever the image is pulled. */
const manifestTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];
const maxManifestBytes = 4 * 1024 * 1024;

class PinError extends Error {}

/** `postgres:18.4-bookworm@sha256:…` → host, repository, tag and digest. Throws on a tag that is not exact. */
function parseImage(reference) {
  const [name, digest, ...rest] = reference.split('@');
  const at = name.lastIndexOf(':');
  const tag = at > name.lastIndexOf('/') ? name.slice(at + 1) : '';
  const path = tag ? name.slice(0, at) : name;
  if (rest.length || !exactTag.test(tag) || (digest !== undefined && !digestForm.test(digest)))
    throw new PinError(`${reference}: an image needs an exact version, as in postgres:18.4-bookworm`);
  const [first, ...others] = path.split('/');
  const isHost = others.length > 0 && /[.:]|^localhost$/.test(first);
  const host = isHost ? first : 'registry-1.docker.io';
  const repository = isHost ? others.join('/') : others.length ? path : `library/${path}`;
  return { name, host, repository, tag, digest };
}

/** Every image of others that the files name, once, in their order. Names that a file gives itself are no such
 *  images: a stage of the build, and the service that the compose file builds under its own name. */
function imagesIn(folder) {
  const found = files.flatMap((file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    const own = [...text.matchAll(/^(?:FROM\s+\S+\s+AS|name:)\s+(\S+)/gim)].map(([, name]) => name);
    return [...text.matchAll(named[file])].map(([, , reference]) => reference).filter((one) => !own.includes(one));
  });
  return [...new Set(found)];
}

/** The digest that `image` has in its registry: of the bytes that came, never of what the answer says of itself. */
async function digestOf(image, registry) {
  const base = registry ?? `https://${image.host}`;
  const url = `${base}/v2/${image.repository}/manifests/${image.tag}`;
  const ask = (token) =>
    fetch(url, {
      headers: { accept: manifestTypes.join(', '), ...(token ? { authorization: `Bearer ${token}` } : {}) },
      signal: AbortSignal.timeout(30_000),
    });
  let answer = await ask();
  if (answer.status === 401) answer = await ask(await tokenFor(answer, image));
  if (answer.status !== 200) throw new PinError(`${image.name}: the registry answered ${answer.status}`);
  const type = answer.headers.get('content-type')?.split(';')[0];
  if (!manifestTypes.includes(type)) throw new PinError(`${image.name}: the registry answered no manifest (${type})`);
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (bytes.length > maxManifestBytes) throw new PinError(`${image.name}: the manifest has ${bytes.length} bytes`);
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  const said = answer.headers.get('docker-content-digest');
  if (said !== null && said !== digest)
    throw new PinError(`${image.name}: the registry says ${said}, and its bytes have ${digest}`);
  return digest;
}

/** The anonymous token that a registry asks for. */
async function tokenFor(answer, image) {
  const challenge = answer.headers.get('www-authenticate') ?? '';
  const [realm, service] = ['realm', 'service'].map((key) => new RegExp(`${key}="([^"]*)"`).exec(challenge)?.[1]);
  if (!/^Bearer /i.test(challenge) || !realm) throw new PinError(`${image.name}: the registry wants a sign-in`);
  const url = new URL(realm);
  if (service) url.searchParams.set('service', service);
  url.searchParams.set('scope', `repository:${image.repository}:pull`);
  const given = await fetch(url, { signal: AbortSignal.timeout(30_000) });
  const body = given.ok ? await given.json() : {};
  if (!(body.token ?? body.access_token)) throw new PinError(`${image.name}: the registry gave no token`);
  return body.token ?? body.access_token;
}

/** Digests of all images, each with what stands in the files now. Nothing is written where one cannot be had. */
async function digestsFor(folder, registry) {
  const pins = [];
  for (const reference of imagesIn(folder)) {
    const image = parseImage(reference);
    pins.push({ reference, pinned: `${image.name}@${await digestOf(image, registry)}` });
  }
  return pins;
}

/** Writes the pins into the files, each at once as a whole. */
function writePins(folder, pins) {
  const pinned = new Map(pins.map((one) => [one.reference, one.pinned]));
  for (const file of files) {
    const path = join(folder, file);
    const before = readFileSync(path, 'utf8');
    const after = before.replace(named[file], (whole, lead, reference) => lead + (pinned.get(reference) ?? reference));
    if (after === before) continue;
    writeFileSync(`${path}.new`, after);
    renameSync(`${path}.new`, path);
  }
}

async function main(args) {
  const valueOf = (option) => (args.includes(option) ? args[args.indexOf(option) + 1] : undefined);
  const folder = valueOf('--folder') ?? join(import.meta.dirname, '..');
  const pins = await digestsFor(folder, valueOf('--registry'));
  const moved = pins.filter(({ reference, pinned }) => reference !== pinned);
  if (args.includes('--check')) {
    for (const { reference, pinned } of moved) console.error(`${reference} is ${pinned} now`);
    return moved.length ? 1 : 0;
  }
  writePins(folder, pins);
  for (const { pinned } of pins) console.log(pinned);
  return 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  main(process.argv.slice(2)).then(
    (code) => process.exit(code),
    (error) => {
      console.error(error instanceof PinError ? error.message : error);
      process.exit(1);
    },
  );
