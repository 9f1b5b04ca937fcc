/** What a logo and a colour of a merchant may be, for the API and for the form of the dashboard. */

/** In hex, or nothing. */
export const accentColorPattern = '^(#([0-9a-fA-F]{3}|[0-9a-fA-F]{6}))?$';
export const logoBytes = 100 * 1024;
