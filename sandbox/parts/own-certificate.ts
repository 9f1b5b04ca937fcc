import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A certificate that signs itself, as nodes make one for their API: X.509 in DER, by hand, for no tool that makes them
 *  is on every machine. */

const tlv = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  const size = body.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
};
const sequence = (...parts: readonly Uint8Array[]): Buffer => tlv(0x30, ...parts);
const oid = (hex: string): Buffer => tlv(0x06, Buffer.from(hex, 'hex'));
const time = (year: number): Buffer => tlv(0x18, Buffer.from(`${year}0101000000Z`));
/** What clients compare with the name or the address that they asked for; nodes in Go look at nothing else. */
const names = (name: string): Buffer =>
  tlv(
    0xa3,
    sequence(
      sequence(
        oid('551d11'), // subjectAltName
        tlv(0x04, sequence(tlv(0x82, Buffer.from(name)), tlv(0x87, Buffer.from([127, 0, 0, 1])))),
      ),
    ),
  );
const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));

const pem = (name: string, der: Buffer): string =>
  `-----BEGIN ${name}-----\n${der.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END ${name}-----\n`;

/** For one name and this machine's own address, valid from 2020 to `until`. */
export function ownCertificate(name = 'localhost', until = 2100): Readonly<{ certificate: string; key: string }> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const named = sequence(tlv(0x31, sequence(oid('550403'), tlv(0x0c, Buffer.from(name)))));
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))), // version 3
    tlv(0x02, Buffer.from([1]), randomBytes(8)),
    ecdsaWithSha256,
    named,
    sequence(time(2020), time(until)),
    named,
    publicKey.export({ type: 'spki', format: 'der' }),
    names(name),
  );
  const signature = sign('sha256', body, privateKey);
  const certificate = sequence(body, ecdsaWithSha256, tlv(0x03, Buffer.from([0]), signature));
  return {
    certificate: pem('CERTIFICATE', certificate),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}
