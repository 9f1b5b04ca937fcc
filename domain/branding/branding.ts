import { checkCallbackUrl } from '../webhooks/callback-url';

/** How payers recognise a merchant and reach them; null: not set. */
export type Branding = Readonly<{
  supportEmail: string | null;
  supportUrl: string | null;
  termsUrl: string | null;
  /** `#rrggbb`, lower case. */
  accentColor: string | null;
}>;

/** The same as a payer's page needs it. `logoUrl`: a path, on the API and on the checkout. */
export type InvoiceBranding = Branding & Readonly<{ logoUrl: string | null }>;

export const noBranding: InvoiceBranding = {
  supportEmail: null,
  supportUrl: null,
  termsUrl: null,
  accentColor: null,
  logoUrl: null,
};

/** Where a logo is served. */
export const logoPath = (logoId: string): string => `/logos/${logoId}`;

/** `#0AF` and `#00aaff` are the same colour. */
function normalColor(color: string): string {
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(color);
  return (
    short
      ? `#${short
          .slice(1)
          .map((digit) => digit + digit)
          .join('')}`
      : color
  ).toLowerCase();
}

/** What a merchant may show to payers: an empty text clears a setting, links lead to web pages of the public internet.
 *  Throws VALIDATION_ERROR, CALLBACK_NOT_HTTPS, CALLBACK_INTERNAL. */
export function checkBranding(next: Branding, rules: Readonly<{ allowInsecure: boolean }>): Branding {
  const link = (name: 'supportUrl' | 'termsUrl'): string | null => {
    const url = next[name]?.trim();
    if (!url) return null;
    checkCallbackUrl(url, name, { ...rules, allowedDomains: [], isForBrowsers: true });
    return url;
  };
  return {
    supportEmail: next.supportEmail?.trim() || null,
    supportUrl: link('supportUrl'),
    termsUrl: link('termsUrl'),
    accentColor: next.accentColor ? normalColor(next.accentColor) : null,
  };
}
