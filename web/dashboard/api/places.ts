/** What the server wrote into the page: where things are. */

const told = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content.replace(/^%.*%$/, '') ?? '';

/** Base of the API; the page's own origin unless a static host names another. */
export const apiUrl = told('api-url') || window.location.origin;
/** The documentation, which the API serves. */
export const docsUrl = `${apiUrl}/docs/`;
export const checkoutUrl = told('checkout-url');
/** Coins of a test instance are worth nothing. */
export const isTest = told('instance') === 'test';
/** The demo login may be filled in there alone. */
export const isSandbox = told('environment') === 'sandbox';
