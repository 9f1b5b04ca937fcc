import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

/** A passkey without a browser: one ES256 credential of the dashboard at `origin`. */
export class Authenticator {
  readonly credentialId = randomBytes(16).toString('base64url');
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  private counter = 0;

  constructor(private readonly origin: string) {}

  /** As `passkey.public_key` keeps it: COSE, written by hand. */
  get publicKey(): Buffer {
    const { x, y } = this.keys.publicKey.export({ format: 'jwk' });
    const bytes = (text: string) => Buffer.concat([Buffer.from([0x58, 0x20]), Buffer.from(text, 'base64url')]);
    return Buffer.concat([
      Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
      bytes(x!),
      Buffer.from([0x22]),
      bytes(y!),
    ]);
  }

  /** The answer to the options of `POST /api/v1/auth/mfa/passkey-options`, by a user who was verified; `userId`: whose
   *  credential the authenticator says it is, where it says so. */
  answer({ challenge }: { challenge: string }, userId?: string): object {
    const client = Buffer.from(
      JSON.stringify({ type: 'webauthn.get', challenge, origin: this.origin, crossOrigin: false }),
    );
    const hash = (data: string | Buffer) => createHash('sha256').update(data).digest();
    const count = Buffer.alloc(4);
    count.writeUInt32BE((this.counter += 1));
    const data = Buffer.concat([hash(new URL(this.origin).hostname), Buffer.from([0x05]), count]);
    const signature = createSign('sha256')
      .update(Buffer.concat([data, hash(client)]))
      .sign(this.keys.privateKey);
    return {
      id: this.credentialId,
      rawId: this.credentialId,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
        ...(userId === undefined ? {} : { userHandle: Buffer.from(userId, 'utf8').toString('base64url') }),
      },
    };
  }
}
