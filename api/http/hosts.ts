import type { Config } from '../../domain/config';

/** Which Host headers are ours: the public addresses', the one our checkout uses, and in a sandbox this machine's
 *  names. Invariants: 7, Headers. */
export function hostCheck(
  config: Pick<Config, 'API_URL' | 'CHECKOUT_URL' | 'isProduction'> & Partial<Pick<Config, 'API_INTERNAL_URL'>>,
): (host: string | undefined) => boolean {
  const own = new Set(
    [config.API_URL, config.CHECKOUT_URL, config.API_INTERNAL_URL || config.API_URL].map((url) =>
      new URL(url).host.toLowerCase(),
    ),
  );
  const loopback = /^(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/;
  return (host) => {
    if (host === undefined) return false;
    const given = host.toLowerCase();
    return own.has(given) || (!config.isProduction && loopback.test(given));
  };
}
